/// The line that the clocks are taken to follow now: Kalman filters over the midpoints of all samples, kept within what the
/// corridor allows.
///
/// A midpoint is the more exact the less its round trip exceeds the shortest one. Crystals differ in how fast they
/// wander, and a filter that expects more wander follows sooner but averages less, so three filters run side by side
/// and the line is their mean, weighed by how well each of them predicted the midpoints of the last `evidenceTime`.
/// If queues fill one direction for long, all midpoints have the same bias. The corridor does not, because its edges
/// are the fastest packets.
struct ClockLine: Hashable, Sendable {
  /// Where `intercept` holds: the midpoint of the newest sample.
  var origin: LocalTime
  /// What `intercept` is relative to; offsets themselves do not fit a `Double`.
  var base: Nanoseconds
  /// Group less local time at `origin`, less `base`, in seconds.
  var intercept: Double
  /// Group seconds that pass in a local second, less one, at `origin` and in the long run.
  var slope: Double
  var lastingSlope: Double
  /// The standard deviation of `intercept`, in seconds; `nil` where only the corridor's bounds are known.
  var deviation: Double?
  /// How far `intercept` is from the corridor's middle, in seconds.
  var shift = 0.0

  /// Time constant, in seconds, with which extrapolation moves from the present slope to the lasting one. A slope
  /// that was measured over a few seconds says nothing about the next minutes.
  static let slopeMemory = 10.0

  init(_ corridor: CorridorLine) {
    origin = corridor.origin
    base = corridor.base
    intercept = corridor.intercept
    slope = corridor.slope
    lastingSlope = corridor.slope
  }

  /// With fewer midpoints, their own scatter cannot be told.
  static let leastMidpoints = 6

  /// Largest distance of the line from the corridor's middle: `toleratedNoise` (dimensionless) times the corridor's
  /// noise, plus `toleratedWander` (seconds), the wander within two minutes. Guarded by `ClockLineTests`.
  static let toleratedNoise = 2.0
  static let toleratedWander = 8e-6

  init(_ corridor: CorridorLine, through samples: [TimeSample], prior: SlopePrior) {
    self.init(corridor)
    guard samples.count >= Self.leastMidpoints else { return }
    let weights = MidpointWeights(samples)
    var filters = CompetingFilters(prior: prior, span: corridor.span)
    var time = samples[0].midpoint
    for sample in samples {
      let offset = 0.5 * ((sample.upperOffset - base) + (sample.lowerOffset - base)).seconds
      filters.advance(by: (sample.midpoint - time).seconds)
      filters.take(offset, noise: weights.variance(of: sample))
      time = sample.midpoint
    }
    let mean = filters.mean
    let distance = mean.offset - intercept
    let bend = max(0, 0.5 * weights.shortest - corridor.halfMargin - corridor.noise)
    let allowed = Self.toleratedNoise * corridor.noise + bend + Self.toleratedWander
    shift = min(max(distance, -allowed), allowed)
    intercept += shift
    slope = mean.drift
    lastingSlope = filters.steadiest.drift
    let excess = distance - shift
    deviation = (mean.variance + excess * excess).squareRoot()
  }
}

extension ClockLine {
  /// Group less local time at `time`, less `base`, in seconds.
  func relativeOffset(at time: LocalTime) -> Double {
    let seconds = (time - origin).seconds
    let present = seconds / (1 + max(seconds, 0) / Self.slopeMemory)
    return intercept + lastingSlope * seconds + (slope - lastingSlope) * present
  }

  /// Group seconds that pass in a local second at `time`, less one.
  func slope(at time: LocalTime) -> Double {
    let fade = 1 + max((time - origin).seconds, 0) / Self.slopeMemory
    return lastingSlope + (slope - lastingSlope) / (fade * fade)
  }

  /// Group less local time at `time`.
  func offset(at time: LocalTime) -> Nanoseconds {
    base + Nanoseconds(saturating: relativeOffset(at: time) * 1e9)
  }

  /// The same line, relative to another base, so that two lines can be compared.
  func relativeOffset(at time: LocalTime, base other: Nanoseconds) -> Double {
    relativeOffset(at: time) + (base - other).seconds
  }
}

