/// When the next time request is due: densely at the start, so that playing can begin at once, then as often as
/// the link needs it. No two intervals are alike, lest the probes keep step with beacons or other periodic
/// traffic.
package struct ProbeSchedule: Hashable, Sendable {
  /// The way to the other clock, as far as it decides how often to ask.
  package struct Link: Hashable, Sendable {
    /// What the estimate may be off, as a standard deviation in seconds.
    package var deviation: Double
    /// The usual one.
    package var roundTrip: Nanoseconds

    package init(deviation: Double, roundTrip: Nanoseconds) {
      self.deviation = deviation
      self.roundTrip = roundTrip
    }
  }

  /// When to send the next request.
  package private(set) var nextProbe: LocalTime

  /// Whether nothing is playing; a probe a second keeps the estimate warm then.
  package private(set) var isIdle = false

  private let tuning: ClockTuning
  private var restartedAt: LocalTime
  private var sentSinceRestart = 0

  package init(startingAt now: LocalTime, tuning: ClockTuning = ClockTuning()) {
    nextProbe = now
    restartedAt = now
    self.tuning = tuning
  }

  /// Begins again with the dense probes: after a step, a reset, or a change of the path.
  package mutating func restart(at now: LocalTime) {
    nextProbe = now
    restartedAt = now
    sentSinceRestart = 0
  }

  /// Falls to the idle rate, once the clocks are known.
  package mutating func rest() { isIdle = true }

  /// Leaves the idle rate, with a probe at once.
  package mutating func wake(at now: LocalTime) {
    isIdle = false
    nextProbe = min(nextProbe, now)
  }

  /// Notes that a request went out at `now`, and sets `nextProbe`. `link` is what is known of the way to the
  /// other clock, if anything is. `random` is any 64 random bits.
  package mutating func sent(at now: LocalTime, link: Link?, random: UInt64) {
    sentSinceRestart = min(sentSinceRestart + 1, Self.quickProbes)
    let interval = interval(at: now, link: link)
    // 53 bits make a `Double` in 0..<1.
    let factor = 0.8 + 0.4 * Double(random >> 11) * 0x1p-53
    nextProbe = now + Nanoseconds(Int64(interval * factor * 1e9))
  }

  /// Sixty-four probes within 160 ms lock a wired receiver before it could have buffered its first audio. Guarded by the
  /// tests of a quick start.
  static let quickProbes = 64

  /// For half a minute forty probes each at least: the drift is not known yet, and each of them narrows it. A radio that
  /// scatters is asked four times as often, but no sooner than an answer takes: closer packets share their delays.
  static let learningTime = Nanoseconds.seconds(30)

  /// In seconds.
  private func interval(at now: LocalTime, link: Link?) -> Double {
    if sentSinceRestart < Self.quickProbes { return tuning.shortestInterval }
    let isLearning = now - restartedAt < Self.learningTime
    if isIdle, !isLearning { return 1 }
    let seldom = isLearning ? tuning.longestInterval : Self.longestPause
    guard let link else { return seldom }
    let wanted = tuning.roundTripsApart * link.roundTrip.seconds
    let interval = min(max(wanted, tuning.shortestInterval), tuning.longestInterval)
    if link.deviation > tuning.tolerableDeviation {
      let often = tuning.longestInterval / (isLearning ? 4 : 2)
      return min(interval, max(often, min(link.roundTrip.seconds, tuning.longestInterval / 2)))
    }
    let ratio = tuning.sufficientDeviation / max(link.deviation, 1e-9)
    guard ratio > 1 else { return interval }
    // By degrees: the clocks are steady, but may begin to wander.
    return min(interval * ratio * ratio * ratio * ratio, seldom)
  }

  /// Between probes of clocks that are well known, in seconds.
  static let longestPause = 0.2
}
