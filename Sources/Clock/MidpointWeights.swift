/// How much midpoints tell: the more, the less their round trips exceed the shortest possible one.
struct MidpointWeights: Hashable, Sendable {
  /// In seconds; zero without round trips.
  let shortest: Double
  /// How far the shortest is taken to be above the shortest possible, in seconds.
  private let gap: Double
  /// In s².
  private let leastVariance: Double

  /// The standard deviation of a midpoint in terms of how much longer its round trip was than the shortest
  /// possible: that of a uniform distribution over all ways to divide the excess between the directions.
  static let excessShare = 0.29

  /// `roundTrips` are in seconds, in any order.
  init(_ roundTrips: some Sequence<Double>, tuning: ClockTuning) {
    let (shortest, distance) = shortestAndSixth(of: roundTrips)
    self.shortest = shortest
    gap = tuning.gapFactor * distance
    leastVariance = tuning.stampError * tuning.stampError
  }

  /// The inverse of the variance of the midpoint's offset, in 1/s².
  func information(of midpoint: Midpoint) -> Double {
    let deviation = Self.excessShare * (excess(of: midpoint) + gap)
    return midpoint.pool.size / (leastVariance + deviation * deviation)
  }

  /// By how many seconds the round trip is longer than the shortest.
  func excess(of midpoint: Midpoint) -> Double { midpoint.roundTrip - shortest }
}

/// The shortest round trip, and how far the sixth shortest is from it, in seconds; with fewer, the shortest itself.
private func shortestAndSixth(of roundTrips: some Sequence<Double>) -> (Double, distance: Double) {
  var least: [Double] = []
  least.reserveCapacity(7)
  for value in roundTrips {
    if least.count == 6, value >= least[5] { continue }
    var index = least.count
    while index > 0, least[index - 1] > value { index -= 1 }
    least.insert(value, at: index)
    if least.count > 6 { least.removeLast() }
  }
  guard let first = least.first, let last = least.last else { return (0, distance: 0) }
  return (first, distance: least.count == 6 ? last - first : first)
}
