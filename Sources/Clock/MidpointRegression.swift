/// What midpoints say, by weighted least squares.
///
/// Where the noise of both directions has the same distribution, a midpoint is right on average, and the mean of many
/// of them converges faster than the corridor's edges do. How far back they count is found by trying: lines of eight
/// memories foretell each midpoint, and those that did best of late are mixed. All values are relative to a
/// corridor's line.
struct MidpointRegression: Hashable, Sendable {
  /// At the corridor's origin, in seconds.
  var intercept: Double
  /// Dimensionless.
  var slope: Double
  /// The standard deviation of `intercept` by the scatter of the midpoints, in seconds.
  var deviation: Double
  /// How far back midpoints count, in seconds: long where the clocks were steady of late.
  var memory: Double
  /// What unlike noise of the two directions may do to `intercept`, in seconds: an uncertainty, not a correction.
  var asymmetry: Double

  /// The lanes that are mixed: 64 s to 2 s. 128 s were no better.
  static let usedLanes = 1...6

  /// `nil` without midpoints. They are in order of their times, and relative to `line`.
  init?(
    through midpoints: [Midpoint], weighedBy weights: MidpointWeights,
    relativeTo line: CorridorLine,
    prior: SlopePrior, tuning: ClockTuning = ClockTuning()
  ) {
    guard let first = midpoints.first else { return nil }
    let span = max(0, -first.time)
    var sums = MidpointSums(
      priorSlope: prior.center - line.slope, deviation: prior.deviation(span: span),
      judgingLane: tuning.judgingLane)
    var position = first.time
    for (index, midpoint) in midpoints.enumerated() {
      let information = weights.information(of: midpoint)
      if midpoint.time > position { sums.advance(by: midpoint.time - position) }
      position = max(midpoint.time, position)
      if index >= 4 { sums.judge(midpoint, information: information) }
      sums.add(midpoint, information: information, excess: weights.excess(of: midpoint))
    }
    if position < 0 { sums.advance(by: -position) }
    self.init(mixing: sums, span: span, tuning: tuning)
  }

  /// Weighs each lane by what is expected of its memory, and by the likelihood of what it foretold.
  private init(mixing sums: MidpointSums, span: Double, tuning: ClockTuning) {
    let lines = sums.solution()
    let lanes = Self.usedLanes
    var least = Double.infinity
    for lane in lanes { least = min(least, sums.surprise[lane]) }
    // The claimed variances are right but for a factor, which the best lane's errors tell.
    let scale = sums.judgedCount > 0 ? max(least / sums.judgedCount, 1e-3) : 1
    let noise: MidpointSums.Lanes = lines.variance * max(scale, Self.leastScale)
    // No memory is longer than what there is to remember.
    let memories = pointwiseMin(MidpointSums.memories, MidpointSums.Lanes(repeating: span))
    let bias = Self.bias(of: memories, by: sums, span: span, tuning: tuning)
    let expected: MidpointSums.Lanes = noise + bias * bias
    var smallest = Double.infinity
    for lane in lanes { smallest = min(smallest, expected[lane]) }
    var share = MidpointSums.Lanes.zero
    for lane in lanes {
      // Of variances: to the eighth power of the deviations. The second to the sixteenth were scanned.
      let ratio = smallest / expected[lane]
      let likelihood = exponential(-0.5 * (sums.surprise[lane] - least) / scale)
      share[lane] = ratio * ratio * ratio * ratio * likelihood
    }
    share /= share.sum()
    intercept = (share * lines.intercept).sum()
    slope = (share * lines.slope).sum()
    var variance = 0.0
    for lane in lanes {
      let distance = lines.intercept[lane] - intercept
      variance += share[lane] * (noise[lane] + distance * distance)
    }
    deviation = tuning.inflation * variance.squareRoot()
    asymmetry = sums.asymmetry
    memory = (share * memories).sum()
  }

  /// What each of the `memories` errs by because crystals wander, in seconds: at first what is expected of any crystal, then what
  /// it has erred in the last minute beyond the memory that did best.
  private static func bias(
    of memories: MidpointSums.Lanes, by sums: MidpointSums, span: Double, tuning: ClockTuning
  ) -> MidpointSums.Lanes {
    let expected: MidpointSums.Lanes = tuning.expectedWander * memories * memories
    guard span >= tuning.steadySpan, sums.lastingInformation > 0 else { return expected }
    var best = Double.infinity
    for lane in usedLanes { best = min(best, sums.lastingSurprise[lane]) }
    let seen = (sums.lastingSurprise - best) / sums.lastingInformation
    let least: MidpointSums.Lanes = tuning.steadyWander * memories * memories
    let margin = tuning.biasMargin * tuning.biasMargin
    return (margin * pointwiseMax(seen, .zero) + least * least).squareRoot()
  }

  /// Few samples may agree by chance; their scatter counts for no less than this part of the claimed variance.
  private static let leastScale = 0.25
}
