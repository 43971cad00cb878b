import Audio
import Clock
import Sender
import Simulation
import TestSupport

/// A stand-in of a program of an input, which writes samples into a pipe as the real one does, with pauses, and the intake that
/// reads the pipe as the daemon does. All times are true times, in seconds.
struct ProgramTrial {
  enum Kind {
    /// `librespot --backend pipe`: writes as fast as the pipe takes it.
    case librespot
    /// `arecord` of bluez-alsa: writes periods of an eighth of a second by the phone's clock, and some late.
    case bluealsa
  }

  struct Verdict {
    var pauses = 0
    /// Times without sound, beside the pauses.
    var holes = 0
    var jumps = 0
    /// Most frames after a pause that were not heard, in seconds.
    var lost = 0.0
    /// Time from the writing of a frame to its due time.
    var least = Double.infinity
    var most = -Double.infinity
    /// Most that was read, and not heard yet.
    var ahead = 0.0
  }

  static let sampleRate = 2_000
  /// Seconds of sound that wait in the pipe of an input.
  private static let pipe = 0.34
  /// Rooms buffer the input as music.
  private static let allowance = Nanoseconds.milliseconds(250)
  private static let lateness = 5e-3
  /// The delay counts from so long after the program has begun: its clock is measured meanwhile.
  private static let settling = 200.0

  var kind: Kind
  /// Drift of the program's clock, in millionths.
  var drift: Double
  /// The program plays, pauses and plays on.
  var played = 1_800.0
  var paused = 20.0

  private var pace: Double { Double(Self.sampleRate) * (1 + drift * 1e-6) }

  func play(for seconds: Double) -> Verdict {
    var run = Run(self)
    while run.now < seconds { run.step() }
    run.verdict.pauses = run.pauses
    run.verdict.holes = run.intake.figures.holes - run.pauses
    run.verdict.jumps = run.intake.figures.jumps
    return run.verdict
  }

  private struct Run {
    let trial: ProgramTrial
    let intake: LiveIntake
    var verdict = Verdict()
    var now = 0.0
    var pauses = 0
    private var pacing = PipePacing(sampleRate: ProgramTrial.sampleRate)
    private var random = SplitMix64(seed: 11)
    /// When the present stretch of music began, and the frames that were written before.
    private var begun = 0.0
    private var before: Int64 = 0
    private var written: Int64 = 0
    private var isNew = false

    init(_ trial: ProgramTrial) {
      self.trial = trial
      let format = AudioFormat(sampleRate: ProgramTrial.sampleRate, channelCount: 1)
      intake = LiveIntake(
        .init(
          format: format, blockFrames: ProgramTrial.sampleRate / 100,
          allowance: ProgramTrial.allowance),
        clock: .pipe(PipeClock(sampleRate: ProgramTrial.sampleRate)), at: LocalTime(nanoseconds: 0))
    }

    mutating func step() {
      if now - begun >= trial.played { pause() }
      switch trial.kind {
      case .bluealsa:
        let next = begun + Double(written - before) / trial.pace + 0.125
        take(until: next + random.exponential(mean: ProgramTrial.lateness))
        read(Int(trial.pace * 0.125))
      case .librespot:
        take(until: now + 0.01)
        // The pipe is full again at once.
        let full = Int(ProgramTrial.pipe * Double(ProgramTrial.sampleRate))
        let wanted = intake.wantedFrames(at: time(now), lead: .milliseconds(10))
        read(min(wanted ?? full, full))
        if pacing.read(
          min(wanted ?? full, full), available: full, of: full, at: time(now))
        {
          intake.pace()
        }
      }
    }

    private mutating func pause() {
      take(until: now + trial.paused)
      pauses += 1
      (begun, before, isNew) = (now, written, true)
    }

    private mutating func read(_ frames: Int) {
      guard frames > 0 else { return }
      intake.arrived([Float](repeating: 0.25, count: frames), at: time(now))
      written += Int64(frames)
      take(at: now)
      verdict.ahead = max(
        verdict.ahead, (Double(written) - intake.position) / Double(ProgramTrial.sampleRate))
    }

    private func time(_ seconds: Double) -> LocalTime {
      LocalTime(nanoseconds: Int64(seconds * 1e9))
    }

    private mutating func take(until end: Double) {
      while intake.nextDeadline < time(end) {
        take(at: Double(intake.nextDeadline.nanoseconds) * 1e-9)
      }
      now = max(now, end)
    }

    private mutating func take(at now: Double) {
      // A nanosecond more than a deadline, to allow for rounding.
      while let block = intake.nextBlock(at: time(now) + Nanoseconds(1)) {
        guard !block.hasHole else { continue }
        let frames = Double(ProgramTrial.sampleRate / 100)
        if isNew, intake.position > Double(before) + frames {
          isNew = false
          verdict.lost = max(
            verdict.lost,
            (intake.position - frames - Double(before)) / Double(ProgramTrial.sampleRate))
        }
        guard trial.kind == .bluealsa, now - begun > ProgramTrial.settling else { continue }
        let made = begun + (intake.position - Double(before)) / trial.pace
        let delay = Double(block.due.nanoseconds) * 1e-9 + 0.01 - made
        (verdict.least, verdict.most) = (min(verdict.least, delay), max(verdict.most, delay))
      }
    }
  }
}
