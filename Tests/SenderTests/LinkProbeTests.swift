import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of which links count as too slow while a room is sent its first packets. TCP's measurements are multiples of what
/// the music takes.
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

  /// Returns the time from the start, in milliseconds, at which a link with these measurements, one each 50 ms, is found
  /// to be too slow; nil if it is not.
  private static func verdict(_ shares: [Double]) -> Int64? {
    var probe = waiting()
    for (index, share) in shares.enumerated() {
      let time = Int64(index + 1) * 50
      if probe.measured(share, at: after(time)) { return time }
    }
    #expect(!probe.isMeasuring)
    return nil
  }

  @Test func `a link that carries too little for half a second is too slow`() {
    #expect(Self.verdict(.init(repeating: 0.7, count: 20)) == 500)
    #expect(Self.verdict(.init(repeating: 0.3, count: 20)) == 500)
    #expect(Self.verdict([0, 0, 0.9] + .init(repeating: 0.5, count: 20)) == 500)
    // The handshake's few bytes arrive fast.
    #expect(Self.verdict([80, 80] + .init(repeating: 0.5, count: 20)) == 500)
  }

  @Test func `a link that carries enough is not`() {
    #expect(Self.verdict(.init(repeating: 1, count: 20)) == nil)
    #expect(Self.verdict([0.3, 0.4] + .init(repeating: 1.1, count: 20)) == nil)
    #expect(Self.verdict(.init(repeating: 0.5, count: 8) + [1, 0.5]) == nil)
  }

  /// Round trips of 100 ms: the first ones carry little.
  @Test func `a good link that begins slowly is not too slow`() {
    #expect(Self.verdict([0.02, 0.02, 0.6, 0.6, 1.2, 1.2, 2.4, 2.4, 4, 4]) == nil)
    #expect(Self.verdict([0.02, 0.02, 0.3, 0.3, 0.6, 0.6, 1.2, 1.2, 0.5, 0.5]) == nil)
  }

  @Test func `a link that carries much more than the music takes is known once the room has all`() {
    var probe = Self.waiting()
    _ = probe.measured(0.1, at: Self.after(0))
    probe.delivered()
    let isSlow = probe.measured(20, at: Self.after(50))
    #expect(!isSlow && !probe.isMeasuring && !probe.holdsBack(after: .seconds(10)))
  }

  @Test func `nothing is found while packets wait for the source`() {
    var probe = LinkProbe()
    for time in 1...40 {
      let isSlow = probe.measured(0.1, at: Self.after(Int64(time) * 50))
      #expect(!isSlow)
    }
    #expect(!probe.isMeasuring)
  }

  @Test func `where nothing measures a connection, the room's report ends the probe`() {
    var probe = Self.waiting()
    _ = probe.measured(0, at: Self.after(50))
    probe.delivered()
    #expect(!probe.isMeasuring && !probe.holdsBack(after: .seconds(1)))
    // TCP tells more than a report.
    probe = Self.waiting()
    _ = probe.measured(0.5, at: Self.after(50))
    probe.delivered()
    #expect(probe.isMeasuring)
  }

  @Test func `a room is sent little until its link is known, and all of it then`() {
    var store = PacketStore()
    for number in 0..<100 {
      let time = MediaTime.zero + .milliseconds(Int64(number) * 20)
      store.append(
        AudioPacket(
          generation: 0, sequence: UInt64(number), mediaTime: time, formatID: 0,
          startsRun: number == 0, endsStream: false,
          encoded: EncodedPacket(payload: .init(repeating: 0, count: 300), frameCount: 160)),
        format: Self.format, end: time + .milliseconds(20))
    }
    var flow = MediaFlow(from: 0, probe: LinkProbe())
    flow.granted(.max)
    _ = flow.nextBytes(from: store, MediaSchedule(now: Self.start))
    #expect(flow.nextSequence == 20 && flow.isProbed)
    _ = flow.nextBytes(from: store, MediaSchedule(now: Self.after(40)))
    #expect(flow.nextSequence == 20)
    var isSlow = flow.measured(5, at: Self.after(30))
    #expect(!isSlow && flow.isProbed)
    // The first packets say little: shapers let them through.
    flow.delivered(until: .zero + .milliseconds(380), at: Self.after(40))
    isSlow = flow.measured(5, at: Self.after(50))
    #expect(!isSlow && flow.isProbed)
    flow.delivered(until: .zero + .milliseconds(400), at: Self.after(50))
    isSlow = flow.measured(5, at: Self.after(50))
    _ = flow.nextBytes(from: store, MediaSchedule(now: Self.after(50)))
    #expect(!isSlow && flow.nextSequence == 100 && !flow.isProbed)
  }
}
