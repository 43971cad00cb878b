/// The drift between two clocks as it is known without their samples.
struct SlopePrior: Hashable, Sendable {
  /// Group seconds per local second, minus one.
  var center: Double
  /// Largest distance of the drift from `center`. Dimensionless.
  var halfWidth: Double

  /// Nothing is known.
  static let unknown = SlopePrior(center: 0, halfWidth: Facts.ordinaryDrift)

  /// Nothing is known, and the clocks have contradicted the ordinary drift.
  static let contradicted = SlopePrior(center: 0, halfWidth: Facts.largestDrift)

  /// The drift was measured before, to `error`; it may have changed since.
  static func measured(_ drift: Double, error: Double = 0) -> SlopePrior {
    SlopePrior(center: drift, halfWidth: min(Facts.driftChange + error, Facts.ordinaryDrift))
  }

  /// Returns the slopes to choose from, given samples over `span` seconds. Samples of less than `independentSpan` could
  /// make any slope, so only `center` is left. Samples of more than the time for which a receiver learns the drift are
  /// more exact than the prior, so every possible drift is allowed.
  func range(span: Double) -> ClosedRange<Double> {
    if span < Tuning.independentSpan { return center...center }
    let width = halfWidth(span: span)
    return (center - width)...(center + width)
  }

  /// Returns the standard deviation of a drift that is equally likely to be anywhere in the range.
  func deviation(span: Double) -> Double { halfWidth(span: span) / 3.0.squareRoot() }

  private func halfWidth(span: Double) -> Double {
    span > ProbeSchedule.learningTime.seconds ? Facts.largestDrift : halfWidth
  }
}
