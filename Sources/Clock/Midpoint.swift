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
  /// The part of a direction's packets that count as fast. The single fastest one to 0.4 were scanned: few are poor on wires,
  /// where no packet is near the edge, and many on far Wi-Fi.
  static let fastPart = 0.05

  /// For each `interval` seconds one midpoint, of the mean of the fast requests and the mean of the fast answers. An
  /// interval begins `phase` seconds after the line's origin.
  ///
  /// A sample is good only if both its packets were fast; here the fast packets of each direction count, whatever became
  /// of their counterparts. Where delays have heavy tails, that tells several times as much.
  func ofFastest(every interval: Double, phase: Double) -> [Midpoint] {
    var fastest: [Midpoint] = []
    var rest = self[...]
    while let first = rest.first {
      let end = phase + ((first.time - phase) / interval).rounded(.down) * interval + interval
      let part = rest.prefix { $0.time < end }
      // Rounding may put a midpoint at the end of its own interval.
      let group = part.isEmpty ? rest.prefix(1) : part
      rest = rest.dropFirst(group.count)
      fastest.append(Midpoint(ofFastest: group))
    }
    return fastest
  }
}

extension Midpoint {
  /// `group` is not empty.
  fileprivate init(ofFastest group: ArraySlice<Midpoint>) {
    let requests = group.fastest { $0.upper < $1.upper }
    let answers = group.fastest { $0.lower > $1.lower }
    upper = requests.mean { $0.upper }
    lower = answers.mean { $0.lower }
    time = 0.5 * (requests.mean { $0.time } + answers.mean { $0.time })
  }
}

extension ArraySlice<Midpoint> {
  /// The first ones after sorting, and at least one.
  fileprivate func fastest(by areInOrder: (Midpoint, Midpoint) -> Bool) -> Self {
    let part = (Double(count) * [Midpoint].fastPart).rounded()
    return sorted(by: areInOrder).prefix(Swift.max(1, Int(part)))
  }

  fileprivate func mean(of value: (Midpoint) -> Double) -> Double {
    reduce(0) { $0 + value($1) } / Double(count)
  }
}
