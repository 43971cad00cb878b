/// The line that keeps the largest distance from all samples: the middle of the corridor that no packet could
/// have crossed without arriving before it was sent.
///
/// With `x` the age of a sample (zero or negative, seconds), its upper bound is relaxed to `upper + c x²` and
/// its lower one to `lower - c x²`, because the drift itself changes: `c` is half the rate at which it may. Then
/// `margin(b) = min(upper - b x) - max(lower - b x)` is concave and piecewise linear in the slope `b`, and only
/// the samples on the two convex hulls matter.
struct CorridorLine: Hashable, Sendable {
  /// Where `intercept` holds: the midpoint of the newest sample.
  var origin: LocalTime
  /// What `intercept` is relative to; offsets themselves do not fit a `Double`.
  var base: Nanoseconds
  /// Group less local time at `origin`, less `base`, in seconds.
  var intercept: Double
  /// Group seconds that pass in a local second, less one.
  var slope: Double
  /// Half the width of the corridor, in seconds; negative where the samples contradict each other.
  var halfMargin: Double
  /// The scale of the noise, in seconds: how far the third fastest packet of a direction is from the fastest.
  var noise: Double
  /// As `noise`, for the sixth fastest packet: larger, but hardly ever small by chance.
  var scatter: Double
  /// How far off `slope` and `intercept` may be because a corridor narrower by `scatter` would do as well:
  /// dimensionless, and seconds.
  var slopeError: Double
  var interceptError: Double
  /// From the oldest sample to the newest, in seconds.
  var span: Double

