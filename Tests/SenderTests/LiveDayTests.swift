import Audio
import Clock
import Sender
import TestSupport
import Testing

/// Simulates programs whose clocks differ from this machine's, and which write late, for hours.
enum LiveDay {
  private static let rate = 8_000
  /// Seconds; before that the source's clock is not known.
  private static let settling = 120.0

  /// Returns the largest deviation of the time from a frame's creation to its sound from the middle, in seconds, and
  /// the number of holes.
  static func run(ppm: Double, burst: Double, hours: Double) -> (deviation: Double, holes: Int) {
    let intake = LiveIntake(
      .init(
        format: AudioFormat(sampleRate: rate, channelCount: 1), blockFrames: rate / 100,
        allowance: .milliseconds(Int64(2000 * burst))),
      clock: .pipe(PipeClock(sampleRate: rate)), at: LocalTime(nanoseconds: 0))
    var random = SplitMix64(seed: 3)
    let frames = Int(burst * Double(rate))
    let pace = Double(rate) * (1 + ppm * 1e-6)
    let samples = [Float](repeating: 0.5, count: frames)
    var (least, most, holes) = (Double.infinity, -Double.infinity, 0)
    var written = 0.0
    while written / pace < hours * 3600 {
      written += Double(frames)
      // A program writes up to 2 ms late.
      let late = Double(random.next() % 2_000) * 1e-6
      let now = LocalTime(nanoseconds: Int64((written / pace + late) * 1e9))
      intake.arrived(samples, at: now)
      while let block = intake.nextBlock(at: now) {
        let due = Double(block.due.nanoseconds) * 1e-9
        guard due > settling else { continue }
        let age = (due + 0.01) - intake.position / pace
        (least, most) = (min(least, age), max(most, age))
        holes += block.hasHole ? 1 : 0
      }
    }
    return ((most - least) / 2, holes)
  }

  static func expectSteady(hours: Double) {
    let programs = [(200, 0.01), (-200, 0.01), (35, 0.1), (-35, 0.1)] as [(Double, Double)]
    for (ppm, burst) in programs {
      let (deviation, holes) = run(ppm: ppm, burst: burst, hours: hours)
      #expect(deviation < 2e-3, "\(ppm) ppm in blocks of \(burst) s: \(deviation) s")
      #expect(holes == 0, "\(ppm) ppm in blocks of \(burst) s")
    }
  }
}

@Suite struct LiveDayTests {
  @Test func `a source that is fast, slow or late is heard at one latency for minutes`() {
    LiveDay.expectSteady(hours: 0.2)
  }
}

@Suite struct LiveDayLongTests {
  @Test func `a source that is fast, slow or late is heard at one latency for a day`() {
    LiveDay.expectSteady(hours: 24)
  }
}
