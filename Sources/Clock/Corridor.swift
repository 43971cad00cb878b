/// The line that keeps the largest distance from all samples: the middle of the corridor that no packet could
/// have crossed without arriving before it was sent.
///
/// With `x` the age of a sample (zero or negative, seconds), its upper bound is relaxed to `upper + c x²` and its lower one to
/// `lower - c x²`, because the drift itself changes: `c` is half the rate at which it may. Then `margin(b) = min(upper - b x) -
/// max(lower - b x)` is concave and piecewise linear in the slope `b`, and only the samples on the two convex hulls matter.
struct Corridor: Hashable, Sendable {
  /// Its origin is the midpoint of the newest sample.
  var middle: ClockLine
  /// Half the width of the corridor, in seconds; negative if the samples contradict each other.
  var halfMargin: Double
  /// Distance of the `fewest`th fastest packet of a direction from the fastest, in seconds.
  var scatter: Double
  /// Time from the oldest sample to the newest, in seconds.
  var span: Double

  /// Finds the widest corridor through `samples`, which are in order of their midpoints; `nil` if there are none.
  init?(through samples: [TimeSample], prior: SlopePrior) {
    guard let newest = samples.last else { return nil }
    let origin = newest.midpoint
    let base = newest.upperOffset
    var uppers: [CorridorPoint] = []
    // Lower bounds with their sign inverted, so that both sides are minima.
    var lowers: [CorridorPoint] = []
    uppers.reserveCapacity(samples.count)
    lowers.reserveCapacity(samples.count)
    for sample in samples {
      let x = (sample.midpoint - origin).seconds
      let slack = Facts.ageing * x * x
      uppers.append(CorridorPoint(x: x, y: (sample.upperOffset - base).seconds + slack))
      lowers.append(CorridorPoint(x: x, y: slack - (sample.lowerOffset - base).seconds))
    }
    span = -(uppers.first?.x ?? 0)
    let top = lowerHull(of: uppers)
    let bottom = lowerHull(of: lowers)
    let slope = slopeOfWidest(top: top, bottom: bottom, in: prior.range(span: span))
    let ceiling = lowest(of: top, slope: slope).y
    let floor = -lowest(of: bottom, slope: -slope).y
    middle = ClockLine(
      origin: origin, base: base, intercept: 0.5 * (ceiling + floor), slope: slope,
      lastingSlope: slope)
    halfMargin = 0.5 * (ceiling - floor)
    scatter = max(
      smallest(of: uppers.lazy.map { $0.y - slope * $0.x }).scatter,
      smallest(of: lowers.lazy.map { $0.y + slope * $0.x }).scatter)
  }
}

/// A bound of the offset at one instant; both in seconds relative to the line's origin and base.
private struct CorridorPoint {
  var x: Double
  var y: Double
}

/// Returns the lower convex hull of points in order of `x`, by Andrew's monotone chain.
private func lowerHull(of points: [CorridorPoint]) -> [CorridorPoint] {
  var hull = points
  var count = 0
  for point in points {
    while count >= 2 {
      let last = hull[count - 1]
      let before = hull[count - 2]
      let turn =
        (last.x - before.x) * (point.y - before.y) - (point.x - before.x) * (last.y - before.y)
      if turn > 0 { break }
      count -= 1
    }
    hull[count] = point
    count += 1
  }
  hull.removeLast(hull.count - count)
  return hull
}

/// Returns the point through which the lowest line of `slope` goes, with that line's height at 0.
private func lowest(of points: [CorridorPoint], slope: Double) -> CorridorPoint {
  var lowest = CorridorPoint(x: 0, y: .infinity)
  for point in points where point.y - slope * point.x < lowest.y {
    lowest = CorridorPoint(x: point.x, y: point.y - slope * point.x)
  }
  return lowest
}

/// Returns the smallest of `values`, and the distance of the `fewest`th smallest from it.
func smallest(of values: some Sequence<Double>) -> (least: Double, scatter: Double) {
  var smallest: [Double] = []
  smallest.reserveCapacity(Tuning.fewest + 1)
  for value in values {
    if smallest.count == Tuning.fewest, value >= smallest[Tuning.fewest - 1] { continue }
    var index = smallest.count
    while index > 0, smallest[index - 1] > value { index -= 1 }
    smallest.insert(value, at: index)
    if smallest.count > Tuning.fewest { smallest.removeLast() }
  }
  guard let first = smallest.first, let last = smallest.last else { return (0, 0) }
  return (first, last - first)
}

/// Returns the slope in `range` at which the corridor is widest. If one sample bounds it on both sides, a range of
/// slopes is equally good; then returns the middle of it.
private func slopeOfWidest(
  top: [CorridorPoint], bottom: [CorridorPoint], in range: ClosedRange<Double>
) -> Double {
  // Returns how fast the corridor widens as the slope grows. The result falls with the slope. It is only compared to
  // zero, which is exact, because no arithmetic changes the positions of the bounding samples.
  func widening(_ slope: Double) -> Double {
    lowest(of: bottom, slope: -slope).x - lowest(of: top, slope: slope).x
  }
  return 0.5
    * (slopeWhere(in: range) { widening($0) <= 0 } + slopeWhere(in: range) { widening($0) < 0 })
}

/// Returns the least slope in `range` from which on `isReached` holds, by bisection. 32 halvings narrow 1000 ppm to far
/// less than a ppb.
private func slopeWhere(
  in range: ClosedRange<Double>, _ isReached: (Double) -> Bool
) -> Double {
  var low = range.lowerBound
  var high = range.upperBound
  for _ in 0..<32 {
    let middle = 0.5 * (low + high)
    if isReached(middle) { high = middle } else { low = middle }
  }
  return 0.5 * (low + high)
}
