import Foundation
import TestSupport
import Testing

@testable import Clock

struct MidpointRegressionTests {
  @Test func `midpoints on a line give that line`() throws {
    // The offset is 2 ms and grows by 7 ppm; round trips take 1 ms, evenly divided.
    let samples = try (0..<200).map { index in
      try sample(at: Double(index) * 0.05, offset: 2e-3 + 7e-6 * Double(index) * 0.05)
    }
    let line = try #require(CorridorLine(through: samples, prior: .cold))
    let regression = try #require(MidpointRegression(through: samples, relativeTo: line))
    let intercept = line.intercept + regression.intercept + line.base.seconds
    #expect(abs(intercept - (2e-3 + 7e-6 * 9.95)) < 20e-9)
    #expect(abs(line.slope + regression.slope - 7e-6) < 20e-9)
    #expect(regression.deviation < 2e-6)
    #expect(abs(regression.asymmetry) < 1e-9)
  }

  @Test func `no samples give no line`() throws {
    let line = try #require(CorridorLine(through: [sample(at: 0, offset: 0)], prior: .cold))
    #expect(MidpointRegression(through: [TimeSample](), relativeTo: line) == nil)
  }

  @Test func `delays of one direction show as asymmetry`() throws {
    var random = SplitMix64(seed: 1)
    let samples = try (0..<400).map { index in
      try sample(at: Double(index) * 0.05, offset: 0, extraUp: random.uniform(0, 400e-6))
    }
    let line = try #require(CorridorLine(through: samples, prior: .cold))
    let regression = try #require(MidpointRegression(through: samples, relativeTo: line))
    // The requests' delay shifts the midpoints up, by half of it.
    #expect(regression.asymmetry > 5e-6)
    #expect(regression.asymmetry >= 0.8 * regression.intercept)
  }

  /// The usual memory of nine times two minutes of evenly scattered delays, 20 exchanges a second. 3 ppm up and down every 45 s
  /// are 20 µs.
  @Test(arguments: [(0.0, 20.0...64), (3e-6, 0.0...12)])
  func `steady clocks are remembered for long, and clocks that wander are not`(
    wander: Double, memory: ClosedRange<Double>
  ) throws {
    let turn = 2 * Double.pi / 45
    let memories = try (0..<9 as Range<UInt64>).map { seed in
      var random = SplitMix64(seed: seed)
      let samples = try (0..<2400).map { index in
        let time = Double(index) * 0.05
        return try self.sample(
          at: time, offset: wander / turn * sin(turn * time), extraUp: random.uniform(0, 300e-6))
      }
      let line = try #require(CorridorLine(through: samples, prior: .cold))
      let regression = try #require(MidpointRegression(through: samples, relativeTo: line))
      return regression.memory
    }
    #expect(memory.contains(memories.sorted()[4]), "\(memories)")
  }

  @Test func `one sample claims no more than its round trip tells`() throws {
    let samples = [try sample(at: 0, offset: 1)]
    let line = try #require(CorridorLine(through: samples, prior: .cold))
    let regression = try #require(MidpointRegression(through: samples, relativeTo: line))
    #expect(abs(regression.intercept) < 1e-9)
    #expect(regression.deviation > 200e-6)
  }

  @Test func `the exponential agrees with the library's`() {
    for z in stride(from: -20.0, through: 0, by: 0.01) {
      #expect(abs(exponential(z) / exp(z) - 1) < 2e-4)
    }
    #expect(exponential(-1e9) == 0)
  }

  private func sample(at time: Double, offset: Double, extraUp: Double = 0) throws -> TimeSample {
    func stamp(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }
    let received = time + offset + 500e-6 + extraUp
    return try #require(
      TimeSample(
        requestSentAt: LocalTime(nanoseconds: stamp(time)),
        requestReceivedAt: GroupTime(nanoseconds: stamp(received)),
        answerSentAt: GroupTime(nanoseconds: stamp(received)),
        answerReceivedAt: LocalTime(nanoseconds: stamp(time + 1e-3 + extraUp))))
  }
}

extension MidpointRegression {
  fileprivate init?(through samples: [TimeSample], relativeTo line: CorridorLine) {
    let midpoints = samples.map { Midpoint($0, relativeTo: line) }
    let weights = MidpointWeights(midpoints.map(\.roundTrip), tuning: ClockTuning())
    self.init(through: midpoints, weighedBy: weights, relativeTo: line, prior: .cold)
  }
}
