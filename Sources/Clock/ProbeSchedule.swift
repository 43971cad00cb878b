/// Decides when the next time request is due: densely at the start, so that playing can begin at once, then 20 times a
/// second, more often while drifts wander, or once a second while nothing plays. The intervals are random, so that no
/// beacons or other traffic keep step with them.
package struct ProbeSchedule: Hashable, Sendable {
  /// The time at which to send the next request.
  package private(set) var nextProbe: LocalTime

  /// True while nothing plays; then one probe a second keeps the estimate warm.
  package private(set) var isIdle = false

  private var restartedAt: LocalTime
  private var sentSinceRestart = 0

  package init(startingAt now: LocalTime) {
    nextProbe = now
    restartedAt = now
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

  /// Notes that a request went out at `now`, and sets `nextProbe`. `random` is any 64 random bits.
  package mutating func sent(at now: LocalTime, isWandering: Bool, random: UInt64) {
    sentSinceRestart = min(sentSinceRestart + 1, Self.quickProbes)
    // 53 bits make a `Double` in 0..<1.
    let factor = 0.8 + 0.4 * Double(random >> 11) * 0x1p-53
    let interval = interval(at: now, isWandering: isWandering)
    nextProbe = now + Nanoseconds(Int64(Double(interval.count) * factor))
  }

  /// Sixty-four probes within 160 ms lock a wired receiver before it could have buffered its first audio.
  static let quickProbes = 64
  static let quickInterval = Nanoseconds.microseconds(2500)

  /// In the first half minute the drift is not known yet, and each probe narrows it down. The same is true while
  /// crystals warm up.
  static let learningTime = Nanoseconds.seconds(30)
  static let learningInterval = Nanoseconds.milliseconds(10)

  /// A request and its answer have 64 bytes each: 20 a second are 2 kB/s both ways, headers included.
  static let usualInterval = Nanoseconds.milliseconds(50)
  /// While nothing plays.
  static let idleInterval = Nanoseconds.seconds(1)

  private func interval(at now: LocalTime, isWandering: Bool) -> Nanoseconds {
    if sentSinceRestart < Self.quickProbes { return Self.quickInterval }
    if now - restartedAt < Self.learningTime { return Self.learningInterval }
    if isIdle { return Self.idleInterval }
    return isWandering ? Self.learningInterval : Self.usualInterval
  }
}
