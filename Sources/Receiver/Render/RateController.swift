import Clock

/// How fast playback is steered toward where it should be. The rates of both clocks are known and fed forward,
/// so there is nothing to integrate: what is left is the noise of the estimates, and the way back after a
/// disturbance. Errors are in seconds, positive where playback is early.
enum RateController {
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

  /// An error fades with this time constant, in s. Small ones slowly, for they are noise of the clock as likely as not, and to
  /// steer by noise moves rooms apart; larger ones soon.
  static var gentleTime: Double { @_noLocks @_noAllocation get { 8 } }
  static var quickTime: Double { @_noLocks @_noAllocation get { 1.8 } }

  /// An error of this many seconds is noise as likely as not. So is one that the card's own standard deviation explains.
  private static var noise: Double { @_noLocks @_noAllocation get { 4e-6 } }

  /// While the card's drift is hardly known, errors are real and soon larger: half the time for which the card has
  /// been watched is the time constant then, but not less than this, in s.
  static var firstTime: Double { @_noLocks @_noAllocation get { 0.5 } }

  /// A rate is kept for this part of the error's time constant, and then set anew.
  private static var holdPart: Double { @_noLocks @_noAllocation get { 0.125 } }

  /// Beyond this error, in s, what is written ahead is rendered again, so that it is steered away sooner.
  static var outdatedError: Double { @_noLocks @_noAllocation get { 20e-6 } }

  /// In which time constant an error fades, in s, when the card's position is known with `cardVariance`, in s², and the card
  /// has been watched for `watched` seconds.
  @_noLocks @_noAllocation
  static func time(forError error: Double, cardVariance: Double, watched: Double) -> Double {
    let expected = noise * noise + cardVariance
    let steady = max(gentleTime / (1 + error * error / expected), quickTime)
    return min(max(watched / 2, firstTime), steady)
  }

  /// For how long a rate is kept, in s, that lets `error` fade in `time`. It is constant in between.
  @_noLocks @_noAllocation
  static func hold(forError error: Double, time: Double) -> Double {
    error.magnitude > smallError ? 0 : time * holdPart
  }

  /// How much faster than the ratio of the clocks to play, so that `error` fades in `time`; as a part of one: 1e-6
  /// is one ppm.
  @_noLocks @_noAllocation
  static func steering(error: Double, time: Double) -> Double {
    let limit = error.magnitude <= gentleError ? gentleLimit : quickLimit
    return min(max(-error / time, -limit), limit)
  }
}
