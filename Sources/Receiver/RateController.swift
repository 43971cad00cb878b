import Clock

/// How fast playback is steered toward where it should be. The rates of both clocks are known and fed forward,
/// so there is nothing to integrate: what is left is the noise of the estimates, and the way back after a
/// disturbance. Errors are in seconds, positive where playback is early.
struct RateController {
  private let tuning: SteeringTuning

  @_noLocks @_noAllocation
  init(_ tuning: SteeringTuning) { self.tuning = tuning }

  /// Above this error, in s, no rate is kept: each turn answers what is left of it, and what was a mistake is taken back at once.
  /// Below, a mistake moves playback by an eighth of itself, and by another one for each hold that is written ahead.
  private static var smallError: Double { @_noLocks @_noAllocation get { 200e-6 } }

  /// Up to this error, in s, two rooms still sound as one, so the gentle limit is enough.
  private static var gentleError: Double { @_noLocks @_noAllocation get { 1e-3 } }

  /// Half a cent, which nobody hears on a sustained note; and 1.7 cents, for a room that sounds apart anyway.
  private static var gentleLimit: Double { @_noLocks @_noAllocation get { 300e-6 } }
  private static var quickLimit: Double { @_noLocks @_noAllocation get { 1000e-6 } }

  /// Beyond this, in s, playback jumps: steering would take five seconds and more. It must last for
  /// `replacementDelay`, in s, so that a single wrong observation has no effect.
  static var replacementError: Double { @_noLocks @_noAllocation get { 5e-3 } }
  static var replacementDelay: Double { @_noLocks @_noAllocation get { 0.03 } }

  /// Beyond this, in s, playback jumps at once where the schedule itself was moved: by an anchor, by a step of
  /// the clock, or by the room's delay.
  static var scheduleStep: Double { @_noLocks @_noAllocation get { 1e-3 } }

  /// In which time constant an error fades, in s, when the card has been watched for `watched` seconds, card and clock
  /// were steady for `memory` seconds, and the group's time and the card's position are known with this `variance`, in s².
  @_noLocks @_noAllocation
  func time(
    forError error: Double, watched: Double, memory: Double,
    variance: (clock: Double, card: Double)
  ) -> Double {
    let steadiness = max(memory / tuning.patientMemory, 1)
    let patience = min(steadiness * steadiness, tuning.mostPatience)
    let least = tuning.leastDoubt * patience
    // Where clocks wander, so does what their estimate is off by, and is to be followed.
    let scatter = (1 - 1 / patience) * variance.clock
    let doubt = least * least + tuning.cardDoubt * variance.card + tuning.clockDoubt * scatter
    let steady = patience * max(tuning.gentleTime / (1 + error * error / doubt), tuning.quickTime)
    return min(max(watched / 2, tuning.firstTime), steady)
  }

  /// For how long a rate is kept, in s, that lets `error` fade in `time`. It is constant in between (ADR 0015).
  @_noLocks @_noAllocation
  func hold(forError error: Double, time: Double) -> Double {
    error.magnitude > Self.smallError ? 0 : time * tuning.holdPart
  }

  /// How much faster than the ratio of the clocks to play, so that `error` fades in `time`; as a part of one: 1e-6
  /// is one ppm.
  @_noLocks @_noAllocation
  func steering(error: Double, time: Double) -> Double {
    let limit = error.magnitude <= Self.gentleError ? Self.gentleLimit : Self.quickLimit
    return min(max(-error / time, -limit), limit)
  }
}
