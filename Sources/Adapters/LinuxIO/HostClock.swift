package import Clock
internal import Glibc

/// The only reader of a clock. Local time is CLOCK_MONOTONIC_RAW, which no time daemon slews or steps.
///
/// Every reading goes through the C library's `clock_gettime`, so that a test bench can interpose its own.
package enum HostClock {
  package static var now: LocalTime { LocalTime(nanoseconds: read(CLOCK_MONOTONIC_RAW)) }

  /// Returns the local time of a CLOCK_MONOTONIC stamp taken a short while ago. That clock is slewed by up to 500 ppm,
  /// so a stamp one second old may be 500 µs off. `nil` if the clocks could not be read close enough together.
  package static func localTime(ofMonotonic nanoseconds: Int64) -> LocalTime? {
    ClockPair.read(CLOCK_MONOTONIC).map { $0.localTime(of: nanoseconds) }
  }

  /// Returns the CLOCK_MONOTONIC stamp of a local time near now: the reverse of `localTime(ofMonotonic:)`.
  package static func monotonic(_ time: LocalTime) -> Int64? {
    ClockPair.read(CLOCK_MONOTONIC).map { $0.other &+ (time.nanoseconds &- $0.local.nanoseconds) }
  }

  /// Wall clock minus local time; `nil` if the two could not be read close enough together.
  package static var wallClockLead: Nanoseconds? {
    ClockPair.read(CLOCK_REALTIME).map { Nanoseconds($0.other &- $0.local.nanoseconds) }
  }

  /// Seconds by which clocks on the wall are ahead of UTC at a time, given in seconds since 1970. By `TZ`, else by
  /// `/etc/localtime`, also if that has changed.
  package static func zoneOffset(atSeconds seconds: Int64) -> Int64 {
    var time = time_t(seconds)
    var shown = tm()
    tzset()
    guard unsafe localtime_r(&time, &shown) != nil else { return 0 }
    return Int64(shown.tm_gmtoff)
  }

  /// The clock on the wall as people write it, in UTC.
  package static var utc: String {
    var seconds = time_t(read(CLOCK_REALTIME) / 1_000_000_000)
    var shown = tm()
    guard unsafe gmtime_r(&seconds, &shown) != nil else { return "" }
    func pair(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(1900 + shown.tm_year)-\(pair(shown.tm_mon + 1))-\(pair(shown.tm_mday))"
    return day + " \(pair(shown.tm_hour)):\(pair(shown.tm_min)):\(pair(shown.tm_sec)) UTC"
  }

  /// Total time for which this host has been suspended since it booted. Growth between two readings is a suspend; local
  /// time stands still during one.
  package static var timeSuspended: Nanoseconds {
    let before = read(CLOCK_MONOTONIC)
    let boot = read(CLOCK_BOOTTIME)
    let after = read(CLOCK_MONOTONIC)
    return Nanoseconds(boot &- before &- (after &- before) / 2)
  }

  static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

/// Reports that this host was suspended. Make one, and call it about once a second.
package struct SuspendDetector: Sendable {
  /// The thread may be interrupted between two readings, for milliseconds under load; no suspend is that short.
  static let shortest = Nanoseconds.milliseconds(200)

  private var base: Nanoseconds

  package init() { base = HostClock.timeSuspended }

  init(base: Nanoseconds) { self.base = base }

  /// Returns the length of the suspends between two readings of `HostClock.timeSuspended`; zero if there was none.
  package static func sleep(from before: Nanoseconds, to now: Nanoseconds) -> Nanoseconds {
    now - before >= shortest ? now - before : .zero
  }

  /// Returns the length of the suspend since the last call; `nil` if there was none.
  package mutating func suspendedSinceLastCall() -> Nanoseconds? {
    suspended(total: HostClock.timeSuspended)
  }

  mutating func suspended(total: Nanoseconds) -> Nanoseconds? {
    let growth = Self.sleep(from: base, to: total)
    guard growth > .zero else { return nil }
    base = total
    return growth
  }
}

/// A reading of another clock and of the local one at the same instant.
struct ClockPair {
  var other: Int64
  var local: LocalTime

  /// Largest distance of the two local readings around a usable one. Undisturbed they are 0.1 µs apart, 0.3 µs at the
  /// 99th percentile.
  static let widest = Nanoseconds.microseconds(5)
  static let attempts = 3

  /// Returns `nil` if the thread was interrupted at every attempt.
  static func read(_ clock: clockid_t) -> ClockPair? {
    for _ in 0..<attempts {
      let before = HostClock.read(CLOCK_MONOTONIC_RAW)
      let other = HostClock.read(clock)
      let after = HostClock.read(CLOCK_MONOTONIC_RAW)
      let width = after &- before
      if width <= widest.count {
        return ClockPair(other: other, local: LocalTime(nanoseconds: before &+ width / 2))
      }
    }
    return nil
  }

  func localTime(of stamp: Int64) -> LocalTime {
    LocalTime(nanoseconds: local.nanoseconds &+ (stamp &- other))
  }
}

/// Converts the kernel's CLOCK_REALTIME stamps to local time, and refuses them around a step of that clock.
///
/// A stamp may have waited for its reader. Meanwhile the clocks drifted apart, by 5 µs in 50 ms if a time daemon
/// corrects a crystal that is 100 ppm off, so the converter applies the rate between two readings to the stamp's age.
package struct RealtimeConverter: Sendable {
  /// A jump of CLOCK_REALTIME against local time beyond this is a step.
  static let smallestStep = Nanoseconds.microseconds(20)
  /// CLOCK_REALTIME may drift from local time by this much in a millisecond, which is 1000 ppm: the crystal's error
  /// (100 ppm) and the slewing of a time daemon (500 ppm), with a margin.
  static let greatestSlewPerMillisecond = Nanoseconds(1000)
  /// Oldest accepted stamp: longer than the interval of idle probes, whose answers wait for the next one. A stamp from
  /// the future is wrong.
  static let oldestStamp = Nanoseconds.seconds(2)
  /// Shortest time between the readings that measure the rate: over less, their own error would dominate.
  static let shortestBaseline = Nanoseconds.milliseconds(10)
  /// Longest time between them, because slewing begins and ends.
  static let longestBaseline = Nanoseconds.seconds(4)

  private typealias Reading = (offset: Int64, at: LocalTime)
  private var previous: Reading?
  /// The last reading that is `shortestBaseline` older than the previous one or the next.
  private var baseline: Reading?

  package init() {}

  /// Returns `nil` if the stamp cannot be trusted: use the local time of reading it instead.
  package mutating func localTime(ofRealtime nanoseconds: Int64) -> LocalTime? {
    guard let pair = ClockPair.read(CLOCK_REALTIME) else { return nil }
    return localTime(of: nanoseconds, by: pair)
  }

  mutating func localTime(of stamp: Int64, by pair: ClockPair) -> LocalTime? {
    let offset = pair.other &- pair.local.nanoseconds
    defer { previous = (offset, pair.local) }
    if let previous {
      let gap = pair.local - previous.at
      let tolerated =
        Self.smallestStep.count &+ gap.count / 1_000_000 &* Self.greatestSlewPerMillisecond.count
      guard (offset &- previous.offset).magnitude <= tolerated.magnitude else {
        baseline = nil
        return nil
      }
      if gap >= Self.shortestBaseline { baseline = previous }
    }
    let age = pair.other &- stamp
    guard age >= 0, age <= Self.oldestStamp.count else { return nil }
    return pair.localTime(of: stamp) + apart(over: age, until: (offset, pair.local))
  }

  /// Returns the gain of CLOCK_REALTIME on local time in the `age` nanoseconds before a reading.
  private func apart(over age: Int64, until now: Reading) -> Nanoseconds {
    guard let baseline, now.at - baseline.at <= Self.longestBaseline else { return .zero }
    let rate = Double(now.offset &- baseline.offset) / Double((now.at - baseline.at).count)
    return Nanoseconds(Int64((rate * Double(age)).rounded()))
  }
}
