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

  private var restartedAt: LocalTime
  private var sentSinceRestart = 0

  package init(startingAt now: LocalTime) {
    nextProbe = now
    restartedAt = now
  }

  /// Begins again with the dense probes: after a step, a reset, or a change of the path.
  package mutating func restart(at now: LocalTime) {
    self = ProbeSchedule(startingAt: now, isIdle: isIdle)
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
    nextProbe = now + Nanoseconds(Int64(Double(interval.count) * factor))
  }

  private init(startingAt now: LocalTime, isIdle: Bool) {
    self.init(startingAt: now)
    self.isIdle = isIdle
  }

  /// Sixty-four probes within 160 ms lock a wired receiver before it could have buffered its first audio. Guarded by the
  /// tests of a quick start.
  static let quickProbes = 64

  /// For half a minute forty probes each at least: the drift is not known yet, and each of them narrows it.
  static let learningTime = Nanoseconds.seconds(30)

  /// While the estimate's standard deviation is above this, in seconds, more than five probes a second go on: scatter has
  /// to be averaged away, and a clock that wanders leaves little time for that. Probes in trains do not help: the switch
  /// keeps their order, so that the later ones repeat the delay of the first.
  static let sufficientDeviation = 2e-6

  /// One probe in this many round trips then, within these limits: a wire carries 400 a second, and a radio is left
  /// alone for most of the time at 40. That is 68 and 7 kB/s in each direction.
  static let roundTripsApart: Int64 = 5
  static let intervals = Nanoseconds.microseconds(2500)...(.milliseconds(25))

  /// Above this standard deviation, in seconds, two rooms may be heard apart, and a radio is asked twice as often.
  static let tolerableDeviation = 20e-6

  private func interval(at now: LocalTime, link: Link?) -> Nanoseconds {
    if sentSinceRestart < Self.quickProbes { return Self.intervals.lowerBound }
    let isLearning = now - restartedAt < Self.learningTime
    if isIdle, !isLearning { return .seconds(1) }
    guard let link, link.deviation > Self.sufficientDeviation else {
      return isLearning ? Self.intervals.upperBound : .milliseconds(200)
    }
    let wanted = Nanoseconds(min(link.roundTrip.count, 1_000_000_000) * Self.roundTripsApart)
    let interval = min(max(wanted, Self.intervals.lowerBound), Self.intervals.upperBound)
    guard link.deviation > Self.tolerableDeviation else { return interval }
    return min(interval, Nanoseconds(Self.intervals.upperBound.count / 2))
  }
}
