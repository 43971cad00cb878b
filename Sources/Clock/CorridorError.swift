/// How far off a corridor's line may be, if the fastest packets of both directions take equally long. All in
/// seconds.
extension CorridorLine {
  /// Largest distance of the fastest packets from the fastest possible ones, as a multiple of the corridor's
  /// `scatter`. Dimensionless, 1...3. 0.3 fails `ErrorBoundTests` on Wi-Fi; 1.5 leaves room for links that scatter in
  /// other ways than the simulated ones.
  static let scatterFactor = 1.5

  /// Samples over a shorter span, in seconds, may all have met the same queue, so that their scatter tells
  /// nothing, and only causality bounds the error.
  static let independentSpan = 0.9

  /// Least error of a corridor, in seconds, 1e-6...10e-6: the wander of the clocks within the window. Guarded by
  /// `ErrorBoundTests`.
  static let errorFloor = 6e-6

  /// Least error of a slope. Dimensionless. Guarded by `ErrorBoundTests`.
  static let leastSlopeError = 1e-7

  /// At the line's origin. A slope that was not fitted may be wrong over the whole span.
  func error(prior: SlopePrior) -> Double {
    var error = max(halfMargin, 0)
    if span >= Self.independentSpan {
      error = min(error, Self.scatterFactor * scatter) + Self.errorFloor
    }
    if prior.isFixed(span: span) { error += prior.halfWidth * span }
    return error + interceptError
  }

  /// Error that extrapolation by `age` may add. The quadratic term is the wander that `ageing` allows.
  func extrapolationError(over age: Nanoseconds, prior: SlopePrior) -> Double {
    let seconds = abs(age.seconds)
    let slope =
      prior.isFixed(span: span) ? prior.halfWidth : max(slopeError, Self.leastSlopeError)
    return slope * seconds + Self.ageing * seconds * seconds
  }
}
