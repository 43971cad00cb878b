/// Turns time samples into a `ClockEstimate`: fits a line to the samples of the last two minutes, detects steps of
/// the clocks, and smooths the output.
///
/// One filter serves one group clock; another sender's clock needs another filter. Not for the render thread.
package struct ClockFilter: Sendable {
  package enum Outcome: Hashable, Sendable {
    case inserted
    /// The sample contradicts those before; it counts if a second one agrees with it within 5 s.
    case quarantined
    /// The estimate does not continue the one before; the samples before are forgotten.
    case step
    /// The sample is older than all that are kept.
    case rejected
  }

  package enum State: Hashable, Sendable {
    /// Not enough samples to begin playing.
    case acquiring
    case locked
    /// No sample for 10 s; the estimate is extrapolated.
    case holdover
    /// No sample for 300 s, or the extrapolation may be off by more than 500 µs.
    case unsynced
  }

  /// Counts the steps and resets. An estimate of another generation does not continue those before.
  package private(set) var generation: UInt32 = 0

  /// True once the estimate is good enough to play by, until the next step or reset.
  package private(set) var isLocked = false

  /// Whether the estimate approaches each new line gradually, with the time constant `smoothing`. If false it jumps,
  /// which is right while nothing is audible. A step is never smoothed.
  package var isSmoothed = false {
    didSet { if !isSmoothed { lag = 0 } }
  }

  /// The median round trip of the newest 240 samples, as of the last solution.
  package private(set) var medianRoundTrip: Nanoseconds?

  private let solveInterval: Nanoseconds
  /// In order of their midpoints, so that answers that overtake each other make no difference.
  private var samples: [TimeSample] = []
  private var suspect: Suspect?
  private var prior: SlopePrior
  /// Bounds the clocks, and decides which samples are possible.
  private var line: CorridorLine?
  /// The line that the estimate follows; nil only if `line` is.
  private var refined: ClockLine?
  private var solvedAt: LocalTime?
  /// Samples accepted since the last step or reset, unlike `samples` not bounded by the window.
  private var acceptedCount = 0
  /// Smoothed output minus `refined`, in seconds, at the line's origin.
  private var lag = 0.0

  /// A sample that no line near the present one explains.
  private struct Suspect: Hashable, Sendable {
    enum Direction { case belowUpper, aboveLower }
    var sample: TimeSample
    var direction: Direction
  }

  /// `storedDrift` is the `drift` of this pair of clocks in an earlier session, dimensionless; values beyond ±500 ppm
  /// are ignored. `solveInterval` is the least time between two solutions once there are 24 samples; zero solves for
  /// each sample.
  package init(storedDrift: Double? = nil, solveInterval: Nanoseconds = .milliseconds(400)) {
    self.solveInterval = solveInterval
    if let storedDrift, storedDrift.isFinite, abs(storedDrift) <= 500e-6 {
      prior = .stored(storedDrift)
    } else {
      prior = .cold
    }
  }
}

// MARK: - Samples

extension ClockFilter {
  /// How long samples are kept, 60...180 s. Over a longer time the drift wanders by more than the corridor gains.
  static let window = Nanoseconds.seconds(120)

  /// Samples, at least 2400, which is two minutes at the usual rate; the dense ones of the start come on top. 4096
  /// take 100 kB, and 0.5 ms for each solution.
  package static let sampleLimit = 4096

  package mutating func insert(_ sample: TimeSample) -> Outcome {
    if let newest = samples.last {
      if newest.midpoint - sample.midpoint > Self.window { return .rejected }
      if sample.midpoint - newest.midpoint > Self.window {
        restart(with: [sample], keepingDrift: true)
        return .step
      }
    }
    if let found = suspicion(of: sample) { return quarantine(found) }
    if let suspect, sample.midpoint - suspect.sample.midpoint > Self.confirmationTime {
      self.suspect = nil
    }
    add(sample)
    guard isSolveDue(at: sample.arrival) else { return .inserted }
    solve(at: sample.arrival)
    if let line, line.halfMargin < -Self.contradiction {
      restart(with: [sample], keepingDrift: false)
      if line.span > 1 { prior = .contradicted }
      return .step
    }
    return .inserted
  }

  /// After a step, a slope with a larger error than this is discarded. Dimensionless, above 10e-6: the scatter of
  /// Wi-Fi leaves an error of 10 ppm after 20 s, while emptying queues bend the corridor by tens of ppm.
  static let bentSlopeError = 25e-6

  /// Forgets all samples. The drift is kept if asked for and if it has been measured over 20 s.
  package mutating func reset(keepingDrift: Bool) {
    restart(with: [], keepingDrift: keepingDrift)
  }

