import Clock

/// How fast playback is steered toward where it should be. The rates of both clocks are known and fed forward,
/// so there is nothing to integrate: what is left is the noise of the estimates, and the way back after a
/// disturbance. Errors are in seconds, positive where playback is early.
struct RateController {
  private let tuning: SteeringTuning

  @_noLocks @_noAllocation
  init(_ tuning: SteeringTuning) { self.tuning = tuning }

  /// Errors above this, in s, are answered with the full change of the rate at once.
  private static var smallError: Double { @_noLocks @_noAllocation get { 50e-6 } }

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

  /// In which time constant an error fades, in s, when the card has been watched for `watched` seconds and the error
  /// would be noise up to `doubt`, in s.
  @_noLocks @_noAllocation
  func time(forError error: Double, doubt: Double, watched: Double) -> Double {
    let ratio = error / min(max(doubt, tuning.leastDoubt), tuning.mostDoubt)
    let steady = max(tuning.gentleTime / (1 + ratio * ratio), tuning.quickTime)
    return min(max(watched / 2, tuning.firstTime), steady)
  }

  /// How much slower than the schedule to play, as a part of one, so that `error` fades in `time`: 1e-6 is one ppm.
  @_noLocks @_noAllocation
  func slowdown(forError error: Double, time: Double) -> Double {
    let limit = error.magnitude <= Self.gentleError ? Self.gentleLimit : Self.quickLimit
    return min(max(error / time, -limit), limit)
  }

  /// The next step, `seconds` after `step`, on the way to the `wanted` one, by which an error fades in `time`.
  @_noLocks @_noAllocation
  func step(
    from step: Double, to wanted: Double, error: Double, seconds: Double, time: Double
  ) -> Double {
    guard error.magnitude <= Self.smallError else { return wanted }
    return step + (wanted - step) * min(max(seconds / (time * tuning.ratePart), 0), 1)
  }
}
