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
    let times = run(&schedule, until: 20, link: .quiet)
    #expect(times.filter { $0 < 0.175 }.count == 32)
    #expect(times.filter { $0 < 0.66 }.count == 48)
    #expect((355...390).contains(times.filter { $0 > 0.7 && $0 < 10 }.count))
    #expect((46...52).contains(times.filter { $0 > 10.2 }.count))
  }

  @Test
  func `where the estimate scatters a radio gets forty probes a second and a wire two hundred`() {
    for (link, probes) in [(ProbeSchedule.Link.radio, 385...415), (.noisyWire, 1920...2080)] {
      var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
      let times = run(&schedule, until: 30, link: link)
      #expect(probes.contains(times.filter { $0 > 20 }.count))
    }
  }

  @Test func `idle, one probe a second goes out once the clocks are known`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    schedule.rest()
    let times = run(&schedule, until: 60, link: .radio)
    #expect((38...42).contains(times.filter { $0 > 20 }.count))
    schedule.wake(at: LocalTime(nanoseconds: 60_000_000_000))
    #expect(schedule.nextProbe <= LocalTime(nanoseconds: 60_000_000_000))
  }

  @Test func `after a restart the dense probes begin again`() {
    var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
    _ = run(&schedule, until: 20, link: nil)
    schedule.restart(at: LocalTime(nanoseconds: 30_000_000_000))
    let times = run(&schedule, until: 30.66, link: nil)
    #expect(times.count == 48)
  }

  @Test func `intervals vary by a fifth and no more`() {
    var random = SplitMix64(seed: 1)
    for random in [0, UInt64.max, random.next()] {
      var schedule = ProbeSchedule(startingAt: LocalTime(nanoseconds: 0))
      schedule.sent(at: LocalTime(nanoseconds: 0), link: nil, random: random)
      #expect((4_000_000...6_000_000).contains(schedule.nextProbe.nanoseconds))
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
  static let quiet = ProbeSchedule.Link(deviation: 1.5e-6, roundTrip: .microseconds(400))
  static let noisyWire = ProbeSchedule.Link(deviation: 4e-6, roundTrip: .microseconds(400))
  static let radio = ProbeSchedule.Link(deviation: 20e-6, roundTrip: .milliseconds(3))
}
