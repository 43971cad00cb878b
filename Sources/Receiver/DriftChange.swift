/// How fast the drift of a card changes, on average over the last half minute. Lives on the render thread.
struct DriftChange: Sendable {
  /// In 1/s: 1e-7 is a tenth of a ppm a second, which it is taken for at first, as a card does that warms up.
  private(set) var perSecond = 1e-7

  /// The drift, averaged over two times: where it changes steadily, they are apart by what it changes in their difference.
  private var near = 0.0
  private var far = 0.0
  private var watched = 0.0

  @_noLocks @_noAllocation
  init() {}

  /// Takes in the drift as it is `seconds` later.
  @_noLocks @_noAllocation
  mutating func observe(_ drift: Double, after seconds: Double) {
    watched = min(watched + seconds, 1000)
    // A drift that was just learned has not changed.
    guard watched > Self.learning else {
      near = drift
      far = drift
      return
    }
    near += (drift - near) * min(seconds / Self.nearTime, 1)
    far += (drift - far) * min(seconds / Self.farTime, 1)
    let slope = (near - far).magnitude / (Self.farTime - Self.nearTime)
    perSecond += (slope - perSecond) * min(seconds / Self.averaging, 1)
  }

  /// In seconds. The first seconds of a card tell its drift; guarded by `DriftChangeTests`.
  private static var learning: Double { @_noLocks @_noAllocation get { 5 } }
  private static var nearTime: Double { @_noLocks @_noAllocation get { 4 } }
  private static var farTime: Double { @_noLocks @_noAllocation get { 12 } }
  private static var averaging: Double { @_noLocks @_noAllocation get { 30 } }
}
