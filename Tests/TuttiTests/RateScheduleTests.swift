import Testing

@testable import Tutti

@Suite struct RateScheduleTests {
  private static func instant(_ seconds: Double) -> HostTime {
    HostTime(nanoseconds: Int64(seconds * 1e9))
  }

  /// A schedule that stands at 10 s, starts at second 100, and is twice as fast from second 104 on.
  private static let faster = {
    var schedule = RateSchedule()
    schedule.stand(at: .seconds(10), from: instant(90))
    schedule.change(to: 1, at: instant(100))
    schedule.change(to: 2, at: instant(104))
    return schedule
  }()

  @Test(arguments: [(80, 10), (100, 10), (102, 12), (104, 14), (105, 16), (114, 34)])
  func `time runs at the rate of its instant`(now: Double, time: Double) {
    #expect(Self.faster.time(at: Self.instant(now)) == .seconds(time))
  }

  @Test(arguments: [(9, 99), (10, 100), (12, 102), (14, 104), (16, 105), (34, 114)])
  func `a time sounds by the rate that holds there`(time: Double, due: Double) {
    #expect(Self.faster.hostTime(of: .seconds(time)) == Self.instant(due))
  }

  @Test func `an earlier change takes the place of what was to come`() {
    var schedule = Self.faster
    schedule.change(to: 0.5, at: Self.instant(102))
    #expect(schedule.time(at: Self.instant(108)) == .seconds(15))
    schedule.change(to: 0, at: Self.instant(108))
    #expect(schedule.time(at: Self.instant(104)) == .seconds(13))
    #expect(schedule.time(at: Self.instant(200)) == .seconds(15))
    #expect(schedule.hostTime(of: .seconds(15)) == nil)
    #expect(schedule.last.rate == 0)
  }

  @Test func `a start that lies ahead can be told`() {
    #expect(Self.faster.startTime == Self.instant(100))
    var schedule = Self.faster
    for second in 105...200 { schedule.change(to: 1, at: Self.instant(Double(second))) }
    #expect(schedule.startTime > Self.instant(150))
    #expect(schedule.time(at: Self.instant(200)) == .seconds(16 + 95))
  }
}
