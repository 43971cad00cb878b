import Foundation
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
    // The shortest round trip was not known from the beginning, and times are not those of whole seconds.
    for second in 1...15 as ClosedRange<Int64> {
      let count = Int(second) * 300
      let weights = MidpointWeights(
        samples.prefix(count).map(\.roundTrip.seconds), tuning: ClockTuning())
      let time = LocalTime(nanoseconds: second * 1_000_000_000 + 900_000_000)
      _ = history.take(
        samples, before: time, relativeTo: early, weights: weights, tuning: ClockTuning())
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
    let kept = history.midpoints(with: samples, relativeTo: line, tuning: ClockTuning())
    let newest = samples.count { $0.midpoint >= end }
    #expect(kept.all.count == 60 + newest)
    let brief = try regression(kept.all)
    let full = try regression(samples.map { Midpoint($0, relativeTo: line) })
    #expect(abs(brief.intercept - full.intercept) < 0.15e-6)
    #expect(abs(brief.slope - full.slope) < 0.15e-6)
    #expect(abs(brief.memory / full.memory - 1) < 0.05)
    #expect(abs(brief.asymmetry - full.asymmetry) < 2e-6)
    #expect(abs(brief.deviation / full.deviation - 1) < 0.05)
    // They differ by more if samples are left out instead.
    let thinned = samples.enumerated().filter { $0.offset.isMultiple(of: 4) }.map(\.element)
    let poor = try regression(thinned.map { Midpoint($0, relativeTo: line) })
    #expect(abs(poor.intercept - full.intercept) > 0.2e-6)
  }

  @Test func `the fastest packets are those of all samples`() throws {
    let none = MidpointHistory().midpoints(with: samples, relativeTo: line, tuning: ClockTuning())
    let kept = try history().midpoints(with: samples, relativeTo: line, tuning: ClockTuning())
    #expect(kept.fastest.count == 20)
    #expect(none.fastest.count == 20)
    for (one, other) in zip(kept.fastest, none.fastest) {
      #expect(abs(one.upper - other.upper) < 20e-9)
      #expect(abs(one.lower - other.lower) < 20e-9)
      #expect(abs(one.time - other.time) < 20e-9)
    }
  }

  @Test func `what is old is forgotten`() throws {
    var history = try history()
    history.forget(before: end - .seconds(5))
    let kept = history.midpoints(with: [], relativeTo: line, tuning: ClockTuning())
    #expect(kept.all.count == 20)
    #expect(kept.fastest.count == 5)
  }

  @Test func `samples that it knows of are not taken twice`() throws {
    var history = try history()
    let before = history
    for seconds in [15, 9] as [Int64] {
      let time = LocalTime(nanoseconds: seconds * 1_000_000_000)
      let taken = history.take(
        samples, before: time, relativeTo: line, weights: weights, tuning: ClockTuning())
      #expect(taken.isEmpty)
      #expect(history == before)
    }
  }

  /// Delays that last longer than a quarter of a second, as in a queue: they make midpoints that agree with each other.
  @Test func `scatter within a quarter of a second counts as much as that between`() throws {
    let midpoints = (0..<4000).map { index -> Midpoint in
      var midpoint = Midpoint(samples[index], relativeTo: line)
      let queue = 40e-6 * sin(Double(index / 75) * 2.4)
      midpoint.upper += queue
      midpoint.lower += queue
      return midpoint
    }
    let pools = midpoints.groups(of: 0.25, phase: 0).map {
      Midpoint(meanOf: $0, weighedBy: weights)
    }
    #expect(pools.count < 60)
    let brief = try regression(pools)
    let full = try regression(midpoints)
    #expect(abs(brief.deviation / full.deviation - 1) < 0.15)
  }

  @Test func `of each second the fastest of each kind are kept`() throws {
    let kept = samples[..<900].fastest(3, every: 1, relativeTo: line)
    #expect((27 - 9...27).contains(kept.count))
    #expect(kept.map(\.midpoint) == kept.map(\.midpoint).sorted())
    let first = samples[..<300].filter { $0.midpoint.nanoseconds < 1_000_000_000 }
    let quickest = try #require(first.min { $0.roundTrip < $1.roundTrip })
    #expect(kept.contains(quickest))
    let earliest = try #require(
      first.min {
        Midpoint($0, relativeTo: line).upper < Midpoint($1, relativeTo: line).upper
      })
    #expect(kept.contains(earliest))
  }
}
