import Clock

/// How fast the drift of a card changes, on average over the last half minute. Lives on the render thread.
struct DriftChange: Sendable {
  /// In 1/s: 1e-7 is a tenth of a ppm a second, which it is taken for at first, as a card does that warms up.
  private(set) var perSecond = 1e-7

  private var trend = SlopeTrend(near: 4, far: 12)
  private var watched = 0.0

  @_noLocks @_noAllocation
  init() {}

  /// Takes in the drift as it is `seconds` later.
  @_noLocks @_noAllocation
  mutating func observe(_ drift: Double, after seconds: Double) {
    watched = min(watched + seconds, 1000)
    // A drift that was just learned has not changed.
    guard watched > Self.learning else { return }
    trend.observe(drift, after: seconds)
    let slope = trend.perSecond.magnitude
    perSecond += (slope - perSecond) * min(seconds / Self.averaging, 1)
  }

  /// In seconds. The first seconds of a card tell its drift; guarded by `DriftChangeTests`.
  private static var learning: Double { @_noLocks @_noAllocation get { 5 } }
  private static var averaging: Double { @_noLocks @_noAllocation get { 30 } }
}
