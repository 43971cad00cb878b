/// When the next time request is due: densely at the start, so that playing can begin at once, then as often as
/// the link needs it. No two intervals are alike, lest the probes keep step with beacons or other periodic
/// traffic.
package struct ProbeSchedule: Hashable, Sendable {
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

  /// Notes that a request went out at `now`, and sets `nextProbe`. `medianExcess` is the median round trip less
  /// the shortest, if known. `random` is any 64 random bits.
  package mutating func sent(at now: LocalTime, medianExcess: Nanoseconds?, random: UInt64) {
    sentSinceRestart = min(sentSinceRestart + 1, Self.quickProbes + Self.slowProbes)
    let interval = interval(at: now, medianExcess: medianExcess ?? .zero)
    // 53 bits make a `Double` in 0..<1.
    let factor = 0.8 + 0.4 * Double(random >> 11) * 0x1p-53
    nextProbe = now + Nanoseconds(Int64(Double(interval.count) * factor))
  }

  private init(startingAt now: LocalTime, isIdle: Bool) {
    self.init(startingAt: now)
    self.isIdle = isIdle
  }

  /// Thirty-two probes within 160 ms lock a wired receiver before it could have buffered its first audio, and
  /// sixteen more within half a second show Wi-Fi's fastest packets. Guarded by the tests of a quick start.
  static let quickProbes = 32
  static let slowProbes = 16

  /// For ten seconds forty probes each: the drift is not known yet, and each of them narrows it.
  static let learningTime = Nanoseconds.seconds(10)

  /// A link whose usual round trip is this much above its shortest keeps forty probes a second instead of five: its
  /// scatter has to be averaged away, faster than the clocks wander. That is 7 kB/s in each direction. 60 µs is above that of an idle wire without switches. Probes in trains do not
  /// help: the switch keeps their order, so that the later ones repeat the delay of the first.
  static let noisyExcess = Nanoseconds.microseconds(60)

  private func interval(at now: LocalTime, medianExcess: Nanoseconds) -> Nanoseconds {
    if sentSinceRestart < Self.quickProbes { return .milliseconds(5) }
    if sentSinceRestart < Self.quickProbes + Self.slowProbes { return .milliseconds(30) }
    if now - restartedAt < Self.learningTime { return .milliseconds(25) }
    if isIdle { return .seconds(1) }
    return medianExcess > Self.noisyExcess ? .milliseconds(25) : .milliseconds(200)
  }
}
