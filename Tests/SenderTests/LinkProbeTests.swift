import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of which links count as too slow while a room is sent its first packets: 40 kB of music that takes 100 kB/s.
@Suite struct LinkProbeTests {
  private static let start = LocalTime(nanoseconds: 1_000_000_000)
  private static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)

  private static func after(_ milliseconds: Int64) -> LocalTime {
    start + .milliseconds(milliseconds)
  }

  private static func waiting() -> LinkProbe {
    var probe = LinkProbe()
    probe.waits(at: start)
    return probe
  }

  /// Returns the time from the start, in milliseconds, at which a link is found to be too slow; nil if it is not.
  ///
  /// - Parameter arrived: bytes that have arrived after each 50 ms; the last ones stay.
  private static func verdict(_ arrived: [Int]) -> Int64? {
    var probe = waiting()
    for time in stride(from: Int64(50), through: 1000, by: 50) {
      let count = arrived[min(Int(time) / 50, arrived.count) - 1]
      if probe.measured(min(count, 40_000), of: 40_000, needed: 100_000, at: after(time)) {
        return time
      }
    }
    #expect(!probe.isMeasuring)
    return nil
  }

  /// Returns what arrives over a link with `rate` bytes per second that lets a burst through at once.
  private static func link(_ rate: Int, burst: Int = 0) -> [Int] {
    (1...20).map { burst + rate * $0 / 20 }
  }

  @Test func `a link that carries too little is too slow`() {
    #expect(Self.verdict(Self.link(70_000)) == 500)
    #expect(Self.verdict(Self.link(30_000)) == 500)
    #expect(Self.verdict([0]) == 500)
    #expect(Self.verdict([4000]) == 500)
  }

  @Test(arguments: [4000, 8000, 16_000])
  func `a burst at the beginning does not count`(burst: Int) {
    #expect(Self.verdict(Self.link(30_000, burst: burst)) == 500)
    #expect(Self.verdict(Self.link(70_000, burst: burst)) != nil)
    #expect(Self.verdict(Self.link(200_000, burst: burst)) == nil)
  }

  @Test func `a link that carries enough is not`() {
    #expect(Self.verdict(Self.link(115_000)) == nil)
    #expect(Self.verdict(Self.link(130_000)) == nil)
    #expect(Self.verdict(Self.link(200_000)) == nil)
  }

  /// Round trips of 100 ms and of 200 ms.
  @Test func `a good link that begins slowly is not too slow`() {
    #expect(Self.verdict([0, 0, 14_000, 14_000, 40_000]) == nil)
    #expect(Self.verdict([100, 100, 100, 100, 14_000, 14_000, 14_000, 40_000]) == nil)
  }

  @Test func `a fast link that has lost a packet is not too slow`() {
    #expect(Self.verdict([38_000, 38_000, 38_000, 38_000, 40_000]) == nil)
    #expect(Self.verdict([10_000, 10_000, 10_000, 10_000, 40_000]) == nil)
  }

  @Test func `a link is known once the room has all`() {
    var probe = Self.waiting()
    let isSlow = probe.measured(40_000, of: 40_000, needed: 100_000, at: Self.after(10))
    #expect(!isSlow && !probe.isMeasuring && !probe.holdsBack(after: .seconds(10)))
  }

  @Test func `nothing is found while packets wait for the source`() {
    var probe = LinkProbe()
    for time in 1...40 {
      let isSlow = probe.measured(10, of: 40_000, needed: 100_000, at: Self.after(Int64(time) * 50))
      #expect(!isSlow)
    }
    #expect(!probe.isMeasuring)
  }

  @Test func `where nothing measures a connection, the room's report ends the probe`() {
    var probe = Self.waiting()
    probe.delivered()
    #expect(!probe.isMeasuring && !probe.holdsBack(after: .seconds(1)))
    // TCP tells more than a report.
    probe = Self.waiting()
    _ = probe.measured(1000, of: 40_000, needed: 100_000, at: Self.after(50))
    probe.delivered()
    #expect(probe.isMeasuring)
  }

  /// Two seconds of music.
  private static var music: PacketStore {
    var store = PacketStore()
    for number in 0..<100 {
      let time = MediaTime.zero + .milliseconds(Int64(number) * 20)
      store.append(
        AudioPacket(
          generation: 0, sequence: UInt64(number), mediaTime: time, formatID: 0,
          startsRun: number == 0, endsStream: false,
          encoded: EncodedPacket(payload: .init(repeating: 0, count: 300), frameCount: 160)),
        format: format, end: time + .milliseconds(20))
    }
    return store
  }

  @Test func `a room has little before a start that is awaited, unless that takes too long`() {
    let store = Self.music
    var flow = MediaFlow(from: 0)
    flow.granted(.max)
    func send(_ milliseconds: Int64, awaiting start: MediaTime?) -> UInt64 {
      var schedule = MediaSchedule(now: Self.after(milliseconds))
      schedule.awaitedStart = start
      _ = flow.nextBytes(from: store, schedule)
      return flow.nextSequence
    }
    #expect(send(0, awaiting: .zero) == 20)
    #expect(send(2_900, awaiting: .zero) == 20)
    // Another start, such as after a seek, begins elsewhere.
    #expect(send(2_950, awaiting: .zero + .milliseconds(200)) == 30)
    #expect(send(3_100, awaiting: .zero + .milliseconds(200)) == 30)
    #expect(send(6_000, awaiting: .zero + .milliseconds(200)) == 100)
    flow = MediaFlow(from: 0)
    flow.granted(.max)
    #expect(send(0, awaiting: .zero) == 20)
    #expect(send(10, awaiting: nil) == 100)
  }

  @Test func `a room is sent little until its link is known, and all of it then`() {
    let store = Self.music
    var flow = MediaFlow(from: 0, probe: LinkProbe())
    flow.granted(.max)
    _ = flow.nextBytes(from: store, MediaSchedule(now: Self.start))
    #expect(flow.nextSequence == 20 && flow.isProbed)
    _ = flow.nextBytes(from: store, MediaSchedule(now: Self.after(40)))
    #expect(flow.nextSequence == 20)
    var isSlow = flow.measured(waiting: 1000, needed: 15_000, at: Self.after(30))
    #expect(!isSlow && flow.isProbed)
    isSlow = flow.measured(waiting: 0, needed: 15_000, at: Self.after(50))
    _ = flow.nextBytes(from: store, MediaSchedule(now: Self.after(50)))
    #expect(!isSlow && flow.nextSequence == 100 && !flow.isProbed)
  }
}
