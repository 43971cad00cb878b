import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// A room changes between two encodings of the same music.
@Suite struct MediaSeamTests {
  private static let whole = StreamFormat(
    codec: .flac, audio: AudioFormat(sampleRate: 44_100, channelCount: 1), sampleType: .int16)
  private static let small = StreamFormat(
    codec: .opus, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)

  private static let wholeAt48k = StreamFormat(
    codec: .flac, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)

  /// Twenty seconds: packets of 2048 frames and of 20 ms, in the order of their media times.
  private static let store: PacketStore = {
    var store = PacketStore()
    store.leavesSpace = true
    append(seconds: 0..<20, to: &store)
    return store
  }()

  private static func append(
    seconds: Range<Int>, generation: UInt32 = 0, to store: inout PacketStore
  ) {
    let (begin, end) = (seconds.lowerBound, seconds.upperBound)
    for start in stride(from: 44_100 * begin, to: 44_100 * end, by: 2048) {
      append(Int64(start), of: 2048, generation: generation, to: &store)
    }
    store.insert(
      stride(from: 48_000 * begin, to: 48_000 * end, by: 960).map {
        smallPacket(Int64($0), generation: generation)
      })
    for index in store.entries.indices where store.entries[index].form == .only {
      store.markWhole(index)
    }
  }

  private static func append(
    _ start: Int64, of count: Int, _ format: StreamFormat = whole, generation: UInt32 = 0,
    to store: inout PacketStore
  ) {
    let time = MediaTime.zero + MediaDuration(frames: start, at: format.audio.sampleRate)
    store.append(
      AudioPacket(
        generation: generation, sequence: store.nextSequence, mediaTime: time, formatID: 0,
        startsRun: false, endsStream: false,
        encoded: EncodedPacket(payload: .init(repeating: 0, count: 2000), frameCount: count)),
      format: format, end: time + format.audio.duration(ofFrames: count))
  }

  private static func smallPacket(
    _ start: Int64, formatID: UInt16 = 1, generation: UInt32 = 0
  ) -> SmallBatch.Packet {
    let produced = ProducedPacket(
      generation: generation, mediaTime: MediaTime.zero + MediaDuration(frames: start, at: 48_000),
      formatID: formatID, startsRun: false, endsStream: false, duration: .milliseconds(20),
      encoded: EncodedPacket(payload: .init(repeating: 0, count: 200), frameCount: 960))
    return .init(produced: produced, format: small)
  }

  private static func packets(_ bytes: [UInt8]) -> [AudioPacket] {
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    framer.append(bytes)
    var found: [AudioPacket] = []
    while let raw = try? framer.next() {
      if case .packet(let packet)? = try? MediaMessage.decode(raw) { found.append(packet) }
    }
    return found
  }

  private static let formats: [UInt16: StreamFormat] = [0: whole, 1: small]

  private static func end(
    _ packet: AudioPacket, _ formats: [UInt16: StreamFormat] = Self.formats
  ) -> MediaTime {
    packet.mediaTime
      + (formats[packet.formatID] ?? whole).audio.duration(ofFrames: packet.encoded.frameCount)
  }

