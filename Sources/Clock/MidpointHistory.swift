/// What samples told that are no longer kept one by one: of each quarter of a second one midpoint, and one of the fastest
/// packets of each second.
///
/// A line that remembers two seconds is judged by what it would have foretold in the last minute. Where samples were
/// dropped since, it would have known less than it does now, and look worse than it is.
struct MidpointHistory: Hashable, Sendable {
  /// It knows of the samples before this time.
  private(set) var end: LocalTime?
  private var crowds: [Entry] = []
  private var fastest: [Entry] = []

  /// Seconds of samples that make one midpoint: an eighth of the shortest memory.
  static let crowdInterval = 0.25

  /// A midpoint on its own, not relative to a line.
  fileprivate struct Entry: Hashable, Sendable {
    var time: LocalTime
    var upper: Nanoseconds
    var lower: Nanoseconds
    var crowd: Midpoint.Crowd?
  }

  /// Takes in those `samples` before `time` that are new to it; they are in order, and `line` is close to them.
  mutating func take(
    _ samples: [TimeSample], before time: LocalTime, relativeTo line: CorridorLine,
    weights: MidpointWeights, tuning: ClockTuning
  ) {
    guard end.map({ $0 < time }) ?? true else { return }
    let midpoints = unknown(of: samples).prefix { $0.midpoint < time }
      .map { Midpoint($0, relativeTo: line) }
    crowds += midpoints.groups(of: Self.crowdInterval, phase: line.phase(of: Self.crowdInterval))
      .map { Entry(Midpoint(meanOf: $0, weighedBy: weights), relativeTo: line) }
    fastest += midpoints.fastest(tuning, relativeTo: line).map { Entry($0, relativeTo: line) }
    end = time
  }

  /// Forgets what is older than `time`.
  mutating func forget(before time: LocalTime) {
    crowds.removeFirst(crowds.prefix { $0.time < time }.count)
    fastest.removeFirst(fastest.prefix { $0.time < time }.count)
  }

  /// `samples` are in order; those that it knows of are in it already.
  func midpoints(
    and samples: [TimeSample], relativeTo line: CorridorLine, tuning: ClockTuning
  ) -> (all: [Midpoint], fastest: [Midpoint]) {
    let newest = unknown(of: samples).map { Midpoint($0, relativeTo: line) }
    let all = crowds.map { $0.midpoint(relativeTo: line) } + newest
    let fastest = fastest.map { $0.midpoint(relativeTo: line) }
    return (all, fastest + newest.fastest(tuning, relativeTo: line))
  }

  private func unknown(of samples: [TimeSample]) -> ArraySlice<TimeSample> {
    guard let end else { return samples[...] }
    let first = samples.lastIndex { $0.midpoint < end }.map { $0 + 1 }
    return samples[(first ?? 0)...]
  }
}

extension [Midpoint] {
  fileprivate func fastest(_ tuning: ClockTuning, relativeTo line: CorridorLine) -> [Midpoint] {
    let interval = tuning.fastestInterval
    return ofFastest(tuning.fastPart, every: interval, phase: line.phase(of: interval))
  }
}

extension CorridorLine {
  /// Where intervals of so many seconds begin, relative to the origin: always at the same local times, so that the same
  /// samples make a midpoint whenever that is asked.
  fileprivate func phase(of interval: Double) -> Double {
    Double(origin.nanoseconds % Int64(interval * 1e9)) * -1e-9
  }
}

extension MidpointHistory.Entry {
  fileprivate init(_ midpoint: Midpoint, relativeTo line: CorridorLine) {
    let there = line.intercept + line.slope * midpoint.time
    time = line.origin + Nanoseconds(saturating: midpoint.time * 1e9)
    upper = line.base + Nanoseconds(saturating: (midpoint.upper + there) * 1e9)
    lower = line.base + Nanoseconds(saturating: (midpoint.lower + there) * 1e9)
    crowd = midpoint.crowd
  }

  fileprivate func midpoint(relativeTo line: CorridorLine) -> Midpoint {
    var midpoint = Midpoint(at: time, upper: upper, lower: lower, relativeTo: line)
    midpoint.crowd = crowd
    return midpoint
  }
}
