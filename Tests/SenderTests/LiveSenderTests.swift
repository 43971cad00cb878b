import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Tests of a live source on its way to the rooms; addresses are numbers.
struct LiveSenderTests {
  private static let key = [UInt8](repeating: 3, count: 32)
  private static let latency = Nanoseconds.milliseconds(30)

  /// 8000 Hz: a packet of 40 frames every 5 ms.
  private final class Source: MediaSource {
    let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
    let sampleType = SampleType.int16
    let isLossless = true
    let frameCount: Int64? = nil
    let isSeekable = false
    let supply = Supply.input
    let metadata = ItemMetadata()
    private(set) var live: LiveTiming?
    var isOver = false

    /// Gives from now on what comes from now on.
    func open(at now: LocalTime) -> Source {
      let latency = LiveSenderTests.latency
      live = LiveTiming(firstHeard: now + latency, latency: latency, adapts: true)
      return self
    }

    func read(_ count: Int, appendingTo frames: inout [Float]) {
      if !isOver { frames += [Float](repeating: 0.5, count: count) }
    }
    func seek(toFrame frame: Int64) {}
  }

  private final class Opening { var now = LocalTime(nanoseconds: 0) }

  private struct Bed {
    var sender = GroupSender<Int>(
      .init(
        senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
        firstSession: 100,
        live: LiveSecret(cipher: FakeCipher(), key: LiveSenderTests.key, port: 46_001)),
      playing: Playlist(["live"]))
    var now = LocalTime(nanoseconds: 1_000_000_000)
    let source = Source()
    private let opening = Opening()
    let serializer: Serializer
    var orders: [ProductionOrder] = []
    var control: [ControlMessage] = []
    var sent: [(to: Int, bytes: [UInt8])] = []
    var media = 0
    var holds: [Nanoseconds] = []
    var events: [SenderEvent] = []

    init() {
      serializer = Serializer(
        openSource: { [source, opening] _ in source.open(at: opening.now) },
        makeEncoder: { shape in
          PCMEncoder(
            audio: shape.format, sampleType: shape.sampleType, packetFrames: shape.livePacketFrames)
        })
    }

    mutating func handle(_ input: GroupSender<Int>.Input) {
      sender.handle(input, at: now)
      drain()
    }

    mutating func drain() {
      while let output = sender.nextOutput() {
        switch output {
        case .produce(let order): orders.append(order)
        case .hold(let latency): holds.append(latency)
        case .event(let event): events.append(event)
        case .sendDatagram(let bytes, let address): sent.append((address, bytes))
        case .send(let id, let bytes) where id == LiveSenderTests.control:
          var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
          framer.append(bytes)
          while let raw = try? framer.next() {
            if let message = try? ControlMessage.decode(raw) { control.append(message) }
          }
        case .send(_, let bytes): media += bytes.count
        default: break
        }
      }
    }

    /// Carries out the next order.
    mutating func produce() {
      guard !orders.isEmpty else { return }
      opening.now = now
      handle(.produced(serializer.produce(orders.removeFirst())))
    }

    mutating func join() {
      let peer = SecuredPeer.test(.counting(from: 9))
      handle(.roomAdded(RoomID(1), name: "room", receiverID: nil, at: [5]))
      handle(.connected(LiveSenderTests.control, peer))
      handle(.received(LiveSenderTests.control, ControlMessage.welcome(.test()).encoded()))
      handle(.connected(RoomConnectionID(number: 2), peer))
      handle(
        .received(
          LiveSenderTests.control,
          ControlMessage.credit(.test(limit: 1 << 20)).encoded()))
      produce()
    }

    @discardableResult
    mutating func ask(
      _ missing: [UInt64] = [], sequence: UInt32, from address: Int = 5, clockID: UInt64 = 77,
      keyID: UInt32 = 101, key: [UInt8] = SecuredPeer.test(.counting(from: 9)).clockKey
    ) -> Bool {
      let ask = LiveAsk(clockID: clockID, keyID: keyID, sequence: sequence, missing: missing)
      let isTaken = sender.ask(ask.encoded(key: ClockKey(key)), from: address, at: now)
      drain()
      return isTaken
    }

