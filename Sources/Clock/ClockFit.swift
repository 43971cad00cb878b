/// The line that the clocks are assumed to follow now: Kalman filters over the midpoints of all samples give it, and
/// the corridor limits it.
///
/// A midpoint is more exact the less its round trip exceeds the shortest one. Crystals differ in how fast they wander.
/// A filter that expects more wander follows sooner but averages less, so three filters run side by side. The line is
/// their mean, weighted by how well each of them predicted the midpoints of the last `evidenceTime`. If queues fill one
/// direction for long, all midpoints have the same bias. The corridor does not, because its edges are the fastest
/// packets.
struct ClockFit: Hashable, Sendable {
  /// Bounds the clocks, and decides which samples are possible.
  let corridor: Corridor
  /// The line that the clocks are assumed to follow; its origin is the corridor's.
  private(set) var line: ClockLine
  /// The standard deviation of the line at its origin, in seconds; `nil` if only the corridor's bounds are known.
  private(set) var deviation: Double?
  /// Largest error of the line's slope. Dimensionless.
  private(set) var slopeError: Double
  /// True if the filter that expects most wander predicted better than all others together.
  private(set) var isWandering = false
  /// Largest error of the corridor's middle, in seconds, whatever the queues did.
  private let causalBound: Double
  private var shift = 0.0

  init?(_ samples: [TimeSample], prior: SlopePrior) {
    guard let corridor = Corridor(through: samples, prior: prior) else { return nil }
    self.corridor = corridor
    line = corridor.middle
    slopeError = prior.halfWidth
    causalBound = max(corridor.halfMargin, 0) + prior.halfWidth * corridor.span
    guard samples.count >= Tuning.fewest else { return }
    let weights = MidpointWeights(samples)
    var filters = CompetingFilters(
      drift: prior.center, driftDeviation: prior.deviation(span: corridor.span))
    var time = samples[0].midpoint
    for sample in samples {
      let offset =
        0.5 * ((sample.upperOffset - line.base) + (sample.lowerOffset - line.base)).seconds
      filters.advance(by: (sample.midpoint - time).seconds)
      filters.take(offset, noise: weights.variance(of: sample))
      time = sample.midpoint
    }
    let mean = filters.mean
    let distance = mean.offset - line.intercept
    // If crystals wander, the corridor is narrower than the shortest round trip, and its middle is off by that.
    let bend = max(0, 0.5 * weights.shortest - corridor.halfMargin)
    let scatter = corridor.scatter + Tuning.certainty * Facts.stampError
    let allowed = Tuning.scatterShare * scatter + bend
    shift = min(max(distance, -allowed), allowed)
    line.intercept += shift
    line.slope = mean.drift
    isWandering = mean.isWandering
    line.lastingSlope = filters.steadiest.drift
    slopeError =
      Tuning.certainty * filters.steadiest.driftVariance.squareRoot()
      + abs(line.slope - line.lastingSlope)
    let excess = distance - shift
    deviation = (mean.variance + excess * excess).squareRoot()
  }

  /// Returns the largest error of `line` at `time`, in seconds, provided that the fastest packets of both directions
  /// take equally long.
  func error(at time: LocalTime) -> Double {
    var error = causalBound + abs(shift)
    // Samples of a shorter span may all have met the same queue.
    if let deviation, corridor.span >= Tuning.independentSpan {
      let variance = deviation * deviation + Facts.stampError * Facts.stampError
      error = min(error, Tuning.certainty * variance.squareRoot())
    }
    return error + wanderError(at: time)
  }

  /// Returns the part of that error that comes from extrapolation. Its quadratic term is the wander that `ageing`
  /// allows.
  func wanderError(at time: LocalTime) -> Double {
    let seconds = abs((time - line.origin).seconds)
    return slopeError * seconds + Facts.ageing * seconds * seconds
  }
}

extension ClockFit {
  /// True if the line is good enough to play by. The longer the span of the samples, the larger a deviation is
  /// accepted: samples of a short span may all have met the same queue, and on a bad link waiting longer is worse.
  var isGoodEnough: Bool {
    guard let deviation else { return false }
    return error(at: line.origin) <= Tuning.grossError
      || deviation <= Tuning.grossError * corridor.span / Tuning.independentSpan
  }

