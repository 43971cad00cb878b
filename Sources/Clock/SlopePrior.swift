/// Prior knowledge of the drift between two clocks, and how long it holds.
struct SlopePrior: Hashable, Sendable {
  /// Group seconds that pass in a local second, less one.
  var center: Double
  /// How far off `center` the drift may be, while `opensAfter` has not passed.
  var halfWidth: Double
  /// Below this span of samples, in seconds, the samples cannot improve on `center`: noise over a short span
  /// makes any slope.
  var fixedBelow: Double
  /// Span of samples, in seconds, from which on they are more exact than the prior.
  var opensAfter: Double

  /// For two unknown crystals: ±100 ppm, and no slope from samples of less than a second. Guarded by the golden
  /// vectors.
  static let cold = SlopePrior(center: 0, halfWidth: 100e-6, fixedBelow: 1, opensAfter: .infinity)

  /// For clocks that contradict the prior in use: ±500 ppm is beyond any crystal that audio runs on. Guarded
  /// by the test of a drift outside the prior.
  static let contradicted = SlopePrior(
    center: 0, halfWidth: 500e-6, fixedBelow: 1, opensAfter: .infinity)

  /// A drift that was measured in an earlier session: crystals move by less than 3 ppm between two evenings in
  /// one room. Guarded by the test of a cold start with a stored drift.
  static func stored(_ drift: Double) -> SlopePrior {
    SlopePrior(center: drift, halfWidth: 3e-6, fixedBelow: 0, opensAfter: 20)
  }

  /// A drift that was measured until a moment ago, ±2 ppm. Guarded by the golden vectors with a step; 60 s are
  /// the span at which the samples of a bad network give a slope to 2 ppm.
  static func carried(_ drift: Double) -> SlopePrior {
    SlopePrior(center: drift, halfWidth: 2e-6, fixedBelow: 1, opensAfter: 60)
  }

  /// How far the samples may move the drift off the prior's center once it no longer binds.
  private static let openHalfWidth = 120e-6

  /// The standard deviation of the drift around `center`, given samples over `span` seconds: 40 ppm for two
  /// crystals that nothing is known about.
  func deviation(span: Double) -> Double {
    0.4 * (span > opensAfter ? Self.openHalfWidth : halfWidth)
  }

  func isFixed(span: Double) -> Bool { span < fixedBelow }

  /// The slopes to choose from, given samples over `span` seconds.
  func range(span: Double) -> ClosedRange<Double> {
    if isFixed(span: span) { return center...center }
    let width = span > opensAfter ? Self.openHalfWidth : halfWidth
    return (center - width)...(center + width)
  }
}
