import Clock

/// How fast playback is steered toward where it should be. The rates of both clocks are known and fed forward,
/// so there is nothing to integrate: what is left is the noise of the estimates, and the way back after a
/// disturbance. Errors are in seconds, positive where playback is early.
enum RateController {
  /// Errors above this, in s, are answered with the full change of the rate at once.
  private static var smallError: Double { @_noLocks @_noAllocation get { 50e-6 } }

  /// An error below this, in s, is noise of the card's position as likely as not, however sure the clock is.
  private static var leastDoubt: Double { @_noLocks @_noAllocation get { 1.5e-6 } }

  /// However little is known of the clock, a larger error is worth following, in s: what the drift is off by on such a
  /// link, a slow servo would turn into an error of its own.
  private static var mostDoubt: Double { @_noLocks @_noAllocation get { 20e-6 } }

  /// An error fades with this time constant, in s. One that may be noise slowly: the rate may change by no more than
  /// 0.1 ppm a second, or it is itself heard as distortion above -120 dB. A larger one soon. Range 0.5...20.
  private static var gentleTime: Double { @_noLocks @_noAllocation get { 8 } }
  private static var quickTime: Double { @_noLocks @_noAllocation get { 1.5 } }

  /// While the card's drift is hardly known, errors are real and soon larger: half the time for which the card has
  /// been watched, in s, is the time constant then, but not less than this.
  private static var firstTime: Double { @_noLocks @_noAllocation get { 0.5 } }

  /// The rate follows what is wanted in this part of the error's time constant, while the error is small: the two
  /// together do not overshoot.
  private static var ratePart: Double { @_noLocks @_noAllocation get { 0.25 } }

  /// Beyond this error, in s, what is written ahead is rendered again, so that it is steered away at once.
  static var outdatedError: Double { @_noLocks @_noAllocation get { 20e-6 } }

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
  static func time(forError error: Double, doubt: Double, watched: Double) -> Double {
    let ratio = error / min(max(doubt, leastDoubt), mostDoubt)
    let steady = max(gentleTime / (1 + ratio * ratio), quickTime)
    return min(max(watched / 2, firstTime), steady)
  }

  /// How much slower than the schedule to play, as a part of one, so that `error` fades in `time`: 1e-6 is one ppm.
  @_noLocks @_noAllocation
  static func slowdown(forError error: Double, time: Double) -> Double {
    let limit = error.magnitude <= gentleError ? gentleLimit : quickLimit
    return min(max(error / time, -limit), limit)
  }

  /// The next step, `seconds` after `step`, on the way to the `wanted` one, by which an error fades in `time`.
  @_noLocks @_noAllocation
  static func step(
    from step: Double, to wanted: Double, error: Double, seconds: Double, time: Double
  ) -> Double {
    guard error.magnitude <= smallError else { return wanted }
    return step + (wanted - step) * min(max(seconds / (time * ratePart), 0), 1)
  }
}
