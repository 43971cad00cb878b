import TestSupport
import Testing

@testable import Clock

struct CorridorTests {
  private static let open = SlopePrior(
    center: 0, halfWidth: 100e-6, fixedBelow: 0, opensAfter: .infinity)

  @Test func `the line keeps its margin from every sample`() throws {
    for seed in 0..<50 as Range<UInt64> {
      let samples = randomSamples(count: 40, seed: seed)
      let line = try #require(CorridorLine(through: samples, prior: Self.open))
      for sample in samples {
        let x = (sample.midpoint - line.origin).seconds
        let slack = CorridorLine.ageing * x * x
        let offset = line.relativeOffset(at: sample.midpoint)
        let upper = (sample.upperOffset - line.base).seconds + slack
        let lower = (sample.lowerOffset - line.base).seconds - slack
        #expect(upper - offset >= line.halfMargin - 1e-12)
        #expect(offset - lower >= line.halfMargin - 1e-12)
      }
    }
  }

  @Test func `no slope gives a wider corridor`() throws {
    for seed in 0..<50 as Range<UInt64> {
      let samples = randomSamples(count: 2 + Int(seed % 11), seed: seed)
      let line = try #require(CorridorLine(through: samples, prior: Self.open))
      for step in -2000...2000 {
        #expect(halfMargin(of: samples, slope: Double(step) * 50e-9) <= line.halfMargin + 1e-12)
      }
    }
  }

  @Test func `where slopes are equally good the middle one is taken`() throws {
    // One fast exchange among slow ones bounds the corridor on both sides.
    let samples = try [0.0, 1, 2].map { time in
      try #require(
        sample(at: time, offset: 0, up: time == 1 ? 50e-6 : 90e-6, down: time == 1 ? 50e-6 : 90e-6))
    }
    let line = try #require(CorridorLine(through: samples, prior: Self.open))
    #expect(abs(line.slope) < 1e-9)
    #expect(abs(line.slopeError - 60e-6) < 1e-6)
  }

  @Test func `a shift of either clock shifts the line and nothing else`() throws {
    let plain = randomSamples(count: 30, seed: 1)
    let moved = randomSamples(count: 30, seed: 1, origin: 2e8, offset: -7e8)
    let line = try #require(CorridorLine(through: plain, prior: Self.open))
    let other = try #require(CorridorLine(through: moved, prior: Self.open))
    #expect(abs(line.slope - other.slope) < 1e-10)
    #expect(abs(line.halfMargin - other.halfMargin) < 2e-9)
    let shift = other.offset(at: other.origin) - line.offset(at: line.origin)
    #expect((shift - .seconds(-700_000_000)).magnitude <= Nanoseconds(2))
  }

  @Test func `a slower exchange changes nothing`() throws {
    var samples = randomSamples(count: 30, seed: 2)
    let line = try #require(CorridorLine(through: samples, prior: Self.open))
    let slow = try #require(sample(at: 4.2, offset: 0, up: 0.2, down: 0.3))
    let index = samples.firstIndex { $0.midpoint > slow.midpoint } ?? samples.count
    samples.insert(slow, at: min(index, samples.count - 1))
    let other = try #require(CorridorLine(through: samples, prior: Self.open))
    #expect(other.slope == line.slope)
    #expect(other.intercept == line.intercept)
  }

  @Test func `one sample gives its middle, and none gives nothing`() throws {
    let single = try #require(sample(at: 1, offset: 3, up: 1e-4, down: 3e-4))
    let line = try #require(CorridorLine(through: [single], prior: .cold))
    #expect((line.offset(at: line.origin) - Nanoseconds(2_999_900_000)).magnitude < Nanoseconds(3))
    #expect(CorridorLine(through: [], prior: .cold) == nil)
  }

  @Test func `the slope stays at the prior until the span allows more`() throws {
    let samples = try stride(from: 0.0, to: 0.9, by: 0.1).map {
      try #require(sample(at: $0, offset: 50e-6 * $0, up: 1e-5, down: 1e-5))
    }
    #expect(try #require(CorridorLine(through: samples, prior: .cold)).slope == 0)
    let carried = CorridorLine(through: samples, prior: .carried(49e-6))
    #expect(try #require(carried).slope == 49e-6)
    let stored = CorridorLine(through: samples, prior: .stored(49e-6))
    #expect(abs(try #require(stored).slope - 50e-6) < 1e-6)
  }

  private func halfMargin(of samples: [TimeSample], slope: Double) -> Double {
    guard let newest = samples.last else { return 0 }
    var ceiling = Double.infinity
    var floor = -Double.infinity
    for sample in samples {
      let x = (sample.midpoint - newest.midpoint).seconds
      let slack = CorridorLine.ageing * x * x
      ceiling = min(ceiling, (sample.upperOffset - newest.upperOffset).seconds + slack - slope * x)
      floor = max(floor, (sample.lowerOffset - newest.upperOffset).seconds - slack - slope * x)
    }
    return 0.5 * (ceiling - floor)
  }

  private func randomSamples(
    count: Int, seed: UInt64, origin: Double = 0, offset: Double = 0
  ) -> [TimeSample] {
    var random = SplitMix64(seed: seed)
    let drift = random.uniform(-80e-6, 80e-6)
    return (0..<count).compactMap { _ in
      let time = random.uniform(0, 10)
      let up = 50e-6 + random.exponential(mean: 100e-6)
      let down = 50e-6 + random.exponential(mean: 100e-6)
      return sample(
        at: time, origin: origin, offset: drift * time, constant: offset, up: up, down: down)
    }.sorted { $0.midpoint < $1.midpoint }
  }

  /// An exchange whose packets take `up` and `down` seconds, around local time `origin + time`. Sums of small
  /// and large numbers are made in nanoseconds, so that they keep their digits.
  private func sample(
    at time: Double, origin: Double = 0, offset: Double, constant: Double = 0, up: Double,
    down: Double
  ) -> TimeSample? {
    func nanoseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }
    let start = nanoseconds(origin) + nanoseconds(time)
    let shift = nanoseconds(constant) + nanoseconds(offset)
    return TimeSample(
      requestSentAt: LocalTime(nanoseconds: start - nanoseconds(up)),
      requestReceivedAt: GroupTime(nanoseconds: start + shift),
      answerSentAt: GroupTime(nanoseconds: start + shift),
      answerReceivedAt: LocalTime(nanoseconds: start + nanoseconds(down)))
  }
}
