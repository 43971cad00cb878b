import Clock
import TestSupport
import Testing

struct ProbeScheduleTests {
  @Test func `the first probe is due at once`() {
    let start = LocalTime(nanoseconds: 5_000)
    #expect(ProbeSchedule(startingAt: start).nextProbe == start)
  }

  @Test func `probes come densely, then forty a second, then five`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    let times = run(&schedule, until: 40, link: .quiet)
    #expect((63...65).contains(times.filter { $0 < 0.16 }.count))
    #expect((385...415).contains(times.filter { $0 > 10 && $0 < 20 }.count))
    #expect((43...49).contains(times.filter { $0 > 30.5 && $0 < 39.7 }.count))
  }

  @Test(arguments: [
    (ProbeSchedule.Link.farRadio, 770...830), (.radio, 385...415), (.noisyWire, 3900...4100),
    (.steadyWire, 775...825),
  ])
  func `where the estimate scatters a link is asked as often as it can carry, and less by degrees`(
    link: ProbeSchedule.Link, probes: ClosedRange<Int>
  ) {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    let times = run(&schedule, until: 50, link: link)
    #expect(probes.contains(times.filter { $0 > 35 && $0 < 45 }.count))
  }

  /// A link with a round trip of 3 ms, and one of 13 ms.
  @Test(arguments: [(ProbeSchedule.Link.nearRadio, 3000...3350), (.farRadio, 1540...1660)])
  func `a radio that scatters is asked more often at first, if its answers are soon there`(
    link: ProbeSchedule.Link, probes: ClosedRange<Int>
  ) {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    let times = run(&schedule, until: 60, link: link)
    #expect(probes.contains(times.filter { $0 > 5 && $0 < 25 }.count))
    #expect((1540...1660).contains(times.filter { $0 > 35 && $0 < 55 }.count))
  }

  @Test func `idle, one probe a second goes out once the clocks are known`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    schedule.rest()
    let times = run(&schedule, until: 60, link: .radio)
    #expect((23...27).contains(times.filter { $0 > 35 }.count))
    schedule.wake(at: LocalTime(nanoseconds: 60_000_000_000))
    #expect(schedule.nextProbe <= LocalTime(nanoseconds: 60_000_000_000))
  }

  @Test func `after a restart the dense probes begin again`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    _ = run(&schedule, until: 40, link: nil)
    schedule.restart(at: LocalTime(nanoseconds: 50_000_000_000))
    let times = run(&schedule, until: 50.16, link: nil)
    #expect((63...65).contains(times.count))
  }

  @Test func `intervals vary by a fifth and no more`() {
    var random = SplitMix64(seed: 1)
    for random in [0, UInt64.max, random.next()] {
      var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
      schedule.sent(at: LocalTime(nanoseconds: 0), link: nil, random: random)
      #expect((2_000_000...3_000_000).contains(schedule.nextProbe.nanoseconds))
    }
  }

  /// The times of the probes before `end`, in seconds.
  private func run(_ schedule: inout ProbeSchedule, until end: Double, link: ProbeSchedule.Link?)
    -> [Double]
  {
    var random = SplitMix64(seed: 7)
    var times: [Double] = []
    while Double(schedule.nextProbe.nanoseconds) * 1e-9 < end {
      let now = schedule.nextProbe
      times.append(Double(now.nanoseconds) * 1e-9)
      // The middle of the range, give or take a little.
      let jitter = UInt64.max / 2 &+ (random.next() >> 4)
      schedule.sent(at: now, link: link, random: jitter)
    }
    return times
  }
}

extension ProbeSchedule.Link {
  static let quiet = ProbeSchedule.Link(deviation: 0.5e-6, roundTrip: .microseconds(400))
  /// Two thirds of what suffices: a fifth as often.
  static let steadyWire = ProbeSchedule.Link(
    deviation: 2e-6 / 1.4953, roundTrip: .microseconds(400))
  static let noisyWire = ProbeSchedule.Link(deviation: 4e-6, roundTrip: .microseconds(400))
  static let radio = ProbeSchedule.Link(deviation: 8e-6, roundTrip: .milliseconds(5))
  static let nearRadio = ProbeSchedule.Link(deviation: 30e-6, roundTrip: .milliseconds(3))
  static let farRadio = ProbeSchedule.Link(deviation: 100e-6, roundTrip: .milliseconds(13))
}
