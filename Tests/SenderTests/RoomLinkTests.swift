import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

@Suite struct RoomLinkTests {
  private static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)

  private static func store(_ count: Int, payload: Int = 320) -> PacketStore {
    var store = PacketStore()
    for number in 0..<count {
      store.append(
        AudioPacket(
          generation: 0, sequence: UInt64(number),
          mediaTime: .zero + .milliseconds(Int64(number) * 20), formatID: 0, startsRun: number == 0,
          endsStream: false,
          encoded: EncodedPacket(payload: .init(repeating: 0, count: payload), frameCount: 160)),
        format: format, end: .zero + .milliseconds(Int64(number) * 20 + 20))
    }
    return store
  }

  @Test func `nothing is sent before the first credit`() {
    var flow = MediaFlow(from: 0)
    flow.sent(24)
    let bytes = flow.nextBytes(from: Self.store(10))
    #expect(bytes.isEmpty)
  }

  @Test(arguments: 0..<20) func `credit is never exceeded, and used as far as messages fit`(
    seed: Int
  ) {
    var random = SplitMix64(seed: UInt64(seed))
    let store = Self.store(400)
    var flow = MediaFlow(from: 0)
    var (limit, sent) = (UInt64(0), UInt64(0))
    for _ in 0..<200 {
      let granted = max(limit, 500) - 500 + random.next() % 3000
      flow.granted(granted)
      limit = max(limit, granted)
      sent += UInt64(flow.nextBytes(from: store).count)
      #expect(sent <= limit)
      #expect(flow.sentBytes == sent)
      flow.drained()
    }
  }

  @Test func `a limit never falls`() {
    var flow = MediaFlow(from: 0)
    flow.granted(100_000)
    flow.granted(10)
    let bytes = flow.nextBytes(from: Self.store(10))
    #expect(!bytes.isEmpty)
  }

  @Test func `little waits in the connection's queue`() {
    let store = Self.store(2000)
    var flow = MediaFlow(from: 0)
    flow.granted(1 << 40)
    let first = flow.nextBytes(from: store).count
    #expect(flow.isFull)
    #expect(first < MediaFlow.queueLimit + 500)
    let none = flow.nextBytes(from: store)
    #expect(none.isEmpty)
    flow.drained()
    let more = flow.nextBytes(from: store)
    #expect(!more.isEmpty)
  }

  @Test func `packets that are gone are passed over`() {
    var store = Self.store(100)
    store.release(before: .zero + .seconds(1))
    var flow = MediaFlow(from: 3)
    flow.granted(1 << 40)
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    framer.append(flow.nextBytes(from: store))
    var first: AudioPacket?
    while first == nil, let raw = try? framer.next() {
      if case .packet(let packet)? = try? MediaMessage.decode(raw) { first = packet }
    }
    #expect(first?.sequence == 50)
  }

  @Test func `attempts come less often until a session has lasted`() {
    var link = RoomLink(
      id: RoomID(1), name: "", receiverID: nil, at: LocalTime(nanoseconds: 0))
    var now = LocalTime(nanoseconds: 0)
    var pauses: [Nanoseconds] = []
    for _ in 0..<40 {
      link.broke("", at: now)
      pauses.append(link.nextDeadline - now)
      now = link.nextDeadline
      let isDue = link.retryIsDue(at: now)
      #expect(isDue)
      let isDueAgain = link.retryIsDue(at: now)
      #expect(!isDueAgain)
    }
    #expect(pauses.first == RoomDialling.firstRetry)
    #expect(pauses.last == RoomDialling.lastRetry)
    #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 && $1.count <= $0.count * 5 / 4 })
    link.controlConnected(.test(), session: 1, at: now)
    _ = link.welcomed(.test(), at: now)
    now = now + RoomDialling.soundSession
    link.broke("", at: now)
    #expect(link.nextDeadline - now == RoomDialling.lastRetry)
    now = link.nextDeadline
    link.controlConnected(.test(), session: 1, at: now)
    _ = link.welcomed(.test(), at: now)
    link.connected?.media = MediaFlow(from: 0)
    now = now + RoomDialling.soundSession
    link.broke("", at: now)
    #expect(link.nextDeadline - now == RoomDialling.firstRetry)
  }

  @Test func `a session that broke the protocol is no sound one, however long it was`() {
    var now = LocalTime(nanoseconds: 0)
    var link = RoomLink(id: RoomID(1), name: "", receiverID: nil, at: now)
    var waits: [Nanoseconds] = []
    for _ in 0..<6 {
      link.controlConnected(.test(), session: 1, at: now)
      _ = link.welcomed(.test(), at: now)
      link.connected?.media = MediaFlow(from: 0)
      now = now + .seconds(6)
      link.broke("", .misbehaving, at: now)
      waits.append(link.nextDeadline - now)
    }
    #expect(waits.map(\.count) == [250, 1_200, 2_400, 3_600, 4_800, 5_000].map { $0 * 1_000_000 })
  }

  @Test func `a welcome that nobody waits for changes nothing`() {
    let now = LocalTime(nanoseconds: 0)
    var link = RoomLink(id: RoomID(1), name: "", receiverID: nil, at: now)
    var counts = [link.welcomed(.test(), at: now)]
    link.controlConnected(.test(), session: 1, at: now)
    counts += [link.welcomed(.test(), at: now), link.welcomed(.test(), at: now)]
    #expect(counts == [false, true, false])
    #expect(link.name == "Kitchen")
  }

  @Test func `why a room is away is known while it is tried again`() {
    let now = LocalTime(nanoseconds: 0)
    var link = RoomLink(id: RoomID(1), name: "Kitchen", receiverID: nil, at: now)
    link.refused("busy", .busy(holder: ""), at: now)
    let retry = link.nextDeadline
    let isDue = link.retryIsDue(at: retry)
    #expect(isDue)
    #expect(link.obstacle == "busy")
    link.controlConnected(.test(), session: 1, at: retry)
    #expect(link.obstacle == "busy")
  }
}
