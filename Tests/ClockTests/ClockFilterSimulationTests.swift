import Clock
import Simulation
import Testing

/// The promises about the network clock, in virtual time, on the networks of the simulation.
struct ClockFilterSimulationTests {
  @Test(arguments: [
    (PathQuality.wired, 3.0), (.wifi, 50), (.wifiBad, 140), (.wifiPowerSave, 70),
  ])
  func `after a minute 99 of 100 errors are small`(path: PathQuality, microseconds: Double) {
    var errors: [Double] = []
    for seed in 0..<4 as Range<UInt64> {
      let trace = ClockTrace(path, seconds: 302, seed: seed)
      var filter = ClockFilter()
      filter.isSmoothed = true
      trace.play(into: &filter, every: 0.2, until: 300) { time, error, _, _ in
        if time > 60 { errors.append(abs(error) * 1e6) }
      }
    }
    errors.sort()
    let worstOfUsual = errors[errors.count * 99 / 100]
    #expect(worstOfUsual < microseconds)
  }

  @Test(arguments: [(PathQuality.wired, 50e-6, 1.0), (.wifi, 150e-6, 3.0)])
  func `a step is recovered from within seconds`(
    path: PathQuality, limit: Double, seconds: Double
  ) {
    var recoveries: [Double] = []
    for (seed, jump) in [5e-3, -1e-3, 5e-3, -5e-3, 1e-3, 5e-3, -5e-3].enumerated() {
      let trace = ClockTrace(path, seconds: 62, seed: UInt64(seed), jumps: [(at: 40, by: jump)])
      var filter = ClockFilter()
      filter.isSmoothed = true
      var lastBad = 40.0
      trace.play(into: &filter, every: 0.1, until: 45) { time, error, _, _ in
        if time > 40, abs(error) > limit { lastBad = time }
      }
      #expect(filter.generation >= 1)
      recoveries.append(lastBad - 40)
    }
    #expect(recoveries.sorted()[recoveries.count / 2] < seconds)
  }

  @Test func `a steady wired clock never steps`() {
    for seed in 0..<10 as Range<UInt64> {
      let trace = ClockTrace(.wired, seconds: 900, seed: 100 + seed)
      var filter = ClockFilter()
      for entry in trace.entries { _ = filter.insert(entry.sample) }
      #expect(filter.generation == 0)
    }
  }

  @Test func `the smoothed output moves little between two readings`() {
    for seed in 0..<4 as Range<UInt64> {
      let trace = ClockTrace(.wifi, seconds: 120, seed: seed)
      var filter = ClockFilter()
      filter.isSmoothed = true
      var before: ClockEstimate?
      trace.play(into: &filter, every: 0.05, until: 118) { time, _, estimate, _ in
        defer { before = estimate }
        guard time > 30, let before else { return }
        #expect(
          (estimate.group - before.groupTime(of: estimate.local)).magnitude < .microseconds(8))
      }
    }
  }

  @Test func `a stored drift makes the first seconds as good as later ones`() {
    for seed in 0..<10 as Range<UInt64> {
      let trace = ClockTrace(.wired, seconds: 12, seed: seed, interval: nil, drift: 45e-6)
      var filter = ClockFilter(storedDrift: -44.5e-6)
      trace.play(into: &filter, every: 0.05, until: 10) { time, error, _, _ in
        if time > 0.3 { #expect(abs(error) < 10e-6) }
      }
    }
  }
}
