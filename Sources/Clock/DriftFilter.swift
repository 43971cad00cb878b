/// A Kalman filter of two states: how far one clock is from another, and how fast that changes. The change itself wanders, as
/// the rate of a crystal does when its temperature changes. Also on the render thread.
package struct DriftFilter: Sendable {
  /// In seconds.
  package var offset: Double
  /// Seconds a second.
  package var drift: Double
  /// Of `offset`, in s².
  package private(set) var variance: Double
  /// Of `offset` and `drift`, in s.
  private var covariance = 0.0
  /// Of `drift`, dimensionless.
  package private(set) var driftVariance: Double

  /// `variance` is in s², `drift` and `driftDeviation` are in seconds a second.
  @_noLocks @_noAllocation
  package init(offset: Double, variance: Double, drift: Double, driftDeviation: Double) {
    self.offset = offset
    self.variance = variance
    self.drift = drift
    driftVariance = driftDeviation * driftDeviation
  }

  /// Predicts both for `seconds` later. The drift's standard deviation grows by `wander` in a second: in 1/√s.
  @_noLocks @_noAllocation
  package mutating func advance(by seconds: Double, wander: Double) {
    let growth = wander * wander * seconds
    let grown = covariance + seconds * driftVariance
    offset += drift * seconds
    variance += seconds * (covariance + grown) + growth * seconds * seconds / 3
    covariance = grown + growth * seconds / 2
    driftVariance += growth
  }

  /// Takes in a measurement that is `error` seconds above `offset` and has a variance of `noise`, in s².
  @_noLocks @_noAllocation
  package mutating func correct(by error: Double, noise: Double) {
    let expected = variance + noise
    let gain = variance / expected
    let driftGain = covariance / expected
    offset += gain * error
    drift += driftGain * error
    driftVariance -= driftGain * covariance
    variance *= 1 - gain
    covariance *= 1 - gain
  }

  /// Forgets the offset, and takes the drift to be uncertain by at least `driftDeviation`.
  @_noLocks @_noAllocation
  package mutating func restart(variance: Double, driftDeviation: Double) {
    offset = 0
    self.variance = variance
    covariance = 0
    driftVariance = max(driftVariance, driftDeviation * driftDeviation)
  }
}
