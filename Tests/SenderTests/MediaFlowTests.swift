import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of the data on a media connection: no more than is granted, and no more than the room can
/// hold.
@Suite struct MediaFlowTests {
  private static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)
  private static let start = LocalTime(nanoseconds: 1_000_000_000)

  /// A minute in packets of 20 ms and a thousand bytes: 50 000 bytes a second.
  private static let store: PacketStore = {
    var store = PacketStore()
    for number in 0..<3000 {
      store.append(
        AudioPacket(
          generation: 0, sequence: UInt64(number), mediaTime: time(number), formatID: 0,
          startsRun: number == 0, endsStream: false,
          encoded: EncodedPacket(payload: .init(repeating: 0, count: 938), frameCount: 160)),
        format: format, end: time(number + 1))
    }
    return store
  }()

  private static func time(_ packet: Int) -> MediaTime {
    .zero + .milliseconds(Int64(packet) * 20)
  }

  private static func numbers(_ bytes: [UInt8]) -> [UInt64] {
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    framer.append(bytes)
    var numbers: [UInt64] = []
    while let raw = try? framer.next() {
      if case .packet(let packet)? = try? MediaMessage.decode(raw) {
        numbers.append(packet.sequence)
      }
    }
    return numbers
  }

  private static func schedule(at now: LocalTime) -> MediaSchedule { MediaSchedule(now: now) }

  @Test func `a limit that leaves more than the room can hold is ignored`() {
    var flow = MediaFlow(from: 0, capacity: 20_000)
    flow.sent(18)
    flow.granted(20_019)
    let none = flow.nextBytes(from: Self.store)
    #expect(none.isEmpty)
    flow.granted(20_018)
    let sent = flow.nextBytes(from: Self.store).count
    #expect((19_000...20_000).contains(sent))
    flow.granted(UInt64(18 + sent) + 20_001)
    let more = flow.nextBytes(from: Self.store)
    #expect(more.isEmpty)
  }

  @Test func `what does not fit into the room's time is not sent`() {
    var flow = MediaFlow(from: 0)
    flow.granted(1 << 40)
    var schedule = Self.schedule(at: Self.start)
    schedule.end = Self.time(30)
    let numbers = Self.numbers(flow.nextBytes(from: Self.store, schedule))
    #expect(numbers == Array(0..<30))
  }

  @Test func `a room that grants nothing for long is known`() {
    var flow = MediaFlow(from: 0)
    flow.granted(2_000)
    var now = Self.start
    _ = flow.nextBytes(from: Self.store, Self.schedule(at: now))
    _ = flow.nextBytes(from: Self.store, Self.schedule(at: now))
    now = now + .seconds(10)
    _ = flow.nextBytes(from: Self.store, Self.schedule(at: now))
    #expect(flow.isWithheld(for: .seconds(10), at: now))
    flow.granted(10_000)
    _ = flow.nextBytes(from: Self.store, Self.schedule(at: now))
    #expect(!flow.isWithheld(for: .seconds(10), at: now))
  }
}