/// How exact midpoints are: the more, the less their round trips exceed the shortest possible one.
private struct MidpointWeights {
  /// Of the round trips, in seconds.
  let shortest: Double
  /// How far the shortest is taken to be above the shortest possible, in seconds.
  private let gap: Double

  /// Standard deviation of a midpoint divided by the excess of its round trip over the shortest possible one.
  /// Dimensionless, 0.1...0.3: 0.5 in the worst case, 0.29 if all divisions of the excess between the directions are
  /// equally likely, and less if several hops add up. Chosen on wires with two hops.
  private static let excessShare = 0.18

  /// Assumed distance of the shortest round trip from the shortest possible one, divided by its distance from the
  /// sixth shortest. Dimensionless, 1...4. With 0, the few shortest would outweigh all others.
  private static let gapFactor = 2.0

  /// Standard deviation of a midpoint with the shortest round trip, in seconds: the error of the timestamps.
  private static let stampError = 2e-6

  init(_ samples: [TimeSample]) {
    let least = smallest(6, of: samples.lazy.map(\.roundTrip.seconds))
    shortest = least.first ?? 0
    gap = Self.gapFactor * ((least.last ?? 0) - shortest)
  }

  /// Of the midpoint's offset, in s².
  func variance(of sample: TimeSample) -> Double {
    let deviation = Self.excessShare * (sample.roundTrip.seconds - shortest + gap)
    return Self.stampError * Self.stampError + deviation * deviation
  }
}

/// Filters that expect different wanders, and how well each has predicted the newest midpoints.
private struct CompetingFilters {
  /// Wander that each filter expects, in 1/√s: a crystal at room temperature, one in a machine whose load changes,
  /// and one that warms up by a tenth of a ppm a second and more.
  private static let wanders = [1e-9, 2e-8, 5e-7]

  /// Time constant, in seconds, with which the likelihood of old predictions fades; 6...20 give the same results.
  private static let evidenceTime = 20.0

  /// Prior disadvantage of each filter against the next steadier one, as the logarithm of a likelihood.
  /// Dimensionless, above 0, because queues that outlast a probe interval look like wander.
  private static let handicap = 1.0

  /// A midpoint whose squared error exceeds this many times its variance is an outlier: three standard deviations.
  private static let outlier = 9.0

  private var filters: [DriftFilter]
  /// Log-likelihood of each filter, without the handicap.
  private var evidence: [Double]

  init(prior: SlopePrior, span: Double) {
    let unknown = DriftFilter(
      offset: 0, variance: 1, drift: prior.center, driftDeviation: prior.deviation(span: span))
    filters = Array(repeating: unknown, count: Self.wanders.count)
    evidence = Array(repeating: 0, count: Self.wanders.count)
  }

  mutating func advance(by seconds: Double) {
    let fade = 1 / (1 + seconds / Self.evidenceTime)
    for index in filters.indices {
      filters[index].advance(by: seconds, wander: Self.wanders[index])
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
        evidence[index] -= 0.5 * (min(square, Self.outlier) + logarithm(onePlus: surplus))
      }
      filters[index].correct(by: error, noise: noise)
    }
  }

  var steadiest: DriftFilter { filters[0] }

  /// Its variance includes the disagreement of the filters.
  var mean: (offset: Double, drift: Double, variance: Double) {
    let scores = evidence.indices.map { evidence[$0] - Self.handicap * Double($0) }
    let best = scores.max() ?? 0
    let weights = scores.map { exponential($0 - best) }
    let sum = weights.reduce(0, +)
    var mean = (offset: 0.0, drift: 0.0, variance: 0.0)
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

/// The logarithm of 1 + `x`, for 0...1, to 0.1 % of itself: a Padé approximant.
private func logarithm(onePlus x: Double) -> Double { x * (6 + x) / (6 + 4 * x) }

/// e to the power of `z`, which is not positive: the 64th power of a short series, to 2e-4 of itself above -20.
private func exponential(_ z: Double) -> Double {
  guard z > -40 else { return 0 }
  let y = z / 64
  var power = 1 + y * (1 + y * (0.5 + y * (1.0 / 6 + y * (1.0 / 24 + y / 120))))
  for _ in 0..<6 { power *= power }
  return power
}
