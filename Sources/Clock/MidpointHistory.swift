/// What samples told before some time, of which few are kept one by one: of each quarter of a second one midpoint, and one of
/// the fastest packets of each second.
///
/// A line that remembers two seconds is judged by what it would have foretold in the last minute. Where samples were
/// dropped since, it would have known less than it does now, and look worse than it is.
struct MidpointHistory: Hashable, Sendable {
  /// It knows of the samples before this time; those that come later are too late for it.
  private(set) var end: LocalTime?
  private var pools: [Entry] = []
  private var fastest: [Entry] = []

  /// Seconds of samples that make one midpoint: an eighth of the shortest memory.
  static let poolInterval = 0.25

  /// A midpoint on its own, not relative to a line.
  fileprivate struct Entry: Hashable, Sendable {
    var time: LocalTime
    var upper: Nanoseconds
    var lower: Nanoseconds
    var pool: Midpoint.Pool
  }

  /// Takes in those `samples` before `time` that are new to it, in whole intervals, and answers which. They are in order, and
  /// `line` is close to them.
  mutating func take(
    _ samples: [TimeSample], before time: LocalTime, relativeTo line: CorridorLine,
    weights: MidpointWeights, tuning: ClockTuning
  ) -> Range<Int> {
    let first = unknown(of: samples).startIndex
    let interval = Int64(tuning.fastestInterval * 1e9)
    let end = LocalTime(nanoseconds: time.nanoseconds - time.nanoseconds % interval)
    let new = samples[first...].prefix { $0.midpoint < end }
    guard !new.isEmpty else { return first..<first }
    let midpoints = new.map { Midpoint($0, relativeTo: line) }
    pools += midpoints.groups(of: Self.poolInterval, phase: line.phase(of: Self.poolInterval))
      .map { Entry(Midpoint(meanOf: $0, weighedBy: weights), relativeTo: line) }
    fastest += midpoints.fastest(tuning, relativeTo: line).map { Entry($0, relativeTo: line) }
    self.end = end
    return new.indices
  }

  /// Forgets what is older than `time`.
  mutating func forget(before time: LocalTime) {
    pools.removeFirst(pools.prefix { $0.time < time }.count)
    fastest.removeFirst(fastest.prefix { $0.time < time }.count)
  }

  /// `samples` are in order; those that it knows of are in it already.
  func midpoints(
    with samples: [TimeSample], relativeTo line: CorridorLine, tuning: ClockTuning
  ) -> (all: [Midpoint], fastest: [Midpoint]) {
    let newest = unknown(of: samples).map { Midpoint($0, relativeTo: line) }
    let all = pools.map { $0.midpoint(relativeTo: line) } + newest
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

extension ArraySlice<TimeSample> {
  /// Of each `interval` seconds `count` of the fastest requests, of the answers and of the round trips. The samples are in order,
  /// and so are those that are answered.
  func fastest(
    _ count: Int, every interval: Double, relativeTo line: CorridorLine
  ) -> [TimeSample] {
    let midpoints = map { Midpoint($0, relativeTo: line) }
    return midpoints.groups(of: interval, phase: line.phase(of: interval)).flatMap { group in
      var isKept = [Bool](repeating: false, count: group.count)
      for slowness: (Midpoint) -> Double in [\.upper, { -$0.lower }, \.roundTrip] {
        let fastest = group.indices.sorted { slowness(group[$0]) < slowness(group[$1]) }
        for index in fastest.prefix(count) { isKept[index - group.startIndex] = true }
      }
      return group.indices.lazy.filter { isKept[$0 - group.startIndex] }
        .map { self[startIndex + $0] }
    }
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
    pool = midpoint.pool
  }

  fileprivate func midpoint(relativeTo line: CorridorLine) -> Midpoint {
    var midpoint = Midpoint(at: time, upper: upper, lower: lower, relativeTo: line)
    midpoint.pool = pool
    return midpoint
  }
}