  private mutating func restart(with fresh: [TimeSample], keepingDrift: Bool) {
    if keepingDrift, let line, line.span > 20, line.slopeError <= Self.bentSlopeError {
      prior = .carried(line.slope)
    }
    samples.removeAll(keepingCapacity: true)
    suspect = nil
    line = nil
    refined = nil
    medianRoundTrip = nil
    solvedAt = nil
    acceptedCount = 0
    lag = 0
    isLocked = false
    generation &+= 1
    for sample in fresh { place(sample) }
    if let last = fresh.last { solve(at: last.arrival) }
  }

  private mutating func add(_ sample: TimeSample) {
    place(sample)
    acceptedCount += 1
    guard let newest = samples.last else { return }
    let expired = samples.prefix { newest.midpoint - $0.midpoint > Self.window }.count
    samples.removeFirst(max(expired, samples.count - Self.sampleLimit))
  }

  private mutating func place(_ sample: TimeSample) {
    var index = samples.count
    while index > 0, samples[index - 1].midpoint > sample.midpoint { index -= 1 }
    samples.insert(sample, at: index)
  }

  /// Each of the first 24 samples matters; later ones change little.
  private func isSolveDue(at now: LocalTime) -> Bool {
    guard let solvedAt, samples.count > 24 else { return true }
    return (now - solvedAt).magnitude >= solveInterval
  }

  private mutating func solve(at now: LocalTime) {
    guard let next = CorridorLine(through: samples, prior: prior) else { return }
    let better = ClockLine(next, through: samples, prior: prior)
    if isSmoothed, let refined {
      let time = better.origin
      let before = refined.relativeOffset(at: time, base: better.base) + remainingLag(at: time)
      lag = before - better.intercept
    } else {
      lag = 0
    }
    line = next
    refined = better
    solvedAt = now
    medianRoundTrip = newestMedianRoundTrip
    isLocked = isLocked || isGoodEnough(next, deviation: better.deviation)
  }
}

// MARK: - Steps

extension ClockFilter {
  /// A packet that is faster than the fastest before it by more than this is suspect. Seconds, above the wander
  /// within a probe interval. Guarded by the golden vectors and the simulation of false steps.
  static let suspicionFloor = 100e-6

  /// Two suspects within this time confirm a step.
  static let confirmationTime = Nanoseconds.seconds(5)

  /// Samples that contradict each other by more than this, in seconds, come from two clocks or from a broken
  /// one. Guarded by the test of a corrupt sample at the start.
  static let contradiction = 100e-6

  /// A packet that is faster than possible shows that a clock was stepped or that a timestamp is wrong.
  private func suspicion(of sample: TimeSample) -> Suspect? {
    guard let line, acceptedCount > 12 else { return nil }
    let expected = line.relativeOffset(at: sample.midpoint)
    let below = line.halfMargin - ((sample.upperOffset - line.base).seconds - expected)
    let above = line.halfMargin - (expected - (sample.lowerOffset - line.base).seconds)
    let scale = Self.suspicionFloor + line.noise
    let slopeError = min(max(4 * scale / max(sampleSpan, 1e-3), 1e-6), 100e-6)
    let distance = abs((sample.midpoint - line.origin).seconds)
    // `noise` can be small by chance, and a line with a large deviation contradicts correct samples, too.
    let noise = max(line.noise, refined?.deviation ?? 0)
    let tolerance = Self.suspicionFloor + 3 * noise + slopeError * distance
    guard max(below, above) > tolerance else { return nil }
    return Suspect(sample: sample, direction: below > above ? .belowUpper : .aboveLower)
  }

  private var sampleSpan: Double {
    guard let first = samples.first, let last = samples.last else { return 0 }
    return (last.midpoint - first.midpoint).seconds
  }

  private mutating func quarantine(_ found: Suspect) -> Outcome {
    guard let before = suspect, before.direction == found.direction,
      (found.sample.midpoint - before.sample.midpoint).magnitude < Self.confirmationTime
    else {
      suspect = found
      return .quarantined
    }
    restart(with: [before.sample, found.sample], keepingDrift: true)
    return .step
  }
}

// MARK: - Estimates

extension ClockFilter {
  /// Time constant with which the smoothed output approaches a new line. Seconds, less than the time to the next
  /// line. Guarded by the test of a smooth output.
  static let smoothing = 0.3

  /// How the clocks relate at `now`; `nil` before the first sample.
  package func estimate(at now: LocalTime) -> ClockEstimate? {
    guard let line = refined else { return nil }
    let offset = line.offset(at: now) + Nanoseconds(saturating: remainingLag(at: now) * 1e9)
    return ClockEstimate(
      local: now, group: GroupTime(nanoseconds: now.nanoseconds &+ offset.count),
      drift: line.slope(at: now), errorBound: errorBound(at: now))
  }

