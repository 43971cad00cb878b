/// What is known of the drift between two clocks before their samples are.
struct SlopePrior: Hashable, Sendable {
  /// Group seconds that pass in a local second, less one.
  var center: Double
  /// How far off `center` the drift may be. Dimensionless.
  var halfWidth: Double

  /// Nothing is known.
  static let unknown = SlopePrior(center: 0, halfWidth: Facts.ordinaryDrift)

  /// Nothing is known, and the clocks have contradicted the ordinary.
  static let contradicted = SlopePrior(center: 0, halfWidth: Facts.largestDrift)

  /// Measured before, to `error`; it may have changed since.
  static func measured(_ drift: Double, error: Double = 0) -> SlopePrior {
    SlopePrior(center: drift, halfWidth: min(Facts.driftChange + error, Facts.ordinaryDrift))
  }

  /// The slopes to choose from, given samples over `span` seconds. Those of less than `independentSpan` make any slope;
  /// those of the time for which a receiver learns the drift are more exact than the prior.
  func range(span: Double) -> ClosedRange<Double> {
    if span < Tuning.independentSpan { return center...center }
    let width = halfWidth(span: span)
    return (center - width)...(center + width)
  }

  /// The standard deviation of a drift that is equally likely to be anywhere in the range.
  func deviation(span: Double) -> Double { halfWidth(span: span) / 3.0.squareRoot() }

  private func halfWidth(span: Double) -> Double {
    span > ProbeSchedule.learningTime.seconds ? Facts.largestDrift : halfWidth
  }
}
