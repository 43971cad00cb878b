/// How fast a drift changes, in 1/s: 1e-7 is a tenth of a ppm a second. From two averages of it: where it changes steadily, they
/// are apart by what it changes in the difference of their times. Also on the render thread.
package struct SlopeTrend: Hashable, Sendable {
  private let nearTime: Double
  private let farTime: Double
  private var near = 0.0
  private var far = 0.0
  private var isEmpty = true

  /// The times in seconds, the second the longer.
  @_noLocks @_noAllocation
  package init(near: Double, far: Double) {
    nearTime = near
    farTime = far
  }

  package var perSecond: Double {
    @_noLocks @_noAllocation get { (near - far) / (farTime - nearTime) }
  }

  /// Takes in the drift, dimensionless, as it is `seconds` later.
  @_noLocks @_noAllocation
  package mutating func observe(_ drift: Double, after seconds: Double) {
    guard !isEmpty else {
      isEmpty = false
      near = drift
      far = drift
      return
    }
    near += (drift - near) * min(max(seconds / nearTime, 0), 1)
    far += (drift - far) * min(max(seconds / farTime, 0), 1)
  }
}
