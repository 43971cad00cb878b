/// Turns time samples into a `ClockEstimate`: fits a line to the samples of the last two minutes, detects steps of
/// the clocks, and smooths the output.
///
/// One filter serves one group clock; another sender's clock needs another filter. Not for the render thread.
package struct ClockFilter: Sendable {
  package enum Outcome: Hashable, Sendable {
    case inserted
    /// The sample contradicts those before; it counts if a second one agrees with it soon.
    case quarantined
    /// The estimate does not continue the one before; the samples before are forgotten.
    case step
    /// The sample is older than all that are kept.
    case rejected
  }

  /// Counts the steps and resets. An estimate of another generation does not continue those before.
  package private(set) var generation: UInt32 = 0

  /// True once the estimate is good enough to play by, until the next step or reset.
  package private(set) var isLocked = false

  /// If true, the estimate approaches each new line gradually. If false it jumps, which is right while nothing is
  /// audible. A step is never smoothed.
  package var isSmoothed = false {
    didSet { if !isSmoothed { lag = 0 } }
  }

  /// The median round trip of the newest samples, as of the last solution.
  package private(set) var medianRoundTrip: Nanoseconds?

  /// Sorted by midpoint, so that answers that overtake each other make no difference.
  private(set) var samples: [TimeSample] = []
  /// The line and the bounds that the samples give, as of the last solution.
  private(set) var fit: ClockFit?
  private let solveInterval: Nanoseconds
  private var suspect: Suspect?
  private var prior = SlopePrior.unknown
  private var solvedAt: LocalTime?
  /// Smoothed output minus the line, in seconds, at the line's origin.
  private var lag = 0.0

  /// A sample that no line near the present one explains.
  private struct Suspect: Hashable, Sendable {
    var sample: TimeSample
    /// True if its request was too fast, not its answer.
    var isRequest: Bool
  }

  /// `storedDrift` is the `drift` of this pair of clocks in an earlier session, dimensionless; a value that no
  /// crystal has is ignored. Once locked, two solutions are at least `solveInterval`, or the usual interval, apart.
  package init(storedDrift: Double? = nil, solveInterval: Nanoseconds? = nil) {
    self.solveInterval = solveInterval ?? Tuning.solveInterval
    if let storedDrift, abs(storedDrift) <= Facts.largestDrift { prior = .measured(storedDrift) }
  }
}

// MARK: - Samples

extension ClockFilter {
  /// Largest number of samples: at least 2400, which is two minutes at the usual rate, and the dense ones of the
  /// start on top. 4096 take 100 kB, and 0.5 ms for each solution.
  package static let sampleLimit = 4096

  /// Samples from which the median round trip is taken: 12 s at the usual rate. More take longer to sort.
  static let recentSamples = 240

  package mutating func insert(_ sample: TimeSample) -> Outcome {
    if let newest = samples.last {
      if newest.midpoint - sample.midpoint > Tuning.window { return .rejected }
      if sample.midpoint - newest.midpoint > Tuning.window {
        restart(with: [sample], prior: carriedPrior)
        return .step
      }
    }
    if let found = suspicion(of: sample) { return quarantine(found) }
    place(sample)
    forgetOldest()
    guard isSolveDue(at: sample.arrival) else { return .inserted }
    solve(at: sample.arrival)
    if let corridor = fit?.corridor, corridor.halfMargin < -Tuning.grossError {
      // Over a short span, the sample is wrong and not the prior.
      let isPriorWrong = corridor.span > Tuning.independentSpan
      restart(with: [sample], prior: isPriorWrong ? .contradicted : prior)
      return .step
    }
    return .inserted
  }

  /// Forgets all samples, but keeps what is known of the drift.
  package mutating func reset() { restart(with: [], prior: carriedPrior) }

  private mutating func restart(with fresh: [TimeSample], prior: SlopePrior) {
    self = ClockFilter(prior: prior, following: self)
    for sample in fresh { place(sample) }
    if let last = fresh.last { solve(at: last.arrival) }
  }

  /// Begins the next generation of `other`.
  private init(prior: SlopePrior, following other: ClockFilter) {
    solveInterval = other.solveInterval
    isSmoothed = other.isSmoothed
    generation = other.generation &+ 1
    self.prior = prior
  }

  private mutating func place(_ sample: TimeSample) {
    var index = samples.count
    while index > 0, samples[index - 1].midpoint > sample.midpoint { index -= 1 }
    samples.insert(sample, at: index)
  }

  private mutating func forgetOldest() {
    guard let newest = samples.last else { return }
    let expired = samples.prefix { newest.midpoint - $0.midpoint > Tuning.window }.count
    samples.removeFirst(max(expired, samples.count - Self.sampleLimit))
  }