  /// Group less local time at `time`, less `base`, in seconds.
  func relativeOffset(at time: LocalTime) -> Double {
    intercept + slope * (time - origin).seconds
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

extension CorridorLine {
  /// Rate at which the bounds of a sample relax, in 1/s, 0...1.5e-8: a drift that changes by 8 ppb a second stays
  /// within them.
  static let ageing = 4e-9

  /// The widest corridor through `samples`, which are in order of their midpoints; `nil` if there are none.
  init?(through samples: [TimeSample], prior: SlopePrior) {
    guard let newest = samples.last else { return nil }
    let origin = newest.midpoint
    let base = newest.upperOffset
    var uppers: [CorridorPoint] = []
    var lowers: [CorridorPoint] = []
    uppers.reserveCapacity(samples.count)
    lowers.reserveCapacity(samples.count)
    for sample in samples {
      let x = (sample.midpoint - origin).seconds
      let slack = Self.ageing * x * x
      uppers.append(CorridorPoint(x: x, y: (sample.upperOffset - base).seconds + slack))
      lowers.append(CorridorPoint(x: x, y: slack - (sample.lowerOffset - base).seconds))
    }
    self.init(
      origin: origin, base: base, uppers: uppers, negatedLowers: lowers,
      span: -(uppers.first?.x ?? 0), prior: prior)
  }

  /// The lower bounds come with their sign turned, so that both sides are minima.
  private init(
    origin: LocalTime, base: Nanoseconds, uppers: [CorridorPoint], negatedLowers: [CorridorPoint],
    span: Double, prior: SlopePrior
  ) {
    let top = lowerHull(of: uppers)
    let bottom = lowerHull(of: negatedLowers)
    let slope = slopeOfWidest(top: top, bottom: bottom, in: prior.range(span: span))
    let ceiling = lowest(of: top, slope: slope)
    let floor = -lowest(of: bottom, slope: -slope)
    self.origin = origin
    self.base = base
    self.intercept = 0.5 * (ceiling + floor)
    self.slope = slope
    self.halfMargin = 0.5 * (ceiling - floor)
    let up = smallestExcesses(of: uppers, slope: slope)
    let down = smallestExcesses(of: negatedLowers, slope: -slope)
    self.noise = max(up.third, down.third)
    self.scatter = max(up.sixth, down.sixth)
    self.span = span
    let alike = slopesAlmostAsWide(
      as: slope, top: top, bottom: bottom, within: scatter, in: prior.range(span: span))
    slopeError = max(slope - alike.lowerBound, alike.upperBound - slope)
    interceptError = 0
    for other in [alike.lowerBound, alike.upperBound] {
      let middle = 0.5 * (lowest(of: top, slope: other) - lowest(of: bottom, slope: -other))
      interceptError = max(interceptError, abs(middle - intercept))
    }
  }
}

/// A bound of the offset at one instant; both in seconds relative to the line's origin and base.
private struct CorridorPoint {
  var x: Double
  var y: Double
}

/// The lower convex hull of points in order of `x`, by Andrew's monotone chain.
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

private func lowest(of points: [CorridorPoint], slope: Double) -> Double {
  var least = Double.infinity
  for point in points { least = min(least, point.y - slope * point.x) }
  return least
}

/// Third and sixth smallest less smallest of `y - slope x`; with fewer points, the largest less smallest.
private func smallestExcesses(of points: [CorridorPoint], slope: Double) -> (
  third: Double, sixth: Double
) {
  let least = smallest(6, of: points.lazy.map { $0.y - slope * $0.x })
  guard let first = least.first, let last = least.last else { return (0, 0) }
  return (least.count >= 3 ? least[2] - first : last - first, last - first)
}

/// The `count` smallest of `values`, in their order.
func smallest(_ count: Int, of values: some Sequence<Double>) -> [Double] {
  var least: [Double] = []
  least.reserveCapacity(count + 1)
  for value in values {
    if least.count == count, value >= least[count - 1] { continue }
    var index = least.count
    while index > 0, least[index - 1] > value { index -= 1 }
    least.insert(value, at: index)
    if least.count > count { least.removeLast() }
  }
  return least
}

/// The slopes around `best`, the best one, whose corridor is narrower by no more than `loss` seconds.
private func slopesAlmostAsWide(
  as best: Double, top: [CorridorPoint], bottom: [CorridorPoint], within loss: Double,
  in range: ClosedRange<Double>
) -> ClosedRange<Double> {
  func width(_ slope: Double) -> Double {
    lowest(of: top, slope: slope) + lowest(of: bottom, slope: -slope)
  }
  let least = width(best) - loss
  let low = slopeWhere(in: range.lowerBound...best) { width($0) >= least }
  let high = slopeWhere(in: best...range.upperBound) { width($0) < least }
  return low...high
}

/// The slope in `range` at which the corridor is widest. Where one sample bounds it on both sides, a range of
/// slopes is equally good, and the answer is the middle of it.
private func slopeOfWidest(
  top: [CorridorPoint], bottom: [CorridorPoint], in range: ClosedRange<Double>
) -> Double {
  guard range.upperBound > range.lowerBound else { return range.lowerBound }
  let first = slopeWhere(in: range) { slope in
    widening(top: top, bottom: bottom, slope: slope) <= 0
  }
  let last = slopeWhere(in: range) { slope in
    widening(top: top, bottom: bottom, slope: slope) < 0
  }
  return 0.5 * (first + last)
}

/// How fast the corridor gets wider as the slope grows: falls with the slope, and is compared to zero only,
/// which is exact because the positions of the bounding samples are never computed with.
private func widening(top: [CorridorPoint], bottom: [CorridorPoint], slope: Double) -> Double {
  positionOfSmallest(of: bottom, slope: -slope) - positionOfSmallest(of: top, slope: slope)
}

private func positionOfSmallest(of points: [CorridorPoint], slope: Double) -> Double {
  var least = Double.infinity
  var position = 0.0
  for point in points where point.y - slope * point.x < least {
    least = point.y - slope * point.x
    position = point.x
  }
  return position
}

/// The least slope in `range` from which on `isReached` holds, by bisection. 32 halvings narrow 240 ppm to far
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

extension Nanoseconds {
  /// The nearest representable span; saturates at 146 years, and NaN becomes zero.
  init(saturating nanoseconds: Double) {
    guard nanoseconds.isFinite else {
      self.init(0)
      return
    }
    let limit = 0x1p62
    self.init(Int64(min(max(nanoseconds, -limit), limit).rounded()))
  }
}
