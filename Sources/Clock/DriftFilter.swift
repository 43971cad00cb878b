/// A Kalman filter of two states: the offset of one clock from another, and the rate at which it changes. That rate
/// wanders, as the rate of a crystal does when its temperature changes. Also used on the render thread.
package struct DriftFilter: Sendable {
  /// In seconds.
  package var offset: Double
  /// Seconds per second.
  package var drift: Double
  /// Variance of `offset`, in s².
  package private(set) var variance: Double
  /// Covariance of `offset` and `drift`, in s.
  private var covariance = 0.0
  /// Variance of `drift`, dimensionless.
  package private(set) var driftVariance: Double

  /// `variance` is in s², `drift` and `driftDeviation` are in seconds per second.
  @_noLocks @_noAllocation
  package init(offset: Double, variance: Double, drift: Double, driftDeviation: Double) {
    self.offset = offset
    self.variance = variance
    self.drift = drift
    driftVariance = driftDeviation * driftDeviation
  }

  /// Predicts offset and drift for `seconds` later. `wander`, in 1/√s, is the growth of the drift's standard deviation
  /// in one second.
  @_noLocks @_noAllocation
  package mutating func advance(by seconds: Double, wander: Double) {
    let growth = wander * wander * seconds
    let grown = covariance + seconds * driftVariance
    offset += drift * seconds
    variance += seconds * (covariance + grown) + growth * seconds * seconds / 3
    covariance = grown + growth * seconds / 2
    driftVariance += growth
  }

  /// Corrects the prediction by a measurement that is `error` seconds above `offset` and has a variance of `noise`, in
  /// s².
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

  /// Forgets the offset, and assumes that the drift is uncertain by at least `driftDeviation`.
  @_noLocks @_noAllocation
  package mutating func restart(variance: Double, driftDeviation: Double) {
    offset = 0
    self.variance = variance
    covariance = 0
    driftVariance = max(driftVariance, driftDeviation * driftDeviation)
  }
}
