import Clock
import Testing

/// Tests of the clocks of live sources, measured for hours.
@Suite struct LiveSourceTests {
  static let trials = [
    LiveSourceTrial(drift: 200, burst: 0.01), LiveSourceTrial(drift: -200, burst: 0.01, seed: 2),
    LiveSourceTrial(drift: 30, burst: 0.1, seed: 3),
    LiveSourceTrial(drift: -200, burst: 0.1, lateness: 2e-3, seed: 4),
  ]

  @Test(arguments: trials)
  func `for an hour a source keeps its latency and has no hole`(trial: LiveSourceTrial) {
    expectSteady(trial, for: 3600)
  }

  @Test func `after a hiccup a source goes on at the same latency`() {
    var trial = LiveSourceTrial(drift: 50, burst: 0.02, seed: 5)
    trial.hiccups = [30...30.3, 60...61.5, 90...90.05]
    let verdict = trial.play(for: 120, settled: 10, allowance: .milliseconds(100))
    print("   hiccups", verdict)
    // The third pause is shorter than the source may be late.
    #expect(verdict.holes == 2)
    #expect(verdict.most - verdict.least < 4)
  }

  static func expectSteady(_ trial: LiveSourceTrial, for seconds: Double) {
    let verdict = trial.play(for: seconds, settled: 5, allowance: .milliseconds(150))
    print("   live source", verdict)
    #expect(verdict.holes == 0)
    #expect(verdict.jumps == 0)
    #expect(verdict.most < 2)
    #expect(verdict.least > -2)
    #expect(verdict.blocks > Int(seconds * 99))
  }

  private func expectSteady(_ trial: LiveSourceTrial, for seconds: Double) {
    Self.expectSteady(trial, for: seconds)
  }
}

@Suite struct LiveSourceLongTests {
  /// As far off as cheap crystals are. A program writes bursts of a tenth of a second.
  @Test(arguments: [300.0, -300])
  func `for a day a program with a clock of its own has no hole`(drift: Double) {
    let trial = LiveSourceTrial(
      sampleRate: 2_000, drift: drift, burst: 0.1, lateness: 2e-3, seed: 7)
    LiveSourceTests.expectSteady(trial, for: 86_400)
  }
}