  /// Receivers demand that numbers rise, and that each packet begins where the one before it ends, at a whole frame.
  private static func expectContinuous(
    _ packets: [AudioPacket], _ formats: [UInt16: StreamFormat] = Self.formats,
    location: SourceLocation = #_sourceLocation
  ) {
    var end = packets.first?.mediaTime ?? .zero
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.sequence > one.sequence, sourceLocation: location)
    }
    for packet in packets {
      let frame = (formats[packet.formatID] ?? whole).audio.duration(ofFrames: 1)
      #expect(packet.mediaTime.flicks % frame.flicks == 0, sourceLocation: location)
      #expect(packet.mediaTime >= end, sourceLocation: location)
      #expect(packet.mediaTime < end + frame, sourceLocation: location)
      end = self.end(packet, formats)
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a room changes at any packet, without a hole and without an overlap`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var flow = MediaFlow(from: 0)
    var packets: [AudioPacket] = []
    var granted: UInt64 = 0
    var changes = 0
    while packets.count < 300 {
      granted += UInt64(random.pick(500...20_000))
      flow.granted(granted)
      let wanted = random.pick(0...1) == 0 ? PacketForm.small : .whole
      let before = flow.form
      packets += Self.packets(flow.nextBytes(from: Self.store, as: wanted))
      flow.drained()
      if flow.form != before { changes += 1 }
    }
    #expect(changes > 1)
    Self.expectContinuous(packets)
  }

  @Test func `packets that prepare the decoder come before the first small one`() throws {
    var flow = MediaFlow(from: 0)
    flow.granted(20_000)
    _ = flow.nextBytes(from: Self.store)
    flow.granted(22_000)
    flow.drained()
    let packets = Self.packets(flow.nextBytes(from: Self.store, as: .small))
    let preparing = packets.prefix { $0.encoded.frameCount == 0 }
    #expect(preparing.count == 6)
    #expect(preparing.allSatisfy { $0.formatID == 1 && $0.encoded.skippedFrames == 0 })
    let first = try #require(packets.dropFirst(6).first)
    #expect(first.encoded.skippedFrames > 0)
    #expect(first.encoded.skippedFrames + first.encoded.frameCount == 960)
    #expect(preparing.allSatisfy { $0.mediaTime == first.mediaTime })
  }

  /// The connection breaks anywhere, also within a change, and the room goes on after what it has, in either encoding.
  @Test(arguments: 0..<80 as Range<UInt64>)
  func `a room that comes back goes on after what it holds`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var flow = MediaFlow(from: 0)
    flow.granted(UInt64(random.pick(30_000...50_000)))
    var packets = Self.packets(flow.nextBytes(from: Self.store, as: .whole))
    flow.drained()
    flow.granted(UInt64(random.pick(52_000...60_000)))
    packets += Self.packets(flow.nextBytes(from: Self.store, as: .small))
    // Packets were lost with the connection.
    packets.removeLast(random.pick(1...min(40, packets.count - 5)))
    let last = try #require(packets.last)
    var again = MediaFlow(from: last.sequence + 1, form: flow.form, following: 0)
    again.delivered(until: Self.end(last), at: LocalTime(nanoseconds: 0))
    again.granted(60_000)
    let wanted = random.pick(0...1) == 0 ? PacketForm.small : .whole
    packets += Self.packets(again.nextBytes(from: Self.store, as: wanted))
    #expect(again.form == wanted)
    Self.expectContinuous(packets)
  }

  /// A receiver that has no room for a packet waits for that very packet, and drops all others until it comes.
  @Test(arguments: 0..<120 as Range<UInt64>)
  func `a room gets a packet again as it was, on either side of a change`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let forms = random.pick(0...1) == 0 ? [PacketForm.small, .whole] : [.whole, .small]
    var flow = MediaFlow(from: 0, form: forms[0])
    flow.granted(UInt64(random.pick(30_000...40_000)))
    var packets = Self.packets(flow.nextBytes(from: Self.store, as: forms[0]))
    flow.drained()
    flow.granted(UInt64(random.pick(48_000...60_000)))
    packets += Self.packets(flow.nextBytes(from: Self.store, as: forms[1]))
    try #require(flow.form == forms[1])
    let place = packets.count - random.pick(1...30)
    let lost = packets[place]
    packets.removeSubrange(place...)
    flow.drained()
    flow.goBack(to: Self.store.sequence(at: lost.mediaTime), from: lost.mediaTime)
    flow.granted(110_000)
    let wanted = random.pick(0...1) == 0 ? PacketForm.small : .whole
    let again = Self.packets(flow.nextBytes(from: Self.store, as: wanted))
      .filter { $0.sequence >= lost.sequence }
    #expect(again.first == lost)
    packets += again
    Self.expectContinuous(packets)
  }

  /// A change lies behind a cut: nothing of it is in the room.
  @Test func `a packet behind a cut comes again as it was`() throws {
    var store = Self.store
    var flow = MediaFlow(from: 0)
    flow.granted(420_000)
    while !flow.nextBytes(from: store).isEmpty { flow.drained() }
    flow.granted(500_000)
    _ = flow.nextBytes(from: store, as: .small)
    flow.drained()
    try #require(flow.form == .small)
    store.cut(from: MediaTime.zero + .seconds(5))
    Self.append(seconds: 5..<12, generation: 1, to: &store)
    flow.granted(1_000_000)
    let packets = Self.packets(flow.nextBytes(from: store, as: .small))
    flow.drained()
    let lost = packets[packets.count / 2]
    try #require(lost.generation == 1)
    flow.goBack(to: store.sequence(at: lost.mediaTime), from: lost.mediaTime)
    let again = Self.packets(flow.nextBytes(from: store, as: .small))
    #expect(again.first { $0.sequence >= lost.sequence } == lost)
  }

  @Test func `the packet after another is one that all rooms get`() throws {
    for entry in Self.store.entries.dropLast(20) {
      let next = try #require(Self.store.usual(after: entry))
      #expect(next.form == .whole && next.sequence > entry.sequence)
    }
  }

  /// A room that no longer decodes the small encoding gets the other one.
  @Test func `a room is not left with an encoding that it does not decode`() {
    var flow = MediaFlow(from: 0)
    flow.granted(30_000)
    _ = flow.nextBytes(from: Self.store, as: .small)
    #expect(flow.form == .small)
    flow.drained()
    flow.granted(60_000)
    let packets = Self.packets(
      flow.nextBytes(from: Self.store, as: .whole, decodedAs: CodecSet([.flac])))
    #expect(packets.count > 10)
    #expect(packets.allSatisfy { $0.formatID == 0 })
  }

  /// An item follows another, whose small packets were of the same format and had another number for it.
  @Test func `only packets of the same run prepare the decoder`() throws {
    var store = PacketStore()
    store.leavesSpace = true
    for index in 0..<40 as Range<Int64> {
      Self.append(960 * index, of: 960, Self.wholeAt48k, to: &store)
      store.insert([Self.smallPacket(960 * index, formatID: index < 20 ? 1 : 2)])
      store.markWhole(2 * Int(index))
    }
    let place = MediaTime.zero + .milliseconds(20 * 23)
    let near = try #require(store.entry(from: store.sequence(at: place)))
    let seam = try #require(store.seam(to: .small, at: place, near: near))
    #expect(seam.first.formatID == 2)
    #expect(seam.preparing.count == 3)
    #expect(seam.preparing.allSatisfy { $0.formatID == 2 })
  }

  @Test func `a cut ends the packets of both encodings`() {
    var store = Self.store
    let time = MediaTime.zero + .milliseconds(5_003)
    store.cut(from: time)
    #expect(store.end == time)
    #expect(store.entries.allSatisfy { $0.mediaTime < time && $0.end <= time })
  }
}