  /// Returns by how much a packet may be faster than the fastest before, in seconds, if neither a clock was stepped nor
  /// a stamp is wrong. The scatter can be small by chance, and a line with a large deviation contradicts correct
  /// samples, too.
  func tolerance(at time: LocalTime) -> Double {
    Tuning.grossError + max(corridor.scatter, deviation ?? 0) + wanderError(at: time)
  }
}

/// Weighs midpoints: the less their round trips exceed the shortest possible one, the more exact they are.
private struct MidpointWeights {
  /// The shortest round trip, in seconds.
  let shortest: Double
  /// Assumed distance of the shortest round trip from the shortest possible one, in seconds.
  private let gap: Double

  init(_ samples: [TimeSample]) {
    let trips = smallest(of: samples.lazy.map(\.roundTrip.seconds))
    shortest = trips.least
    gap = Tuning.gapFactor * trips.scatter
  }

  /// Returns the variance of the midpoint's offset, in s².
  func variance(of sample: TimeSample) -> Double {
    let deviation = Tuning.excessShare * (sample.roundTrip.seconds - shortest + gap)
    return Facts.stampError * Facts.stampError + deviation * deviation
  }
}

/// Filters that expect different wanders, with a score of how well each has predicted the newest midpoints.
private struct CompetingFilters {
  private var filters: [DriftFilter]
  /// Log-likelihood of each filter, without the handicap.
  private var evidence: [Double]

  init(drift: Double, driftDeviation: Double) {
    let unknown = DriftFilter(
      offset: 0, variance: 1, drift: drift, driftDeviation: driftDeviation)
    filters = Array(repeating: unknown, count: Facts.wanders.count)
    evidence = Array(repeating: 0, count: Facts.wanders.count)
  }

  mutating func advance(by seconds: Double) {
    let fade = 1 / (1 + seconds / Tuning.evidenceTime)
    for index in filters.indices {
      filters[index].advance(by: seconds, wander: Facts.wanders[index])
      evidence[index] *= fade
    }
  }

  mutating func take(_ offset: Double, noise: Double) {
    for index in filters.indices {
      let error = offset - filters[index].offset
      let surplus = filters[index].variance / noise
      // A filter that is less certain than a single midpoint makes no useful prediction.
      if surplus < 1 {
        let square = error * error / (filters[index].variance + noise)
        evidence[index] -=
          0.5 * (min(square, Tuning.certainty * Tuning.certainty) + logarithm(onePlus: surplus))
      }
      filters[index].correct(by: error, noise: noise)
    }
  }

  var steadiest: DriftFilter { filters[0] }

  /// The weighted mean of the filters. Its variance includes their disagreement.
  var mean: (offset: Double, drift: Double, variance: Double, isWandering: Bool) {
    let scores = evidence.indices.map { evidence[$0] - Tuning.handicap * Double($0) }
    let best = scores.max() ?? 0
    let weights = scores.map { exponential($0 - best) }
    let sum = weights.reduce(0, +)
    let isWandering = 2 * weights[weights.count - 1] > sum
    var mean = (offset: 0.0, drift: 0.0, variance: 0.0, isWandering: isWandering)
    for (filter, weight) in zip(filters, weights) {
      mean.offset += weight / sum * filter.offset
      mean.drift += weight / sum * filter.drift
    }
    for (filter, weight) in zip(filters, weights) {
      let distance = filter.offset - mean.offset
      mean.variance += weight / sum * (filter.variance + distance * distance)
    }
    return mean
  }
}

/// Returns the logarithm of 1 + `x`, for 0...1, to 0.1 % of itself: a Padé approximant.
private func logarithm(onePlus x: Double) -> Double { x * (6 + x) / (6 + 4 * x) }

/// Returns e to the power of `z`, which is not positive: the 64th power of a short series, to 2e-4 of itself above -20.
private func exponential(_ z: Double) -> Double {
  guard z > -40 else { return 0 }
  let y = z / 64
  var power = 1 + y * (1 + y * (0.5 + y * (1.0 / 6 + y * (1.0 / 24 + y / 120))))
  for _ in 0..<6 { power *= power }
  return power
}
