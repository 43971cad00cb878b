/// Weighted sums over the midpoints of samples, one lane for each of eight memories: what a straight line by least
/// squares needs, and how well that line would have foretold each sample.
///
/// Values are relative to the newest sample that went in, so that old ones never dominate by their distance.
struct MidpointSums: Hashable, Sendable {
  typealias Lanes = SIMD8<Double>

  /// The memory of the first lane, in seconds; each lane's is half that of the one before.
  static let longestMemory = 128.0
  static let memories = Lanes(128, 64, 32, 16, 8, 4, 2, 1)

  /// The lane of 64 s, over whose memory steadiness is told.
  static let lastingLane = 1

  /// The lane of 32 s, over which the asymmetry is told, and those that foretell midpoints for it.
  static let asymmetryLane = 2
  private static let isUnusedForAsymmetry = Lanes(0, 1, 1, 1, 1, 1, 0, 0) .== 0

  /// Information on the slope that does not come from samples: its inverse variance, and the slope.
  let priorInformation: Double
  let priorSlope: Double
  /// The lane over whose memory the foretelling is judged.
  let judgingLane: Int

  private var s0 = Lanes.zero
  private var s1 = Lanes.zero
  private var s2 = Lanes.zero
  private var y0 = Lanes.zero
  private var y1 = Lanes.zero
  /// Squared errors of foretelling in units of the claimed variance, and how many.
  private(set) var surprise = Lanes.zero
  private(set) var judgedCount = 0.0
  /// The same squared errors in s² times the information of what was foretold, and that information: of the last minute.
  private(set) var lastingSurprise = Lanes.zero
  private(set) var lastingInformation = 0.0
  /// What the lane that did best of late made of the midpoint that was judged last.
  private var foretoldOffset = 0.0
  /// For the regression on the excess of the round trip.
  private var weight = 0.0
  private var excess = 0.0
  private var squaredExcess = 0.0
  private var offset = 0.0
  private var offsetTimesExcess = 0.0

  init(priorSlope: Double, deviation: Double, judgingLane: Int) {
    self.judgingLane = judgingLane
    priorInformation = 1 / (deviation * deviation)
    self.priorSlope = priorSlope
  }

  /// Moves the origin to `seconds` later, and fades what there is.
  mutating func advance(by seconds: Double) {
    var fade = exponential(-seconds / Self.longestMemory)
    var decay = Lanes.zero
    for lane in 0..<Lanes.scalarCount {
      decay[lane] = fade
      fade *= fade
    }
    let moved: Lanes = s1 - s0 * seconds
    s2 = (s2 - (s1 + moved) * seconds) * decay
    s1 = moved * decay
    y1 = (y1 - y0 * seconds) * decay
    s0 *= decay
    y0 *= decay
    surprise *= decay[judgingLane]
    judgedCount *= decay[judgingLane]
    lastingSurprise *= decay[Self.lastingLane]
    lastingInformation *= decay[Self.lastingLane]
    let slow = decay[Self.asymmetryLane]
    weight *= slow
    excess *= slow
    squaredExcess *= slow
    offset *= slow
    offsetTimesExcess *= slow
  }

  /// Compares a midpoint at the origin, in seconds, with what each lane makes of those before.
  mutating func judge(_ midpoint: Midpoint, information: Double) {
    let t2: Lanes = s2 + priorInformation
    let t1: Lanes = y1 + priorInformation * priorSlope
    let foretold: Lanes = (y0 * t2 - t1 * s1) / (s0 * t2 - s1 * s1)
    let error: Lanes = midpoint.offset - foretold
    let surplus: Lanes = (error * error + midpoint.pool.offsetVariance) * information
    surprise += surplus
    judgedCount += midpoint.pool.count
    lastingSurprise += surplus
    lastingInformation += information
    let rivals = surprise.replacing(with: .infinity, where: Self.isUnusedForAsymmetry)
    let isBest = rivals .== Lanes(repeating: rivals.min())
    foretoldOffset = foretold.replacing(with: -.infinity, where: .!isBest).max()
  }

  /// Adds a midpoint at the origin. `information` is the inverse of its variance, `excess` its round trip less the
  /// shortest, in seconds.
  mutating func add(_ midpoint: Midpoint, information: Double, excess: Double) {
    s0 += information
    y0 += information * midpoint.offset
    let surplus = midpoint.offset - foretoldOffset
    weight += information
    self.excess += information * excess
    squaredExcess += information * (excess * excess + midpoint.pool.roundTripVariance)
    offset += information * surplus
    offsetTimesExcess += information * (surplus * excess + midpoint.pool.covariance)
  }
}

extension MidpointSums {
  /// A straight line at the origin for each lane, with the variance of its value there, should the claimed
  /// variances hold. The last lane's is not known.
  struct Solution {
    var intercept: Lanes
    var slope: Lanes
    var variance: Lanes
  }

  func solution() -> Solution {
    let t2: Lanes = s2 + priorInformation
    let t1: Lanes = y1 + priorInformation * priorSlope
    let determinant: Lanes = s0 * t2 - s1 * s1
    let p: Lanes = t2 / determinant
    let q: Lanes = s1 / determinant
    let r: Lanes = s0 / determinant
    // The squares of a lane's weights are the weights of the next lane, whose memory is half as long.
    var variance: Lanes = p * p * s0.fromNextLane
    variance -= 2.0 * p * q * s1.fromNextLane
    variance += q * q * (s2.fromNextLane + priorInformation)
    return Solution(intercept: y0 * p - t1 * q, slope: r * t1 - q * y0, variance: variance)
  }

  /// How far the mean midpoint is from that of a sample without excess, in seconds, if midpoints change linearly
  /// with the excess. About zero where both directions have the same noise.
  var asymmetry: Double {
    guard weight > 0 else { return 0 }
    let meanExcess = excess / weight
    let spread = squaredExcess / weight - meanExcess * meanExcess
    guard spread > 1e-14 else { return 0 }
    let covariance = offsetTimesExcess / weight - meanExcess * offset / weight
    return covariance / spread * meanExcess
  }
}

extension SIMD8<Double> {
  /// Each lane takes the value of the next; the last keeps its own.
  fileprivate var fromNextLane: Self {
    var moved = self
    for lane in 0..<(Self.scalarCount - 1) { moved[lane] = self[lane + 1] }
    return moved
  }
}

/// e to the power of `z`, which is not positive: the 64th power of a short series, to 2e-4 of itself above -20.
func exponential(_ z: Double) -> Double {
  guard z > -40 else { return 0 }
  let y = z * (1.0 / 64)
  let high = y * y * (1.0 / 24 + y * (1.0 / 120))
  let near = 1 + y + y * y * (0.5 + y * (1.0 / 6) + high)
  var power = near * near
  for _ in 0..<5 { power *= power }
  return power
}
