import Audio
import Clock
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Small packets are made of the usual ones, whatever those are, and lie beside them.
@Suite struct SmallEncoderTests {
  private static let audio = AudioFormat(sampleRate: 8_000, channelCount: 1)
  private static let pcm = StreamFormat(codec: .pcm, audio: audio, sampleType: .int16)
  private static let mp3 = StreamFormat(codec: .mp3, audio: audio, sampleType: .int16)
  /// The length of a usual packet: that of five small ones.
  private static let packetFrames: Int64 = 800

  private static func encoder() -> SmallEncoder {
    SmallEncoder(
      makeDecoder: { format throws(CodecError) in
        guard format.codec == .pcm else { throw .unsupported("not made smaller") }
        return try PCMDecoder(format: format)
      }, makeEncoder: { SmallTestEncoder($0) })
  }

  private static func time(_ packets: Int64) -> MediaTime {
    MediaTime.zero + MediaDuration(frames: packets * packetFrames, at: audio.sampleRate)
  }

  /// Appends usual packets of a tenth of a second.
  private static func append(
    _ range: Range<Int64>, _ format: StreamFormat = pcm, generation: UInt32 = 0,
    endsStream: Bool = false, to store: inout PacketStore
  ) {
    for index in range {
      store.append(
        AudioPacket(
          generation: generation, sequence: store.nextSequence, mediaTime: time(index),
          formatID: format.codec == .pcm ? 0 : 1, startsRun: index == range.lowerBound,
          endsStream: endsStream && index == range.upperBound - 1,
          encoded: EncodedPacket(
            payload: .init(repeating: 1, count: 2 * Int(packetFrames)),
            frameCount: Int(packetFrames))),
        format: format, end: time(index + 1))
    }
  }

  private static func store() -> PacketStore {
    var store = PacketStore()
    store.leavesSpace = true
    return store
  }

  /// Has small packets made until nothing more is ordered. Returns the number of orders.
  @discardableResult
  private static func make(
    _ small: inout SmallEncoding, _ store: inout PacketStore, with encoder: SmallEncoder,
    for needs: ClosedRange<UInt64>
  ) -> Int {
    var count = 0
    while count < 100, let order = small.order(from: &store, for: needs) {
      count += 1
      small.take(encoder.make(order), into: &store)
    }
    return count
  }

  /// They begin at `start`, each where the one before ends, and end at `end` or up to `rest` before it.
  private static func expectSmall(
    _ store: PacketStore, from start: MediaTime, to end: MediaTime,
    location: SourceLocation = #_sourceLocation
  ) {
    var place = start
    for entry in store.entries where entry.form == .small {
      #expect(entry.mediaTime == place, sourceLocation: location)
      place = entry.end
    }
    #expect(place <= end && end - place <= .milliseconds(41), sourceLocation: location)
    let entries = store.entries
    for (one, next) in zip(entries, entries.dropFirst()) {
      #expect(one.sequence < next.sequence, sourceLocation: location)
      #expect(one.mediaTime <= next.mediaTime, sourceLocation: location)
    }
  }

