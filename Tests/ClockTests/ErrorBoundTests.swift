import Clock
import Simulation
import Testing

struct ErrorBoundTests {
  /// Each phase for itself: the slope is fixed in the first second and hardly known in the next ones.
  @Test(arguments: [PathQuality.wired, .wifi, .wifiBad, .wifiPowerSave])
  func `the error stays within its bound in more than 99 of 100 cases`(path: PathQuality) {
    let phases = [0.0..<1, 1..<2, 2..<5, 5..<30]
    var looks = phases.map { _ in 0 }
    var beyond = looks
    for seed in 0..<40 as Range<UInt64> {
      let drift = 60e-6 * (Double(seed) / 19.5 - 1)
      let trace = ClockTrace(path, seconds: 32, seed: seed, interval: nil, drift: drift)
      var filter = ClockFilter()
      trace.play(into: &filter, every: 0.05, until: 30) { time, error, estimate, _ in
        guard let phase = phases.firstIndex(where: { $0.contains(time) }) else { return }
        looks[phase] += 1
        if abs(error) > estimate.errorBound.seconds { beyond[phase] += 1 }
      }
    }
    for (phase, range) in phases.enumerated() {
      #expect(looks[phase] > 500)
      #expect(beyond[phase] * 100 < looks[phase], "between \(range) s")
    }
  }

  @Test(arguments: [PathQuality.wired, .wifi])
  func `the bound holds while no samples come`(path: PathQuality) {
    for seed in 0..<20 as Range<UInt64> {
      var trace = ClockTrace(path, seconds: 300, seed: seed)
      trace.entries.removeAll { $0.arrival > 100 }
      var filter = ClockFilter()
      trace.play(into: &filter, every: 1, until: 200) { time, error, estimate, _ in
        if time > 100 { #expect(abs(error) <= estimate.errorBound.seconds) }
      }
    }
  }

  @Test func `a quick start on a wire is bounded by the time it is used`() {
    for seed in 0..<60 as Range<UInt64> {
      let drift = 60e-6 * (Double(seed) / 29.5 - 1)
      let trace = ClockTrace(.wired, seconds: 4, seed: seed, interval: nil, drift: drift)
      var filter = ClockFilter()
      var lockedAt: Double?
      trace.play(into: &filter, every: 0.005, until: 2.5) { time, error, estimate, filter in
        guard filter.isLocked else { return }
        if lockedAt == nil { lockedAt = time }
        #expect(abs(error) < 100e-6)
        #expect(abs(error) <= estimate.errorBound.seconds)
      }
      // The first probe leaves at 50 ms.
      #expect((lockedAt ?? .infinity) < 0.2)
    }
  }

  @Test func `a quick start on Wi-Fi takes a second and is within a millisecond`() {
    for seed in 0..<60 as Range<UInt64> {
      let trace = ClockTrace(.wifi, seconds: 6, seed: seed, interval: nil)
      var filter = ClockFilter()
      var lockedAt: Double?
      trace.play(into: &filter, every: 0.01, until: 4.5) { time, error, _, filter in
        guard filter.isLocked else { return }
        if lockedAt == nil { lockedAt = time }
        #expect(abs(error) < 1e-3)
      }
      #expect((lockedAt ?? .infinity) < 1.6)
    }
  }
}
