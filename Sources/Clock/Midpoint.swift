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
  /// For each `interval` seconds one midpoint, of the fastest request and the fastest answer. An interval begins `phase`
  /// seconds after the line's origin.
  ///
  /// A sample is good only if both its packets were fast; here the fast packets of each direction count, whatever became
  /// of their counterparts. Where delays have heavy tails, that tells several times as much.
  func ofFastest(every interval: Double, phase: Double) -> [Midpoint] {
    var fastest: [Midpoint] = []
    var last = -Double.infinity
    var times = (upper: 0.0, lower: 0.0)
    for midpoint in self {
      let number = ((midpoint.time - phase) / interval).rounded(.down)
      if number > last {
        last = number
        fastest.append(midpoint)
        times = (midpoint.time, midpoint.time)
        continue
      }
      let index = fastest.count - 1
      if midpoint.upper < fastest[index].upper {
        fastest[index].upper = midpoint.upper
        times.upper = midpoint.time
      }
      if midpoint.lower > fastest[index].lower {
        fastest[index].lower = midpoint.lower
        times.lower = midpoint.time
      }
      fastest[index].time = 0.5 * (times.upper + times.lower)
    }
    return fastest
  }
}