  /// Group seconds that pass in a local second, less one, as far as it is known. Worth storing once
  /// `isDriftKnown`.
  package var drift: Double { line?.slope ?? prior.center }

  /// Whether `drift` has been measured over a minute.
  package var isDriftKnown: Bool { (line?.span ?? 0) > 60 }

  package func state(at now: LocalTime) -> State {
    guard isLocked, let line else { return .acquiring }
    let age = now - line.origin
    let error = line.extrapolationError(over: age, prior: prior)
    if age > .seconds(300) || error > 500e-6 {
      return .unsynced
    }
    return age > .seconds(10) ? .holdover : .locked
  }

  /// Over a shorter span, in seconds, the same queues may have shifted all midpoints alike. Guarded by `ErrorBoundTests`.
  static let regressionSpan = 5.0

  /// Error bound of `estimate(at: now)`, if the fastest packets of both directions take equally long. It holds in
  /// more than 99 of 100 cases; see `ErrorBoundTests`. Before the first sample, the greatest span there is.
  package func errorBound(at now: LocalTime) -> Nanoseconds {
    guard let line else { return Nanoseconds(.max) }
    var bound = line.error(prior: prior) + abs(refined?.shift ?? 0)
    if let deviation = refined?.deviation, line.span >= Self.regressionSpan {
      bound = min(bound, 6 * deviation + CorridorLine.errorFloor)
    }
    bound += line.extrapolationError(over: now - line.origin, prior: prior)
    bound += abs(remainingLag(at: now))
    return Nanoseconds(saturating: bound * 1e9)
  }

  private func remainingLag(at now: LocalTime) -> Double {
    guard lag != 0, let line = refined else { return 0 }
    let x = max((now - line.origin).seconds, 0) / Self.smoothing
    return lag / (1 + x + 0.5 * x * x)
  }
}

// MARK: - Lock

extension ClockFilter {
  /// Error bound in seconds with which eight samples are enough to begin. Wired links have round trips below 250 µs,
  /// and half of that bounds the error. Guarded by the test of a quick start.
  static let quickBound = 150e-6

  /// Error bound and scatter, in seconds, with which sixteen samples are enough. They show a link with a switch or
  /// two, where all packets take about equally long and the error is far smaller than half the round trip. Guarded by
  /// the test of a quick start on a wired network with switches.
  static let steadyBound = 500e-6
  static let steadyNoise = 100e-6

  /// After 0.35 s, playing may begin with this standard deviation, in seconds: the radio's fastest packets have been
  /// seen by then. Samples of a shorter span may all have waited in the same queue. Guarded by the test of a quick
  /// start on Wi-Fi, and by those of pauses and late joins.
  static let quickSpan = 0.35
  static let quickDeviation = 75e-6

  /// After 0.9 s, playing may begin within this bound or with this standard deviation, in seconds; after 3 s, with any: on
  /// a link that bad, waiting longer is worse. Guarded by the test of a quick start on Wi-Fi.
  static let patientBound = 1e-3
  static let patientDeviation = 200e-6

  private func isGoodEnough(_ line: CorridorLine, deviation: Double?) -> Bool {
    let error = line.error(prior: prior)
    if samples.count >= 8, error <= Self.quickBound { return true }
    guard samples.count >= 16 else { return false }
    if error <= Self.steadyBound, line.noise <= Self.steadyNoise { return true }
    if line.span >= Self.quickSpan, let deviation, deviation <= Self.quickDeviation { return true }
    if line.span >= 0.9, let deviation, deviation <= Self.patientDeviation { return true }
    return line.span >= 3 || (line.span >= 0.9 && error <= Self.patientBound)
  }
}

// MARK: - Figures of the link

extension ClockFilter {
  /// Half the distance between the bounds that the fastest packets of both directions set; about half the
  /// shortest round trip, and negative where the samples contradict each other.
  package var halfMargin: Nanoseconds? {
    line.map { Nanoseconds(saturating: $0.halfMargin * 1e9) }
  }

  /// How far the third fastest packet of a direction is from the fastest.
  package var noise: Nanoseconds? { line.map { Nanoseconds(saturating: $0.noise * 1e9) } }

  /// Standard deviation of the estimate, in seconds; `nil` before the first sample.
  package var deviation: Double? { refined?.deviation }

  package var sampleCount: Int { samples.count }

  /// The shortest round trip of the samples that are kept.
  package var minimumRoundTrip: Nanoseconds? { samples.lazy.map(\.roundTrip).min() }

  private var newestMedianRoundTrip: Nanoseconds? {
    let newest = samples.suffix(240).map(\.roundTrip).sorted()
    return newest.isEmpty ? nil : newest[newest.count / 2]
  }
}
