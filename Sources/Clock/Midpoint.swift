/// Where a sample puts the offset: halfway between its bounds. Relative to a corridor's line.
struct Midpoint: Hashable, Sendable {
  /// Since the line's origin, in seconds; not positive but for answers that overtook each other.
  var time: Double
  /// The bounds, less the line at `time`, in seconds.
  var upper: Double
  var lower: Double

  var offset: Double { 0.5 * (upper + lower) }
  var roundTrip: Double { upper - lower }

  init(_ sample: TimeSample, relativeTo line: CorridorLine) {
    time = (sample.midpoint - line.origin).seconds
    let there = line.intercept + line.slope * time
    upper = (sample.upperOffset - line.base).seconds - there
    lower = (sample.lowerOffset - line.base).seconds - there
  }
}

extension [Midpoint] {
  /// For each `interval` seconds one midpoint, of the mean of the fast requests and the mean of the fast answers: the
  /// fastest `part` of each direction, 0...1, and one at least. An interval begins `phase` seconds after the line's origin.
  ///
  /// A sample is good only if both its packets were fast; here the fast packets of each direction count, whatever became
  /// of their counterparts. Where delays have heavy tails, that tells several times as much.
  func ofFastest(_ part: Double, every interval: Double, phase: Double) -> [Midpoint] {
    var fastest: [Midpoint] = []
    var rest = self[...]
    while let first = rest.first {
      let end = phase + ((first.time - phase) / interval).rounded(.down) * interval + interval
      let inside = rest.prefix { $0.time < end }
      // Rounding may put a midpoint at the end of its own interval.
      let group = inside.isEmpty ? rest.prefix(1) : inside
      rest = rest.dropFirst(group.count)
      fastest.append(Midpoint(ofFastest: part, in: group))
    }
    return fastest
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
