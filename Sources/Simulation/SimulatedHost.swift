package import Clock

/// A machine: its monotonic clock, which is wrong in realistic ways, and its scheduler, which is late.
package struct SimulatedHost {
  package struct Quality: Sendable {
    package var crystal: Oscillator.Quality
    /// Initial time of the clock, because hosts were started at different times.
    package var offset: Nanoseconds
    /// Mean lateness of wake-ups; most are far quicker than the worst.
    package var lateness = Nanoseconds.microseconds(60)
    /// Share of wake-ups that are late by milliseconds.
    package var hiccups = 0.002

    package init(crystal: Oscillator.Quality, offset: Nanoseconds) {
      self.crystal = crystal
      self.offset = offset
    }
  }

  private let quality: Quality
  private var oscillator: Oscillator
  private var random: SplitMix64
  /// Steps of the clock, in order; a negative one is a suspend, in which it stood still.
  private var steps: [(at: TrueTime, by: Nanoseconds)] = []
  /// Times for which its program believes to have slept; the group's time continued meanwhile.
  private var sleeps: [(at: TrueTime, by: Nanoseconds)] = []
  /// Nothing on this machine runs before this time.
  private(set) var frozenUntil = TrueTime.zero

  init(_ quality: Quality, seed: UInt64, part: UInt64) {
    self.quality = quality
    oscillator = Oscillator(quality.crystal, random: SplitMix64(seed: seed, part: part))
    random = SplitMix64(seed: seed, part: part &+ 1)
  }

  mutating func local(at time: TrueTime) -> LocalTime {
    LocalTime(nanoseconds: base(at: time) + stepSum(at: time))
  }

  /// Returns when the clock shows `local`, if it is not stepped before.
  mutating func trueTime(of local: LocalTime, after now: TrueTime) -> TrueTime {
    let elapsed = Double(local.nanoseconds - quality.offset.count - stepSum(at: now)) * 1e-9
    return TrueTime(seconds: oscillator.time(ofElapsed: max(0, elapsed)))
  }

  /// Returns when a thread that should wake at `time` runs.
  mutating func wakeTime(for time: TrueTime) -> TrueTime {
    let mean = quality.lateness.seconds
    var late = mean > 0 ? random.exponential(mean: mean) : 0
    if quality.hiccups > 0, random.chance(quality.hiccups) {
      late += random.exponential(mean: 2e-3)
    }
    return max(time + Nanoseconds(seconds: late), frozenUntil)
  }

  /// Returns the time that a small piece of work takes.
  mutating func workTime() -> Nanoseconds {
    quality.lateness == .zero
      ? Nanoseconds(1000) : Nanoseconds(seconds: 5e-6 + random.exponential(mean: 10e-6))
  }

  mutating func freeze(until time: TrueTime) { frozenUntil = max(frozenUntil, time) }

  /// Steps the clock, without telling anybody.
  mutating func stepClock(by span: Nanoseconds, at time: TrueTime) { steps.append((time, span)) }

  mutating func reckonSleep(_ span: Nanoseconds, at time: TrueTime) { sleeps.append((time, span)) }

  /// Returns for how long its programs believe to have slept until then.
  func slept(at time: TrueTime) -> Nanoseconds {
    sleeps.reduce(.zero) { $1.at <= time ? $0 + $1.by : $0 }
  }

  /// Returns the group time by the clock of a sender on this machine.
  mutating func groupTime(at time: TrueTime) -> GroupTime {
    GroupTime(nanoseconds: local(at: time).nanoseconds + slept(at: time).count)
  }

  private mutating func base(at time: TrueTime) -> Int64 {
    quality.offset.count + Int64((oscillator.elapsed(at: time.seconds) * 1e9).rounded())
  }

  private func stepSum(at time: TrueTime) -> Int64 {
    steps.reduce(0) { $1.at <= time ? $0 + $1.by.count : $0 }
  }
}
