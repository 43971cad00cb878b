import TestSupport
import Testing

@testable import Clock

/// 300 exchanges a second for 20 s, of which the history takes the first 15.
struct MidpointHistoryTests {
  private let samples: [TimeSample]
  private let line: CorridorLine
  private let end = LocalTime(nanoseconds: 15_000_000_000)

  init() throws {
    var random = SplitMix64(seed: 5)
    samples = try (0..<6000 as Range<Int64>).map { index in
      let sent = index * 3_333_333
      let received = GroupTime(
        nanoseconds: sent + Int64(random.uniform(100e3, 300e3)) + index * 50)
      let arrival = received.nanoseconds - index * 50 + Int64(random.uniform(100e3, 250e3))
      return try #require(
        TimeSample(
          requestSentAt: LocalTime(nanoseconds: sent), requestReceivedAt: received,
          answerSentAt: received, answerReceivedAt: LocalTime(nanoseconds: arrival)))
    }
    line = try #require(CorridorLine(through: samples, prior: .cold))
  }

  /// The line that the history was told of when it took samples is not the one that is asked about later.
  private func history() throws -> MidpointHistory {
    let early = try #require(CorridorLine(through: Array(samples[..<5000]), prior: .cold))
    var history = MidpointHistory()
    for second in 1...15 as ClosedRange<Int64> {
      history.take(
        samples, before: LocalTime(nanoseconds: second * 1_000_000_000), relativeTo: early,
        weights: weights, tuning: ClockTuning())
    }
    return history
  }

  private var weights: MidpointWeights {
    MidpointWeights(samples.map(\.roundTrip.seconds), tuning: ClockTuning())
  }

  private func regression(_ midpoints: [Midpoint]) throws -> MidpointRegression {
    try #require(
      MidpointRegression(through: midpoints, weighedBy: weights, relativeTo: line, prior: .cold))
  }

  @Test func `a regression through what is kept of samples says what one through all of them says`()
    throws
  {
    let history = try history()
    let kept = history.midpoints(and: samples, relativeTo: line, tuning: ClockTuning())
    let newest = samples.count { $0.midpoint >= end }
    #expect(kept.all.count == 60 + newest)
    let brief = try regression(kept.all)
    let full = try regression(samples.map { Midpoint($0, relativeTo: line) })
    #expect(abs(brief.intercept - full.intercept) < 0.05e-6)
    #expect(abs(brief.slope - full.slope) < 0.02e-6)
    #expect(abs(brief.memory / full.memory - 1) < 0.05)
    #expect(abs(brief.asymmetry - full.asymmetry) < 0.3e-6)
    #expect(abs(brief.deviation / full.deviation - 1) < 0.05)
    // They differ by more if samples are left out instead.
    let thinned = samples.enumerated().filter { $0.offset.isMultiple(of: 4) }.map(\.element)
    let poor = try regression(thinned.map { Midpoint($0, relativeTo: line) })
    #expect(abs(poor.intercept - full.intercept) > 0.2e-6)
  }

  @Test func `the fastest packets are those of all samples`() throws {
    let none = MidpointHistory().midpoints(and: samples, relativeTo: line, tuning: ClockTuning())
    let kept = try history().midpoints(and: samples, relativeTo: line, tuning: ClockTuning())
    #expect(kept.fastest.count == 20)
    for (one, other) in zip(kept.fastest, none.fastest) {
      #expect(abs(one.upper - other.upper) < 20e-9)
      #expect(abs(one.lower - other.lower) < 20e-9)
      #expect(abs(one.time - other.time) < 20e-9)
    }
  }

  @Test func `what is old is forgotten`() throws {
    var history = try history()
    history.forget(before: end - .seconds(5))
    let kept = history.midpoints(and: [], relativeTo: line, tuning: ClockTuning())
    #expect(kept.all.count == 20)
    #expect(kept.fastest.count == 5)
  }

  @Test func `samples that it knows of are not taken twice`() throws {
    var history = try history()
    let before = history
    history.take(
      samples, before: end, relativeTo: line, weights: weights, tuning: ClockTuning())
    #expect(history == before)
  }
}
