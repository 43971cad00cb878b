import Clock
import Sender
import Simulation
import TestSupport
import Testing

@Suite struct PipeClockTests {
  /// A program at 48 kHz with a clock error of `drift` writes every `burst` seconds. Its output is read late.
  private func watch(
    _ clock: inout PipeClock, drift: Double, burst: Double, lateness: Double,
    from start: Double = 0, to end: Double, pausedFor pause: Double = 0
  ) {
    var random = SplitMix64(seed: 1)
    var time = start
    while time < end {
      time += burst
      let late = time + random.exponential(mean: lateness)
      clock.observe(
        Int64((time - pause) * 48_000 * (1 + drift)),
        at: LocalTime(nanoseconds: Int64(late * 1e9)))
    }
  }

  /// Returns the seconds by which the clock is ahead at `time`.
  private func error(_ clock: PipeClock, drift: Double, at time: Double) -> Double {
    let frame = clock.frame(at: LocalTime(nanoseconds: Int64(time * 1e9)))
    return frame / 48_000 / (1 + drift) - time
  }

  @Test(arguments: [200e-6, -200e-6, 0], [0.005, 0.1])
  func `the drift is found although all reads are late`(drift: Double, burst: Double) {
    var clock = PipeClock(sampleRate: 48_000)
    watch(&clock, drift: drift, burst: burst, lateness: 2e-3, to: 130)
    #expect((clock.drift - drift).magnitude < 10e-6)
    #expect(error(clock, drift: drift, at: 130).magnitude < 1e-3)
  }

  @Test func `it settles with the second burst, after a tenth of a second`() {
    var clock = PipeClock(sampleRate: 48_000)
    #expect(!clock.isSettled)
    clock.observe(480, at: LocalTime(nanoseconds: 0))
    #expect(!clock.isSettled)
    clock.observe(960, at: LocalTime(nanoseconds: 10_000_000))
    #expect(!clock.isSettled)
    clock.observe(5280, at: LocalTime(nanoseconds: 100_000_000))
    #expect(clock.isSettled)
  }

  @Test func `a slope beyond any crystal is not believed`() {
    var clock = PipeClock(sampleRate: 48_000)
    watch(&clock, drift: 5e-3, burst: 0.01, lateness: 1e-6, to: 30)
    #expect(clock.drift == 1000e-6)
    watch(&clock, drift: 5e-3, burst: 0.01, lateness: 1e-6, from: 30, to: 70)
    #expect(clock.drift == 300e-6)
  }

  @Test func `after a pause the drift stays and the place is found anew`() {
    var clock = PipeClock(sampleRate: 48_000)
    watch(&clock, drift: 100e-6, burst: 0.01, lateness: 1e-3, to: 100)
    let drift = clock.drift
    clock.rephase()
    #expect(!clock.isSettled)
    watch(
      &clock, drift: 100e-6, burst: 0.01, lateness: 1e-3, from: 103, to: 104, pausedFor: 3)
    #expect(clock.drift == drift)
    #expect((error(clock, drift: 100e-6, at: 104) + 3).magnitude < 1e-3)
  }

  @Test func `minutes of reads are kept as a few points`() {
    // A read every 5 ms for ten minutes, each later than the one before, so that all of them would lie on the
    // hull.
    var clock = PipeClock(sampleRate: 48_000)
    watch(&clock, drift: -250e-6, burst: 0.005, lateness: 1e-3, to: 600)
    #expect(clock.pointCount <= 242)
  }
}
