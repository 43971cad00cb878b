import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of which networks count as slower than the music, and of packets that are left out for them.
@Suite struct MediaDeliveryTests {
  @Test func `a network that carries less than the music takes is known as too slow`() {
    var room = WeakRoom(rate: 0.9)
    room.run(for: 2)
    #expect(!room.flow.isTooSlow(at: room.now))
    room.run(for: 3)
    #expect(room.flow.isTooSlow(at: room.now))
  }

  @Test func `a network that carries a little more than the music takes is not`() {
    var room = WeakRoom(rate: 1.1)
    for _ in 0..<30 {
      room.run(for: 1)
      #expect(!room.flow.isTooSlow(at: room.now))
    }
    #expect(room.holes.isEmpty)
  }

  @Test func `a network that is down for a while is not slow`() {
    var room = WeakRoom(rate: 3)
    room.run(for: 1)
    room.rate = 0
    room.run(for: 8)
    room.rate = 3
    room.run(for: 8)
    #expect(!room.flow.isTooSlow(at: room.now))
    #expect(room.holes.isEmpty)
  }

  @Test func `a room that grants too little has no slow network`() {
    var room = WeakRoom(rate: 3)
    room.creditRate = 0.5
    room.run(for: 10)
    #expect(!room.flow.isTooSlow(at: room.now))
    #expect(room.holes.isEmpty)
  }

  @Test func `a source that delivers too little makes no slow network`() {
    var room = WeakRoom(rate: 3)
    room.sourceRate = 0.5
    room.run(for: 10)
    #expect(!room.flow.isTooSlow(at: room.now))
    #expect(room.holes.isEmpty)
  }

  @Test func `what is sent over a slow network comes in time, with few holes`() {
    var room = WeakRoom(rate: 0.7)
    room.run(for: 10)
    room.heard = []
    room.lateCount = 0
    let holesBefore = room.holes.count
    room.run(for: 40)
    let share = Double(room.heard.count) / 2000
    #expect(share > 0.68)
    #expect(room.lateCount == 0)
    let holes = room.holes.dropFirst(holesBefore)
    #expect((5...12).contains(holes.count))
    #expect(holes.allSatisfy { $0 > .seconds(1) && $0 < .seconds(4) })
  }

  @Test func `while the group pauses nothing is left out`() {
    var room = WeakRoom(rate: 0.7)
    room.run(for: 10)
    let holes = room.holes.count
    room.pause()
    room.run(for: 20)
    #expect(room.holes.count == holes)
  }

  @Test func `a slow network is known across a cut, and forgotten once it carries more`() {
    var room = WeakRoom(rate: 0.7)
    room.run(for: 10)
    room.cut()
    #expect(room.flow.isTooSlow(at: room.now))
    let holes = room.holes.count
    room.run(for: 2)
    #expect(room.holes.count == holes + 1)
    room.rate = 2
    room.run(for: 6)
    #expect(!room.flow.isTooSlow(at: room.now))
  }

  @Test func `a network that recovers is known to within a second, and has nothing left out since`()
  {
    var room = WeakRoom(rate: 0.2)
    room.run(for: 20)
    #expect(room.flow.isTooSlow(at: room.now))
    // A second's bytes wait, and those that the kernel takes ahead.
    #expect(room.waiting < (16 << 10) + 12_000)
    room.rate = 5
    room.run(for: 1)
    #expect(!room.flow.isTooSlow(at: room.now))
    let holes = room.holes.count
    room.run(for: 5)
    #expect(room.holes.count == holes)
  }

  @Test func `a slow network that nothing confirms is forgotten after half a minute`() {
    var room = WeakRoom(rate: 0.7)
    room.run(for: 10)
    #expect(room.flow.isTooSlow(at: room.now + .seconds(20)))
    #expect(!room.flow.isTooSlow(at: room.now + .seconds(30)))
  }

  @Test func `no more packets are remembered than the limit where none arrives`() throws {
    var store = PacketStore()
    store.append(WeakRoom.packet(0, of: 1), format: WeakRoom.format, end: WeakRoom.time(1))
    let entry = try #require(store.entry(from: 0))
    var delivery = MediaDelivery()
    for _ in 0..<MediaDelivery.limit { delivery.sent(entry, total: 0) }
    #expect(delivery.count == MediaDelivery.limit)
    delivery.sent(entry, total: 0)
    #expect(delivery.count == MediaDelivery.limit / 2 + 1)
  }

