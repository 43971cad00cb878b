import TestSupport
import Testing

@testable import Clock

struct ProbeScheduleTests {
  @Test func `the first probe is due at once`() {
    let start = LocalTime(nanoseconds: 5_000)
    #expect(ProbeSchedule(startingAt: start).nextProbe == start)
  }

  @Test func `probes come densely, then a hundred a second, then twenty`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    let times = run(&schedule, until: 60)
    #expect((63...65).contains(times.filter { $0 < 0.16 }.count))
    #expect((970...1030).contains(times.filter { $0 > 10 && $0 < 20 }.count))
    #expect((390...410).contains(times.filter { $0 > 35 && $0 < 55 }.count))
  }

  @Test func `while drifts wander, probes come a hundred a second, unless nothing plays`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    let times = run(&schedule, until: 60, isWandering: true)
    #expect((1950...2050).contains(times.filter { $0 > 35 && $0 < 55 }.count))
    schedule.rest()
    #expect(run(&schedule, until: 80, isWandering: true).count < 25)
  }

  @Test func `idle, one probe a second goes out once the clocks are known`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    schedule.rest()
    let times = run(&schedule, until: 60)
    #expect((23...27).contains(times.filter { $0 > 35 }.count))
    schedule.wake(at: LocalTime(nanoseconds: 60_000_000_000))
    #expect(schedule.nextProbe <= LocalTime(nanoseconds: 60_000_000_000))
  }

  @Test func `the intervals are those of the document`() throws {
    func milliseconds(_ interval: Nanoseconds) -> String {
      let tenths = interval.count / 100_000
      return tenths % 10 == 0 ? "\(tenths / 10) ms" : "\(tenths / 10).\(tenths % 10) ms"
    }
    let text = try Specification.text(of: "time-exchange.md").split(separator: "\n")
      .joined(separator: " ")
    let quick = milliseconds(ProbeSchedule.quickInterval)
    #expect(text.contains("begins with \(ProbeSchedule.quickProbes) requests \(quick) apart"))
    let learning = milliseconds(ProbeSchedule.learningInterval)
    let span = Specification.span(nanoseconds: ProbeSchedule.learningTime.count)
    #expect(text.contains("asks every \(learning) for the next \(span)"))
    let usual = milliseconds(ProbeSchedule.usualInterval)
    let idle = milliseconds(ProbeSchedule.idleInterval)
    #expect(text.contains("then every \(usual), and every \(idle) while nothing plays"))
    #expect(text.contains("every \(learning) again while the drift of a clock changes quickly"))
  }

  @Test func `after a restart the dense probes begin again`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    _ = run(&schedule, until: 40)
    schedule.restart(at: LocalTime(nanoseconds: 50_000_000_000))
    let times = run(&schedule, until: 50.16)
    #expect((63...65).contains(times.count))
  }

  @Test func `intervals vary by a fifth and no more`() {
    var random = SplitMix64(seed: 1)
    for random in [0, UInt64.max, random.next()] {
      var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
      schedule.sent(at: LocalTime(nanoseconds: 0), isWandering: false, random: random)
      #expect((2_000_000...3_000_000).contains(schedule.nextProbe.nanoseconds))
    }
  }

  /// Returns the times of the probes before `end`, in seconds.
  private func run(
    _ schedule: inout ProbeSchedule, until end: Double, isWandering: Bool = false
  ) -> [Double] {
    var random = SplitMix64(seed: 7)
    var times: [Double] = []
    while Double(schedule.nextProbe.nanoseconds) * 1e-9 < end {
      let now = schedule.nextProbe
      times.append(Double(now.nanoseconds) * 1e-9)
      // Near the middle of the range.
      let jitter = UInt64.max / 2 &+ (random.next() >> 4)
      schedule.sent(at: now, isWandering: isWandering, random: jitter)
    }
    return times
  }
}
