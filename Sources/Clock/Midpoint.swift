/// Where a sample puts the offset, or several together: halfway between the bounds. Relative to a corridor's line.
struct Midpoint: Hashable, Sendable {
  /// Since the line's origin, in seconds; not positive but for answers that overtook each other.
  var time: Double
  /// The bounds, less the line at `time`, in seconds.
  var upper: Double
  var lower: Double
  /// What several samples tell besides their means.
  var pool = Pool()

  var offset: Double { 0.5 * (upper + lower) }
  var roundTrip: Double { upper - lower }

  init(
    at instant: LocalTime, upper: Nanoseconds, lower: Nanoseconds, relativeTo line: CorridorLine
  ) {
    time = (instant - line.origin).seconds
    let there = line.intercept + line.slope * time
    self.upper = (upper - line.base).seconds - there
    self.lower = (lower - line.base).seconds - there
  }

  init(_ sample: TimeSample, relativeTo line: CorridorLine) {
    self.init(
      at: sample.midpoint, upper: sample.upperOffset, lower: sample.lowerOffset, relativeTo: line)
  }
}

extension Midpoint {
  /// What a regression needs of several samples besides their means. As it is made, that of a single one.
  struct Pool: Hashable, Sendable {
    var count = 1.0
    /// How many times as much they tell as a single one with their mean round trip would.
    var size = 1.0
    /// Of their offsets, of their round trips, and of both, in s².
    var offsetVariance = 0.0
    var roundTripVariance = 0.0
    var covariance = 0.0
  }

  /// The mean of `group`, which is not empty: each sample weighs what it tells.
  init(meanOf group: ArraySlice<Midpoint>, weighedBy weights: MidpointWeights) {
    let information = group.map { weights.information(of: $0) }
    let sum = information.reduce(0, +)
    func mean(_ value: (Midpoint) -> Double) -> Double {
      zip(information, group).reduce(0) { $0 + $1.0 * value($1.1) } / sum
    }
    time = mean(\.time)
    upper = mean(\.upper)
    lower = mean(\.lower)
    let (roundTrip, offset) = (upper - lower, 0.5 * (upper + lower))
    pool.count = Double(group.count)
    pool.size = sum / weights.information(of: self)
    pool.offsetVariance = mean { ($0.offset - offset) * ($0.offset - offset) }
    pool.roundTripVariance = mean { ($0.roundTrip - roundTrip) * ($0.roundTrip - roundTrip) }
    pool.covariance = mean { ($0.offset - offset) * ($0.roundTrip - roundTrip) }
  }
}

extension [Midpoint] {
  /// For each `interval` seconds one midpoint, of the mean of the fast requests and the mean of the fast answers: the
  /// fastest `part` of each direction, 0...1, and one at least. An interval begins `phase` seconds after the line's origin.
  ///
  /// A sample is good only if both its packets were fast; here the fast packets of each direction count, whatever became
  /// of their counterparts. Where delays have heavy tails, that tells several times as much.
  func ofFastest(_ part: Double, every interval: Double, phase: Double) -> [Midpoint] {
    groups(of: interval, phase: phase).map { Midpoint(ofFastest: part, in: $0) }
  }

  /// Those of each `interval` seconds, of which one begins `phase` seconds after the line's origin. None is empty.
  func groups(of interval: Double, phase: Double) -> [ArraySlice<Midpoint>] {
    var groups: [ArraySlice<Midpoint>] = []
    var rest = self[...]
    while let first = rest.first {
      let end = phase + ((first.time - phase) / interval).rounded(.down) * interval + interval
      let inside = rest.prefix { $0.time < end }
      // Rounding may put a midpoint at the end of its own interval.
      let group = inside.isEmpty ? rest.prefix(1) : inside
      rest = rest.dropFirst(group.count)
      groups.append(group)
    }
    return groups
  }
}

extension Midpoint {
  /// `group` is not empty.
  fileprivate init(ofFastest part: Double, in group: ArraySlice<Midpoint>) {
    let requests = group.fastest(part) { $0.upper < $1.upper }
    let answers = group.fastest(part) { $0.lower > $1.lower }
    upper = requests.mean { $0.upper }
    lower = answers.mean { $0.lower }
    time = 0.5 * (requests.mean { $0.time } + answers.mean { $0.time })
  }
}

extension ArraySlice<Midpoint> {
  /// The first ones after sorting, and at least one. They are few, so that inserting each costs less than sorting all.
  fileprivate func fastest(
    _ part: Double, by areInOrder: (Midpoint, Midpoint) -> Bool
  ) -> [Midpoint] {
    let limit = Swift.max(1, Int((Double(count) * part).rounded()))
    var first: [Midpoint] = []
    first.reserveCapacity(limit + 1)
    for midpoint in self {
      if first.count == limit, !areInOrder(midpoint, first[limit - 1]) { continue }
      var index = first.count
      while index > 0, areInOrder(midpoint, first[index - 1]) { index -= 1 }
      first.insert(midpoint, at: index)
      if first.count > limit { first.removeLast() }
    }
    return first
  }
}

extension [Midpoint] {
  fileprivate func mean(of value: (Midpoint) -> Double) -> Double {
    reduce(0) { $0 + value($1) } / Double(count)
  }
}