  @Test func `the usual packets stay as they are`() {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<300, to: &store)
    let before = store.entries
    let orders = Self.make(&small, &store, with: Self.encoder(), for: 0...0)
    #expect(orders > 1)
    let usual = store.entries.filter { $0.form != .small }
    #expect(usual.map(\.bytes) == before.map(\.bytes))
    #expect(usual.map(\.sequence) == before.map(\.sequence))
    #expect(usual.map(\.end) == before.map(\.end))
    #expect(store.nextSequence > before[299].sequence && store.end == before[299].end)
    Self.expectSmall(store, from: .zero, to: Self.time(150))
  }

  /// No more is made than the rooms need soon, and nothing before what they get next.
  @Test func `making begins at a room's next packet and goes on with it`() throws {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<600, to: &store)
    let encoder = Self.encoder()
    let first = store.entries[40].sequence
    Self.make(&small, &store, with: encoder, for: first...first)
    Self.expectSmall(store, from: Self.time(40), to: Self.time(190))
    #expect(try #require(small.unsettled) > store.entries[40].sequence)
    let later = try #require(store.entry(from: store.sequence(at: Self.time(100)))).sequence
    Self.make(&small, &store, with: encoder, for: later...later)
    Self.expectSmall(store, from: Self.time(40), to: Self.time(250))
    #expect(small.order(from: &store, for: nil) == nil)
    #expect(!small.isActive)
  }

  @Test func `a packet counts as made once small ones reach its end`() {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<50, to: &store)
    Self.make(&small, &store, with: Self.encoder(), for: 0...0)
    let usual = store.entries.filter { $0.form != .small }
    #expect(usual.prefix(49).allSatisfy { $0.form == .whole })
    #expect(usual[49].form == .only)
    #expect(small.unsettled == usual[48].sequence + 1)
  }

  /// Nobody waits for small packets where none can be made.
  @Test func `what is small as it is has none beside it`() {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<20, to: &store)
    Self.append(20..<40, Self.mp3, to: &store)
    Self.append(40..<60, endsStream: true, to: &store)
    Self.make(&small, &store, with: Self.encoder(), for: 0...0)
    let usual = store.entries.filter { $0.form != .small }
    #expect(usual[..<20].allSatisfy { $0.form == .whole })
    #expect(usual[20..<40].allSatisfy { $0.form == .only })
    #expect(usual[40...].allSatisfy { $0.form == .whole })
    #expect(small.unsettled.map { $0 > usual[59].sequence } == true)
    #expect(store.entries.last { $0.form == .small }?.endsStream == true)
  }

  /// A seek or an edit: nothing of before lies behind the cut, and what is on its way is dropped.
  @Test func `a cut takes small packets back, and they are made anew behind it`() throws {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<100, to: &store)
    let encoder = Self.encoder()
    let order = try #require(small.order(from: &store, for: 0...0))
    let late = encoder.make(order)
    store.cut(from: Self.time(10))
    Self.append(10..<100, generation: 1, to: &store)
    small.take(late, into: &store)
    #expect(store.entries.allSatisfy { $0.form == .only })
    Self.make(&small, &store, with: encoder, for: 0...0)
    Self.expectSmall(store, from: .zero, to: Self.time(100))
    for entry in store.entries where entry.form == .small {
      #expect(entry.generation == (entry.mediaTime < Self.time(10) ? 0 : 1))
    }
  }

  @Test func `a packet that a cut ends is made as far as it is heard`() {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<100, to: &store)
    let place = Self.time(10) + .milliseconds(33)
    store.cut(from: place)
    Self.make(&small, &store, with: Self.encoder(), for: 0...0)
    #expect(store.entries.allSatisfy { $0.end <= place })
    Self.expectSmall(store, from: .zero, to: place)
  }

  @Test func `a second room that is behind has them made for itself`() {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<100, to: &store)
    let encoder = Self.encoder()
    let first = store.entries[50].sequence
    Self.make(&small, &store, with: encoder, for: first...first)
    let second = store.entries[9].sequence + 1
    Self.make(&small, &store, with: encoder, for: second...first)
    Self.expectSmall(store, from: Self.time(10), to: Self.time(100))
    #expect(small.order(from: &store, for: second...first) == nil)
  }

  /// A link that is good again takes the usual packets faster than small ones are made.
  @Test func `a room that is behind gets what others have outrun`() throws {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<600, to: &store)
    let encoder = Self.encoder()
    Self.make(&small, &store, with: encoder, for: 0...0)
    let ahead = try #require(store.entry(from: store.sequence(at: Self.time(400)))).sequence
    Self.make(&small, &store, with: encoder, for: ahead...ahead)
    let behind = try #require(store.entry(from: store.sequence(at: Self.time(200)))).sequence
    Self.make(&small, &store, with: encoder, for: behind...ahead)
    let usual = store.entries.filter { $0.form != .small && $0.sequence >= behind }
    #expect(usual.prefix(300).allSatisfy { $0.form == .whole })
  }

  /// The process that decodes strangers' packets may end on one of them.
  @Test func `a decoder that ends leaves the usual packets, and is not begun again for them`() {
    final class Decoder: AudioDecoder {
      func decode(_ payload: [UInt8], appendingTo frames: inout [Float]) throws(CodecError) {
        throw .failed(call: "decoding process", reason: "it crashed")
      }
    }
    let count = Mutex(0)
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<20, to: &store)
    Self.append(20..<40, to: &store)
    let encoder = SmallEncoder(
      makeDecoder: { _ throws(CodecError) in
        count.withLock { $0 += 1 }
        return Decoder()
      }, makeEncoder: { SmallTestEncoder($0) })
    Self.make(&small, &store, with: encoder, for: 0...0)
    #expect(store.entries.allSatisfy { $0.form == .only })
    #expect(count.withLock { $0 } == 1)
  }

  /// Encoder and rate converter have settled where the small packets begin.
  @Test func `the packets before the first one prepare the encoder`() throws {
    var (store, small) = (Self.store(), SmallEncoding())
    Self.append(0..<100, to: &store)
    let first = store.entries[50].sequence
    let order = try #require(small.order(from: &store, for: first...first))
    #expect(order.start == Self.time(50))
    #expect(order.pieces.filter { $0.end <= order.start }.count == 2)
    let batch = Self.encoder().make(order)
    let packet = try #require(batch.packets.first { $0.produced.encoded.frameCount > 0 })
    #expect(packet.produced.mediaTime == Self.time(50))
    let prepared = batch.packets.prefix { $0.produced.encoded.frameCount == 0 }
    #expect(prepared.count == 6)
  }
}