    /// Plays half a second, and reports that the slowest packet needs this latency.
    mutating func report(needing latency: Nanoseconds) {
      play(100)
      let margin = LiveSenderTests.latency - latency
      let report = LiveReport(
        received: 100, concealed: margin < .zero ? 1 : 0, leastMargin: margin)
      handle(.received(LiveSenderTests.control, ControlMessage.liveReport(report).encoded()))
    }

    /// Lets seconds pass in which nobody takes what the source gives; the room is there.
    mutating func wait(seconds: Int) {
      for _ in 0..<seconds {
        now = now + .seconds(1)
        handle(
          .received(
            LiveSenderTests.control, ControlMessage.credit(.test(limit: 1 << 20)).encoded()))
      }
    }

    /// Plays this many packets of 5 ms.
    mutating func play(_ count: Int) {
      for _ in 0..<2 * count {
        now = now + .microseconds(2_500)
        produce()
        handle(.turn([]))
      }
    }
  }

  private static let control = RoomConnectionID(number: 1)

  /// How long before its time the datagram was sent that was sent last.
  private static func margin(_ bed: Bed) throws -> Nanoseconds {
    let anchor = try #require(
      bed.control.compactMap { if case .anchor(let one) = $0 { one } else { nil } }.last)
    let last = try #require(try bed.sent.last.flatMap { try packet(in: $0.bytes) })
    let time = try #require(anchor.groupTime(of: last.mediaTime))
    return time - bed.sender.session.clock.group(bed.now)
  }

  private static func packet(in datagram: [UInt8]) throws -> AudioPacket? {
    let sealed = try LiveDatagram(decoding: datagram)
    var framer = MessageFramer(limit: LiveDatagram.byteLimit)
    framer.append(sealed.messages(key: key, with: FakeCipher()) ?? [])
    while let raw = try framer.next() {
      if case .packet(let packet)? = try MediaMessage.decode(raw) { return packet }
    }
    return nil
  }

  @Test func `the last packet says that the stream ends, and comes again where it is lost`() throws
  {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(20)
    bed.source.isOver = true
    bed.play(4)
    let packets = try bed.sent.compactMap { try Self.packet(in: $0.bytes) }
    #expect(packets.filter(\.endsStream).map(\.sequence) == packets.last.map { [$0.sequence] })
    #expect(packets.last?.encoded.payload.allSatisfy { $0 == 0 } == true)
    let count = bed.sent.count
    bed.ask(sequence: 2)
    #expect(bed.sent.count == count + 1)
    #expect(bed.sent.last?.bytes == bed.sent[count - 1].bytes)
  }

  /// As docs/protocol/live.md says, reports are optional.
  @Test func `a room that never reports is sent the stream on, and changes no latency`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    let holds = bed.holds
    for sequence in 2..<20 {
      bed.play(100)
      bed.ask(sequence: UInt32(sequence))
    }
    #expect(bed.holds == holds)
    #expect(bed.sent.count >= 1_800 && bed.sent.allSatisfy { $0.to == 5 })
  }

  @Test func `a room hears of a live stream, and is sent it where it asks from`() throws {
    var bed = Bed()
    bed.join()
    let stream = bed.control.compactMap { if case .live(let stream) = $0 { stream } else { nil } }
    #expect(stream.count == 1)
    let live = try #require(stream.first ?? nil)
    #expect(live.latency == Self.latency && live.port == 46_001 && live.sampleRate == 8_000)
    bed.ask(sequence: 1)
    bed.play(10)
    #expect(bed.sent.count == 10 && bed.sent.allSatisfy { $0.to == 5 })
    for (place, sent) in bed.sent.enumerated() {
      let datagram = try LiveDatagram(decoding: sent.bytes)
      #expect(datagram.number == UInt64(place))
      #expect(datagram.messages(key: Self.key, with: FakeCipher()) != nil)
      #expect(sent.bytes.count <= LiveDatagram.byteLimit)
    }
  }

  @Test func `each frame is to be heard one latency after it came`() {
    var bed = Bed()
    bed.join()
    let anchors = bed.control.compactMap { if case .anchor(let one) = $0 { one } else { nil } }
    #expect(!anchors.isEmpty)
    for anchor in anchors {
      #expect(
        anchor.groupTime(of: .zero) == GroupTime(nanoseconds: 1_030_000_000))
    }
  }

  @Test func `a room that has holes makes the source later, and is named`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    // Reports from a session's beginning are ignored.
    for _ in 0..<3 { bed.report(needing: .milliseconds(60)) }
    #expect(bed.holds == [Self.latency])
    for _ in 0..<10 { bed.report(needing: .milliseconds(10)) }
    for _ in 0..<2 { bed.report(needing: .milliseconds(44)) }
    #expect(bed.holds == [Self.latency, .milliseconds(50)])
    #expect(bed.events.changes(of: RoomID(1)).contains(.choseLatency(.milliseconds(50))))
    let status = bed.sender.session.status(at: bed.now)
    #expect(status.liveLatency == Self.latency && status.latencyDecider == RoomID(1))
  }

  @Test func `a packet that is asked for is sent again, the same, three times at most`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(40)
    let first = bed.sent[7].bytes
    bed.sent = []
    for sequence in 2...9 { bed.ask([7], sequence: UInt32(sequence)) }
    #expect(bed.sent.map(\.bytes) == [first, first, first])
  }

  @Test func `no more is sent again than half of the stream`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(200)
    bed.sent = []
    var sequence: UInt32 = 2
    for _ in 0..<10 {
      bed.ask(Array(0..<192), sequence: sequence)
      sequence += 1
    }
    // The allowance that was saved up.
    #expect(bed.sent.count == 32)
    bed.sent = []
    bed.play(20)
    bed.ask(Array(20..<200), sequence: sequence)
    #expect(bed.sent.count == 20 + 10)
  }

  @Test func `packets that were never sent, or are long past, are not sent again`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(LiveSender.historyLimit + 10)
    bed.sent = []
    bed.ask([3], sequence: 2)
    bed.ask([5_000], sequence: 3)
    #expect(bed.sent.isEmpty)
  }

  @Test func `a stranger's ask is not answered, and turns nothing aside`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 10)
    bed.play(10)
    bed.sent = []
    let taken = [
      bed.ask([1], sequence: 11, from: 6, key: [UInt8](repeating: 9, count: 16)),
      bed.ask([1], sequence: 11, from: 6, clockID: 78),
      bed.ask([1], sequence: 11, from: 6, keyID: 7),
      // Replays of earlier sequence numbers, from another address.
      bed.ask([1], sequence: 10, from: 6), bed.ask([1], sequence: 9, from: 6),
    ]
    #expect(!taken.contains(true))
    #expect(bed.sent.isEmpty)
    bed.play(2)
    #expect(bed.sent.map(\.to) == [5, 5])
  }

  @Test func `a room that asks no more is sent no more datagrams after 2 s`() {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(500)
    #expect(bed.sent.count == 399 || bed.sent.count == 400)
  }

  @Test func `a room that never asks is sent the packets on its media connection`() {
    var bed = Bed()
    bed.join()
    bed.play(100)
    let before = bed.media
    bed.play(400)
    #expect(bed.sent.isEmpty)
    #expect(bed.media > before + 10_000)
  }

  @Test func `a live source goes on with what it gives now after a long pause`() throws {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(40)
    #expect(try Self.margin(bed) > .zero)
    bed.handle(.command(CommandID(1), .pause))
    bed.play(40)
    bed.wait(seconds: 100)
    bed.handle(.command(CommandID(2), .resume))
    bed.play(100)
    bed.ask(sequence: 2)
    bed.sent = []
    bed.play(40)
    #expect(bed.sent.count == 40)
    #expect(try Self.margin(bed) > .zero)
  }

  @Test func `a live source goes on with what it gives now when the machine has slept`() throws {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(40)
    bed.handle(.resumedFromSuspend(after: .milliseconds(500)))
    bed.play(100)
    bed.ask(sequence: 2)
    bed.sent = []
    bed.play(40)
    #expect(bed.sent.count == 40)
    #expect(try Self.margin(bed) > .zero)
  }

  @Test func `a live source goes on with what it gives now when this process has stood still`()
    throws
  {
    var bed = Bed()
    bed.join()
    bed.ask(sequence: 1)
    bed.play(40)
    // The room's messages of that time come first.
    bed.now = bed.now + .seconds(19)
    bed.wait(seconds: 1)
    bed.play(100)
    bed.ask(sequence: 2)
    bed.sent = []
    bed.play(40)
    #expect(bed.sent.count == 40)
    #expect(try Self.margin(bed) > .zero)
  }
}
