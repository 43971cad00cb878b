import Simulation
import TestSupport
import Testing

@testable import Clock

struct CorridorTests {
  private static let open = SlopePrior.unknown

  @Test func `the line keeps its margin from every sample`() throws {
    for seed in 0..<50 as Range<UInt64> {
      let samples = randomSamples(count: 40, seed: seed)
      let line = try #require(Corridor(through: samples, prior: Self.open))
      for sample in samples {
        let x = (sample.midpoint - line.middle.origin).seconds
        let slack = Facts.ageing * x * x
        let offset = line.middle.relativeOffset(at: sample.midpoint)
        let upper = (sample.upperOffset - line.middle.base).seconds + slack
        let lower = (sample.lowerOffset - line.middle.base).seconds - slack
        #expect(upper - offset >= line.halfMargin - 1e-12)
        #expect(offset - lower >= line.halfMargin - 1e-12)
      }
    }
  }

  @Test func `no slope gives a wider corridor`() throws {
    for seed in 0..<50 as Range<UInt64> {
      let samples = randomSamples(count: 2 + Int(seed % 11), seed: seed)
      let line = try #require(Corridor(through: samples, prior: Self.open))
      // Over more than a second, the samples determine the slope.
      guard line.span > 1 else { continue }
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
    let line = try #require(Corridor(through: samples, prior: Self.open))
    #expect(abs(line.middle.slope) < 1e-9)
  }

  @Test func `a shift of either clock shifts the line and nothing else`() throws {
    let plain = randomSamples(count: 30, seed: 1)
    let moved = randomSamples(count: 30, seed: 1, origin: 2e8, offset: -7e8)
    let line = try #require(Corridor(through: plain, prior: Self.open))
    let other = try #require(Corridor(through: moved, prior: Self.open))
    #expect(abs(line.middle.slope - other.middle.slope) < 1e-10)
    #expect(abs(line.halfMargin - other.halfMargin) < 2e-9)
    let shift =
      other.middle.offset(at: other.middle.origin) - line.middle.offset(at: line.middle.origin)
    #expect((shift - .seconds(-700_000_000)).magnitude <= Nanoseconds(2))
  }

  @Test func `a slower exchange changes nothing`() throws {
    var samples = randomSamples(count: 30, seed: 2)
    let line = try #require(Corridor(through: samples, prior: Self.open))
    let slow = try #require(sample(at: 4.2, offset: 0, up: 0.2, down: 0.3))
    let index = samples.firstIndex { $0.midpoint > slow.midpoint } ?? samples.count
    samples.insert(slow, at: min(index, samples.count - 1))
    let other = try #require(Corridor(through: samples, prior: Self.open))
    #expect(other.middle.slope == line.middle.slope)
    #expect(other.middle.intercept == line.middle.intercept)
  }

  @Test func `one sample gives its middle, and none gives nothing`() throws {
    let single = try #require(sample(at: 1, offset: 3, up: 1e-4, down: 3e-4))
    let line = try #require(Corridor(through: [single], prior: .unknown))
    #expect(
      (line.middle.offset(at: line.middle.origin) - Nanoseconds(2_999_900_000)).magnitude
        < Nanoseconds(3))
    #expect(Corridor(through: [], prior: .unknown) == nil)
  }

  @Test func `the slope stays at the prior until the span allows more`() throws {
    let samples = try stride(from: 0.0, to: 0.9, by: 0.1).map {
      try #require(sample(at: $0, offset: 50e-6 * $0, up: 1e-5, down: 1e-5))
    }
    #expect(try #require(Corridor(through: samples, prior: .unknown)).middle.slope == 0)
    let measured = Corridor(through: samples, prior: .measured(49e-6))
    #expect(try #require(measured).middle.slope == 49e-6)
  }

  private func halfMargin(of samples: [TimeSample], slope: Double) -> Double {
    guard let newest = samples.last else { return 0 }
    var ceiling = Double.infinity
    var floor = -Double.infinity
    for sample in samples {
      let x = (sample.midpoint - newest.midpoint).seconds
      let slack = Facts.ageing * x * x
      ceiling = min(ceiling, (sample.upperOffset - newest.upperOffset).seconds + slack - slope * x)
      floor = max(floor, (sample.lowerOffset - newest.upperOffset).seconds - slack - slope * x)
    }
    return 0.5 * (ceiling - floor)
  }

  private func randomSamples(
    count: Int, seed: UInt64, origin: Double = 0, offset: Double = 0
  ) -> [TimeSample] {
    var random = SplitMix64(seed: seed)
    let drift = random.uniform(-80e-6...80e-6)
    return (0..<count).compactMap { _ in
      let time = random.uniform(0...10)
      let up = 50e-6 + random.exponential(mean: 100e-6)
      let down = 50e-6 + random.exponential(mean: 100e-6)
      return sample(
        at: time, origin: origin, offset: drift * time, constant: offset, up: up, down: down)
    }.sorted { $0.midpoint < $1.midpoint }
  }

  /// An exchange whose packets take `up` and `down` seconds, around local time `origin + time`. Small and
  /// large numbers are added in nanoseconds, so that no digits are lost.
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