  @Test func `the packet that ends the stream is never left out`() {
    var room = WeakRoom(rate: 0.7, seconds: 20)
    room.run(for: 30)
    #expect(room.heard.contains(999) || room.lateNumbers.contains(999))
  }
}

/// A room behind a network that carries `rate` times the music's data: packets of 20 ms and a thousand bytes.
private struct WeakRoom {
  var flow = MediaFlow(from: 0)
  var rate: Double
  /// Seconds of music that the room grants, and that the source delivers, in a second; nil for unlimited.
  var creditRate: Double?
  var sourceRate: Double?
  private(set) var now = LocalTime(nanoseconds: 1_000_000_000)
  /// Numbers of the packets that came in time, and of the late ones.
  var heard: [UInt64] = []
  var lateCount = 0
  private(set) var lateNumbers: [UInt64] = []
  /// The stretches that were left out.
  private(set) var holes: [MediaDuration] = []
  private var store = PacketStore()
  private let packetCount: Int
  private var produced = 0
  private var timeline = PlaybackTimeline()
  private var generation: UInt32 = 0
  private var inNetwork: [UInt8] = []
  /// Bytes that were sent and have not arrived.
  var waiting: Int { inNetwork.count }
  private var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
  private var carried = 0.0
  private var granted = 100_000.0
  private var arrivedUntil = MediaTime.zero
  private var arrivedNumber: UInt64?
  private var step = 0

  init(rate: Double, seconds: Int = 120) {
    self.rate = rate
    packetCount = seconds * 50
    _ = timeline.play(from: .zero, at: GroupTime(ofSender: now) + .milliseconds(100))
  }

  mutating func run(for seconds: Int) {
    for _ in 0..<seconds * 50 {
      now = now + .milliseconds(20)
      step += 1
      produce()
      granted = creditRate.map { granted + $0 * 1000 } ?? 1e12
      flow.granted(UInt64(granted))
      if inNetwork.count <= 16 << 10 { flow.drained() }
      let schedule = MediaSchedule(now: now, timeline: timeline)
      inNetwork += flow.nextBytes(from: store, schedule)
      carry()
      if step % 50 == 0 { flow.delivered(until: arrivedUntil, at: now) }
    }
  }

  mutating func pause() { _ = timeline.pause(at: GroupTime(ofSender: now)) }

  /// Replaces everything from a fifth of a second ahead on.
  mutating func cut() {
    let place =
      Int(timeline.playhead(at: GroupTime(ofSender: now)).flicks / Self.length.flicks) + 10
    generation = timeline.cut(from: Self.time(place), isRamped: true)
    store.cut(from: Self.time(place))
    produced = place
    flow.drained()
    arrivedNumber = nil
  }

  private mutating func produce() {
    let wanted = sourceRate.map { min(packetCount, Int(Double(step) * $0) + 20) } ?? packetCount
    while produced < wanted {
      var packet = Self.packet(produced, of: packetCount)
      packet.generation = generation
      packet.sequence = store.nextSequence
      store.append(packet, format: Self.format, end: Self.time(produced + 1))
      produced += 1
    }
  }

  private mutating func carry() {
    carried += rate * 1000
    let count = min(Int(carried), inNetwork.count)
    carried -= Double(count)
    if inNetwork.isEmpty { carried = 0 }
    framer.append(Array(inNetwork.prefix(count)))
    inNetwork.removeFirst(count)
    while let raw = try? framer.next() {
      if case .packet(let packet)? = try? MediaMessage.decode(raw) { take(packet) }
    }
  }

  private mutating func take(_ packet: AudioPacket) {
    guard packet.generation == generation else { return }
    if packet.mediaTime >= timeline.playhead(at: GroupTime(ofSender: now)) {
      heard.append(packet.sequence)
    } else {
      lateCount += 1
      lateNumbers.append(packet.sequence)
    }
    if arrivedNumber != nil, packet.mediaTime > arrivedUntil {
      holes.append(packet.mediaTime - arrivedUntil)
    }
    arrivedNumber = packet.sequence
    arrivedUntil = packet.mediaTime + Self.length
  }

  static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)
  private static let length = MediaDuration.milliseconds(20)

  static func packet(_ number: Int, of count: Int) -> AudioPacket {
    AudioPacket(
      generation: 0, sequence: UInt64(number), mediaTime: time(number), formatID: 0,
      startsRun: number == 0, endsStream: number + 1 == count,
      encoded: EncodedPacket(payload: .init(repeating: 0, count: 938), frameCount: 160))
  }

  static func time(_ packet: Int) -> MediaTime {
    .zero + .milliseconds(Int64(packet) * 20)
  }
}
