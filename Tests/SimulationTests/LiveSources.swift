import Audio
import Clock
import Sender
import Simulation
import TestSupport

/// A program that makes audio by a clock of its own and writes it in bursts into a pipe, and the intake that reads it.
/// The audio is a slow sine. All times are true times.
struct LiveSourceTrial {
  var sampleRate = 8_000
  /// Drift of the program's clock, in millionths.
  var drift: Double
  /// Seconds.
  var burst: Double
  /// Average delay of reading a burst, in seconds.
  var lateness = 0.5e-3
  /// Periods in seconds: audio written in one is read at its end.
  var hiccups: [ClosedRange<Double>] = []
  var seed: UInt64 = 1

  struct Verdict {
    /// Time from the creation of a frame to its due time, in milliseconds.
    var least = Double.infinity
    var most = -Double.infinity
    var holes = 0
    var jumps = 0
    var blocks = 0
    var breaks = 0
  }

  /// Plays for this many seconds; delays and holes count from `settled` on.
  func play(for seconds: Double, settled: Double, allowance: Nanoseconds) -> Verdict {
    let format = AudioFormat(sampleRate: sampleRate, channelCount: 1)
    let intake = LiveIntake(
      .init(format: format, blockFrames: sampleRate / 100, allowance: allowance),
      clock: .pipe(PipeClock(sampleRate: sampleRate)), at: Self.time(0))
    var random = SplitMix64(seed: seed)
    var verdict = Verdict()
    var made: Int64 = 0
    var written = 0.0
    var holesBefore = 0
    while written < seconds {
      written += burst
      let arrival = readTime(written + random.exponential(mean: lateness))
      take(until: arrival, from: intake, settled: settled, &verdict)
      if written <= settled { holesBefore = intake.figures.holes }
      let end = Int64(written * Double(sampleRate) * (1 + drift * 1e-6))
      intake.arrived(
        [Float](repeating: 0.25, count: Int(end - made)), at: Self.time(arrival))
      made = end
      take(at: arrival, from: intake, settled: settled, &verdict)
    }
    verdict.holes = intake.figures.holes - holesBefore
    verdict.jumps = intake.figures.jumps
    return verdict
  }

  private func readTime(_ time: Double) -> Double {
    for hiccup in hiccups where hiccup.contains(time) { return hiccup.upperBound }
    return time
  }

  private static func time(_ seconds: Double) -> LocalTime {
    LocalTime(nanoseconds: Int64(seconds * 1e9))
  }

  /// Wakes the intake at its deadlines.
  private func take(
    until end: Double, from intake: LiveIntake, settled: Double, _ verdict: inout Verdict
  ) {
    while intake.nextDeadline < Self.time(end) {
      let deadline = Double(intake.nextDeadline.nanoseconds) * 1e-9
      take(at: deadline, from: intake, settled: settled, &verdict)
    }
  }

  private func take(
    at now: Double, from intake: LiveIntake, settled: Double, _ verdict: inout Verdict
  ) {
    // A nanosecond more than a deadline, to allow for rounding.
    while let block = intake.nextBlock(at: Self.time(now) + Nanoseconds(1)) {
      verdict.blocks += 1
      guard now > settled, !block.hasHole else { continue }
      let end = Double(block.due.nanoseconds) * 1e-9 + 0.01
      let made = intake.position / Double(sampleRate) / (1 + drift * 1e-6)
      verdict.least = min(verdict.least, (end - made) * 1e3)
      verdict.most = max(verdict.most, (end - made) * 1e3)
    }
  }
}
