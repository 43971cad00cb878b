import Simulation
import TestSupport
import Testing

@testable import Clock

struct ClockFilterTests {
  @Test(
    arguments: ["wired", "wifi", "wifi_busy", "wifi_ps", "wired_step", "wifi_step"])
  func `the corridor agrees with the reference on its vectors`(network: String) throws {
    var ambiguous = 0
    var filter = ClockFilter(solveInterval: .zero)
    for (row, sample) in try recordedSamples(network) {
      let outcome = filter.insert(sample)
      #expect(outcome != .rejected)
      #expect(filter.generation == UInt32(row[9]), "row \(row[0])")
      // After a step, the reference knows the drift less well.
      guard filter.generation == 0 else { continue }
      let halfMargin = try #require(filter.fit).corridor.halfMargin
      #expect(abs(halfMargin * 1e9 - row[8]) <= 1, "row \(row[0])")
      // If one sample bounds the corridor on both sides, several slopes are equally good, and the reference
      // takes an arbitrary one.
      if abs(filter.drift * 1e9 - row[7]) > 1 { ambiguous += 1 }
    }
    // There are some 345 rows.
    #expect(ambiguous < 70)
  }

  @Test func `one corrupt sample never moves the output`() {
    for shift in [-3_000_000_000, -5_000_000, -400_000, 400_000, 5_000_000, 3_000_000_000]
      as [Int64]
    {
      var clean = ClockFilter()
      var corrupted = ClockFilter()
      let entries = ClockTrace(.wired, seconds: 30, seed: 3).entries
      for (index, entry) in entries.enumerated() {
        _ = clean.insert(entry.sample)
        _ = corrupted.insert(entry.sample)
        if index == 60, let wrong = shifted(entry.sample, by: shift) {
          #expect(corrupted.insert(wrong) == .quarantined)
        }
        #expect(
          clean.estimate(at: entry.sample.arrival) == corrupted.estimate(at: entry.sample.arrival))
      }
    }
  }

  @Test func `two corrupt samples that disagree are no step`() throws {
    var filter = ClockFilter()
    let entries = ClockTrace(.wired, seconds: 20, seed: 4).entries
    for entry in entries { _ = filter.insert(entry.sample) }
    let last = try #require(entries.last).sample
    #expect(filter.insert(try #require(shifted(last, by: 2_000_000))) == .quarantined)
    #expect(filter.insert(try #require(shifted(last, by: -2_000_000))) == .quarantined)
    #expect(filter.generation == 0)
  }

  @Test func `two corrupt samples that lie far apart are no step`() throws {
    var filter = ClockFilter()
    let entries = ClockTrace(.wired, seconds: 40, seed: 4).entries
    for (index, entry) in entries.enumerated() {
      _ = filter.insert(entry.sample)
      guard index % 40 == 39 else { continue }
      let wrong = try #require(shifted(entry.sample, by: 2_000_000))
      #expect(filter.insert(wrong) == .quarantined)
    }
    #expect(filter.generation == 0)
  }

  @Test func `a corrupt sample at the start is forgotten within two samples`() throws {
    for position in 0..<12 {
      var filter = ClockFilter()
      let trace = ClockTrace(.wired, seconds: 8, seed: 5)
      for (index, entry) in trace.entries.enumerated() {
        let wrong = try #require(shifted(entry.sample, by: -1_000_000_000))
        _ = filter.insert(index == position ? wrong : entry.sample)
      }
      let last = try #require(trace.entries.last)
      let estimate = try #require(filter.estimate(at: last.sample.arrival))
      let truth = -trace.clock.lead(at: last.arrival)
      let offset = Double(estimate.group.nanoseconds - estimate.local.nanoseconds) * 1e-9
      #expect(abs(offset - truth) < 10e-6)
      #expect(filter.isLocked)
    }
  }

  @Test func `answers that overtake each other make no difference`() {
    var random = SplitMix64(seed: 6)
    var ordered = ClockFilter(solveInterval: .zero)
    var shuffled = ClockFilter(solveInterval: .zero)
    let entries = ClockTrace(.wifi, seconds: 10, seed: 6, interval: 0.1).entries
    for start in stride(from: 0, to: entries.count - 8, by: 8) {
      let group = entries[start..<start + 8]
      for entry in group { _ = ordered.insert(entry.sample) }
      for entry in group.shuffled(using: &random) { _ = shuffled.insert(entry.sample) }
      let now = entries[start + 7].sample.arrival
      #expect(ordered.estimate(at: now) == shuffled.estimate(at: now))
    }
  }

  @Test func `a wrong stored drift is detected`() throws {
    for stored in [400e-6, -90e-6, 30e-6] {
      var filter = ClockFilter(storedDrift: stored)
      let trace = ClockTrace(.wired, seconds: 60, seed: 7, drift: 20e-6)
      for entry in trace.entries { _ = filter.insert(entry.sample) }
      #expect(abs(filter.drift + 20e-6) < 1e-6)
      #expect(filter.isLocked)
    }
  }

  @Test(arguments: [-300e-6, -140e-6, 140e-6, 300e-6])
  func `a drift outside the prior is found`(drift: Double) throws {
    var filter = ClockFilter()
    let trace = ClockTrace(.wired, seconds: 60, seed: 8, drift: drift)
    for entry in trace.entries { _ = filter.insert(entry.sample) }
    #expect(abs(filter.drift + drift / (1 + drift)) < 1e-6)
    #expect(filter.isLocked)
  }

  @Test func `a stored drift that is no number or no drift is ignored`() {
    for stored in [Double.nan, .infinity, 1, -1] {
      #expect(ClockFilter(storedDrift: stored).drift == 0)
    }
    #expect(ClockFilter(storedDrift: 1e-5).drift == 1e-5)
  }

  @Test func `a reset keeps the drift and begins a generation`() throws {
    var filter = ClockFilter()
    let trace = ClockTrace(.wired, seconds: 70, seed: 9, drift: 40e-6)
    for entry in trace.entries { _ = filter.insert(entry.sample) }
    #expect(filter.isLocked)
    #expect(filter.isDriftKnown)
    filter.reset()
    #expect(filter.generation == 1)
    #expect(!filter.isLocked)
    #expect(filter.estimate(at: try #require(trace.entries.last).sample.arrival) == nil)
    #expect(abs(filter.drift + 40e-6) < 1e-6)
  }

  @Test func `without samples the estimate is held, then given up`() throws {
    var filter = ClockFilter()
    let trace = ClockTrace(.wired, seconds: 70, seed: 10)
    for entry in trace.entries { _ = filter.insert(entry.sample) }
    let last = try #require(trace.entries.last).sample.arrival
    #expect(!filter.isLost(at: last + .seconds(100)))
    #expect(filter.isLost(at: last + .seconds(121)))
    #expect(filter.errorBound(at: last) < filter.errorBound(at: last + .seconds(60)))
  }

  @Test func `after a long silence the filter begins again with the drift it knew`() throws {
    var filter = ClockFilter()
    let trace = ClockTrace(.wired, seconds: 300, seed: 11, drift: 30e-6)
    var outcomes: [ClockFilter.Outcome] = []
    for entry in trace.entries where entry.arrival < 60 || entry.arrival > 200 {
      outcomes.append(filter.insert(entry.sample))
      if outcomes.last == .step { #expect(abs(filter.drift + 30e-6) < 2e-6) }
    }
    #expect(outcomes.filter { $0 == .step }.count == 1)
  }

  @Test func `a sample from before the window is rejected`() throws {
    var filter = ClockFilter()
    let entries = ClockTrace(.wired, seconds: 140, seed: 12).entries
    for entry in entries { _ = filter.insert(entry.sample) }
    #expect(filter.insert(try #require(entries.first).sample) == .rejected)
  }

  @Test func `samples a whole window apart belong together, with a nanosecond more they do not`()
    throws
  {
    for (excess, outcome) in [(0, .inserted), (1, .step)] as [(Int64, ClockFilter.Outcome)] {
      var filter = ClockFilter()
      #expect(filter.insert(try Self.exact(at: 0)) == .inserted)
      #expect(filter.insert(try Self.exact(at: Tuning.window.count + excess)) == outcome)
      #expect(filter.samples.count == 2 - Int(excess))
    }
    for (excess, outcome) in [(0, .inserted), (1, .rejected)] as [(Int64, ClockFilter.Outcome)] {
      var filter = ClockFilter()
      #expect(filter.insert(try Self.exact(at: Tuning.window.count + excess)) == .inserted)
      #expect(filter.insert(try Self.exact(at: 0)) == outcome)
    }
    for (excess, count) in [(0, 3), (1, 2)] as [(Int64, Int)] {
      var filter = ClockFilter()
      for time in [0, Tuning.window.count / 2, Tuning.window.count + excess] {
        #expect(filter.insert(try Self.exact(at: time)) == .inserted)
      }
      #expect(filter.samples.count == count)
    }
  }

  @Test(arguments: [(1, .quarantined), (100, .inserted)] as [(Int64, ClockFilter.Outcome)])
  func `the longer nothing was heard, the more the clocks may have moved`(
    seconds: Int64, outcome: ClockFilter.Outcome
  ) throws {
    var filter = ClockFilter()
    for index in 0..<600 as Range<Int64> {
      _ = filter.insert(try Self.exact(at: index * 50_000_000))
    }
    let late = try Self.exact(at: 29_950_000_000 + seconds * 1_000_000_000)
    #expect(filter.insert(try #require(shifted(late, by: 185_000))) == outcome)
  }

  @Test func `round trips are those of the samples`() throws {
    var filter = ClockFilter(solveInterval: .zero)
    #expect(filter.medianRoundTrip == nil)
    let entries = ClockTrace(.wifi, seconds: 20, seed: 13).entries
    for entry in entries { _ = filter.insert(entry.sample) }
    let sorted = entries.map(\.sample.roundTrip).sorted()
    #expect(filter.medianRoundTrip == sorted[sorted.count / 2])
  }

  @Test func `the samples are bounded, and the newest are kept`() throws {
    var filter = ClockFilter(solveInterval: .seconds(1))
    for index in 0..<16_000 as Range<Int64> {
      let sent = index * 10_000_000
      let delay: Int64 = index == 15_000 ? 50_000 : 60_000
      let sample = try #require(
        TimeSample(
          requestSentAt: LocalTime(nanoseconds: sent),
          requestReceivedAt: GroupTime(nanoseconds: sent + delay),
          answerSentAt: GroupTime(nanoseconds: sent + delay),
          answerReceivedAt: LocalTime(nanoseconds: sent + 2 * delay)))
      _ = filter.insert(sample)
      #expect(filter.samples.count <= ClockFilter.sampleLimit)
    }
    #expect(filter.samples.count == ClockFilter.sampleLimit)
    #expect(filter.samples.map(\.roundTrip).min() == .microseconds(100))
  }

  @Test func `after a step nothing is left of what was before`() throws {
    var filter = ClockFilter()
    var random = SplitMix64(seed: 9)
    var steps = 0
    func insert(at time: Int64, offset: Int64) throws {
      let up = Int64(random.uniform(100e3...200e3))
      let down = Int64(random.uniform(100e3...200e3))
      let received = GroupTime(nanoseconds: time + offset + up)
      let sample = try #require(
        TimeSample(
          requestSentAt: LocalTime(nanoseconds: time), requestReceivedAt: received,
          answerSentAt: received, answerReceivedAt: LocalTime(nanoseconds: time + up + down)))
      if filter.insert(sample) == .step { steps += 1 }
    }
    for index in 0..<12_000 as Range<Int64> { try insert(at: index * 2_500_000, offset: 0) }
    for index in 12_000..<13_200 as Range<Int64> {
      try insert(at: index * 2_500_000, offset: 50_000_000)
    }
    #expect(steps == 1)
    let estimate = try #require(filter.estimate(at: LocalTime(nanoseconds: 33_000_000_000)))
    #expect(abs((estimate.group.nanoseconds - estimate.local.nanoseconds) - 50_000_000) < 6_000)
    #expect(try #require(filter.fit?.deviation) < 5e-6)
  }

  @Test func `without smoothing the estimate is the line itself`() throws {
    var smooth = ClockFilter()
    var plain = ClockFilter()
    smooth.isSmoothed = true
    var largest = Nanoseconds.zero
    for entry in ClockTrace(.wifi, seconds: 30, seed: 15).entries {
      _ = smooth.insert(entry.sample)
      _ = plain.insert(entry.sample)
      let glided = try #require(smooth.estimate(at: entry.sample.arrival))
      let middle = try #require(plain.estimate(at: entry.sample.arrival))
      largest = max(largest, (glided.group - middle.group).magnitude)
      #expect(glided.errorBound >= middle.errorBound)
    }
    #expect(largest > .microseconds(5))
    smooth.isSmoothed = false
    let now = LocalTime(nanoseconds: 1_300_000_000_000)
    #expect(smooth.estimate(at: now) == plain.estimate(at: now))
  }

  @Test func `absurd timestamps trap nothing`() {
    var random = SplitMix64(seed: 14)
    var filter = ClockFilter()
    let edges: [Int64] = [.min, .max, 0, 1, -1, TimeSampleLimits.stamp, -TimeSampleLimits.stamp]
    for _ in 0..<20_000 {
      let local = Int64(random.uniform(0...100e9))
      let group = edges[Int(random.next() % 7)] &+ Int64(random.uniform(-1e9...1e9))
      guard
        let sample = TimeSample(
          requestSentAt: LocalTime(nanoseconds: local),
          requestReceivedAt: GroupTime(nanoseconds: group),
          answerSentAt: GroupTime(nanoseconds: group &+ Int64(random.uniform(0...1e6))),
          answerReceivedAt: LocalTime(nanoseconds: local + 2_000_000))
      else { continue }
      _ = filter.insert(sample)
      _ = filter.estimate(at: LocalTime(nanoseconds: local))
    }
  }

  /// A sample whose packets took 50 µs each, between clocks that show the same.
  private static func exact(at midpoint: Int64) throws -> TimeSample {
    let met = GroupTime(nanoseconds: midpoint)
    return try #require(
      TimeSample(
        requestSentAt: LocalTime(nanoseconds: midpoint - 50_000), requestReceivedAt: met,
        answerSentAt: met, answerReceivedAt: LocalTime(nanoseconds: midpoint + 50_000)))
  }

  private func shifted(_ sample: TimeSample, by offset: Int64) -> TimeSample? {
    let sent = sample.arrival - sample.roundTrip
    return TimeSample(
      requestSentAt: sent,
      requestReceivedAt: GroupTime(
        nanoseconds: sent.nanoseconds + sample.upperOffset.count + offset),
      answerSentAt: GroupTime(
        nanoseconds: sample.arrival.nanoseconds + sample.lowerOffset.count + offset),
      answerReceivedAt: sample.arrival)
  }
}

private enum TimeSampleLimits {
  static let stamp: Int64 = (1 << 60) - 2_000_000_000
}
