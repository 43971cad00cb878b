/// How far off a corridor's line may be, if the fastest packets of both directions take equally long. All in
/// seconds.
extension CorridorLine {
  /// How far the fastest packets are from the fastest possible ones, at most, in terms of the corridor's
  /// `scatter`. Dimensionless, 1...3; 0.3 fails `ErrorBoundTests` on Wi-Fi, and 1.5 leaves room for links that
  /// scatter in other ways than the simulated ones.
  static let scatterFactor = 1.5

  /// Samples over a shorter span, in seconds, may all have met the same queue, so that their scatter tells
  /// nothing, and only causality bounds the error.
  static let independentSpan = 0.9

  /// What no corridor is better than, in seconds: the wander of the clocks within the window. Range 1...10 µs;
  /// guarded by `ErrorBoundTests`.
  static let errorFloor = 6e-6

  /// What is known of a drift at best, dimensionless. Guarded by `ErrorBoundTests`.
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

  /// What extrapolating by `age` may add. The square is the wander that the ageing allows for.
  func extrapolationError(over age: Nanoseconds, prior: SlopePrior) -> Double {
    let seconds = abs(age.seconds)
    let slope =
      prior.isFixed(span: span) ? prior.halfWidth : max(slopeError, Self.leastSlopeError)
    return slope * seconds + Self.ageing * seconds * seconds
  }
}