  /// True if it is time to solve. Until the filter is locked, each sample matters, and over a short span a few of
  /// them do.
  private func isSolveDue(at now: LocalTime) -> Bool {
    guard let solvedAt, isLocked, let fit else { return true }
    let share = min(fit.corridor.span / Tuning.independentSpan, 1)
    return (now - solvedAt).magnitude.seconds >= share * solveInterval.seconds
  }

  private mutating func solve(at now: LocalTime) {
    guard let next = ClockFit(samples, prior: prior) else { return }
    if isSmoothed, let line = fit?.line {
      let time = next.line.origin
      let before = line.relativeOffset(at: time) + remainingLag(at: time)
      lag = before + (line.base - next.line.base).seconds - next.line.intercept
    }
    fit = next
    solvedAt = now
    let roundTrips = samples.suffix(Self.recentSamples).map(\.roundTrip).sorted()
    medianRoundTrip = roundTrips[roundTrips.count / 2]
    isLocked = isLocked || next.isGoodEnough
  }
}

// MARK: - Steps

extension ClockFilter {
  /// Returns the sample as a suspect if a packet is faster than possible: then a clock was stepped, or a timestamp is
  /// wrong.
  private func suspicion(of sample: TimeSample) -> Suspect? {
    guard let fit, fit.deviation != nil else { return nil }
    let middle = fit.corridor.middle.offset(at: sample.midpoint)
    let request = fit.corridor.halfMargin - (sample.upperOffset - middle).seconds
    let answer = fit.corridor.halfMargin - (middle - sample.lowerOffset).seconds
    guard max(request, answer) > fit.tolerance(at: sample.midpoint) else { return nil }
    return Suspect(sample: sample, isRequest: request > answer)
  }

  private mutating func quarantine(_ found: Suspect) -> Outcome {
    guard let before = suspect, before.isRequest == found.isRequest,
      (found.sample.midpoint - before.sample.midpoint).magnitude.seconds < Tuning.faultTime
    else {
      suspect = found
      return .quarantined
    }
    restart(with: [before.sample, found.sample], prior: carriedPrior)
    return .step
  }

  /// The prior for the drift after a step of the clocks: what is known of it by now.
  private var carriedPrior: SlopePrior {
    guard let fit, fit.slopeError + Facts.driftChange < prior.halfWidth else { return prior }
    return .measured(fit.line.slope, error: fit.slopeError)
  }
}

// MARK: - Estimates

extension ClockFilter {
  /// Returns the relation of the clocks at `now`; `nil` before the first sample.
  package func estimate(at now: LocalTime) -> ClockEstimate? {
    guard let line = fit?.line else { return nil }
    let offset = line.offset(at: now) + Nanoseconds(ofSeconds: remainingLag(at: now))
    return ClockEstimate(
      local: now, group: GroupTime(nanoseconds: now.nanoseconds &+ offset.count),
      drift: line.slope(at: now), errorBound: errorBound(at: now))
  }

  /// Group seconds per local second, minus one, as far as it is known. Worth storing once `isDriftKnown`.
  package var drift: Double { fit?.corridor.middle.slope ?? prior.center }

  /// True if `drift` was measured for as long as it takes to learn it.
  package var isDriftKnown: Bool {
    (fit?.corridor.span ?? 0) > ProbeSchedule.learningTime.seconds
  }

  /// True if drifts change so fast that more frequent samples would make the estimate more exact.
  package var isWandering: Bool { fit?.isWandering ?? false }

  /// True if nothing was heard of the group's clock for so long that the next sample begins anew.
  package func isLost(at now: LocalTime) -> Bool {
    guard isLocked, let newest = samples.last else { return false }
    return now - newest.midpoint > Tuning.window
  }

  /// Returns the error bound of `estimate(at: now)`, provided that the fastest packets of both directions take
  /// equally long. It holds in more than 99 of 100 cases; see `ErrorBoundTests`. Before the first sample, it is the
  /// greatest span there is.
  package func errorBound(at now: LocalTime) -> Nanoseconds {
    guard let fit else { return Nanoseconds(.max) }
    return Nanoseconds(ofSeconds: fit.error(at: now) + abs(remainingLag(at: now)))
  }

  /// Returns what is left of a correction, in seconds. It fades with the time constant with which the next one comes.
  private func remainingLag(at now: LocalTime) -> Double {
    guard lag != 0, let fit else { return 0 }
    let x = max((now - fit.line.origin).seconds, 0) / Tuning.solveInterval.seconds
    return lag / (1 + x + 0.5 * x * x)
  }
}
