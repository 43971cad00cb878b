import Clock

/// Chooses the rate that steers playback toward the schedule. The rates of both clocks are known and fed forward, so
/// there is nothing to integrate: the controller corrects the noise of the estimates, and what a disturbance left
/// behind. Errors are in seconds, positive where playback is early.
enum RateController {
  /// Above this error, in s, no rate is held: each turn answers the remaining error, and undoes a mistake at once.
  /// Below it, a mistake moves playback by an eighth of itself, and by another eighth for each hold that is written
  /// ahead.
  private static var smallError: Double { @_noLocks @_noAllocation get { 200e-6 } }

  /// Up to this error, in s, two rooms still sound as one, so the gentle limit is enough.
  private static var gentleError: Double { @_noLocks @_noAllocation get { 1e-3 } }

  /// Limits of the steering: half a cent, which nobody hears on a sustained note; and 1.7 cents, for a room that sounds
  /// apart anyway.
  private static var gentleLimit: Double { @_noLocks @_noAllocation get { 300e-6 } }
  private static var quickLimit: Double { @_noLocks @_noAllocation get { 1000e-6 } }

  /// Beyond this error, in s, playback jumps, because steering would take five seconds or more. The error must last for
  /// `replacementDelay`, in s, so that a single wrong observation has no effect.
  static var replacementError: Double { @_noLocks @_noAllocation get { 5e-3 } }
  static var replacementDelay: Double { @_noLocks @_noAllocation get { 0.03 } }

  /// Beyond this error, in s, playback jumps at once if the schedule itself was moved: by an anchor, a step of the
  /// clock, or the room's delay.
  static var scheduleStep: Double { @_noLocks @_noAllocation get { 1e-3 } }

  /// Time constants in which errors fade, in s. Small errors fade slowly: they are as likely as not noise of the clock,
  /// and steering by noise moves rooms apart. Larger ones fade quickly.
  static var gentleTime: Double { @_noLocks @_noAllocation get { 8 } }
  static var quickTime: Double { @_noLocks @_noAllocation get { 1.8 } }

  /// An error of this size, in s, is as likely as not noise. So is one that the card's standard deviation explains.
  private static var noise: Double { @_noLocks @_noAllocation get { 4e-6 } }

  /// While the card's drift is hardly known, errors are real and grow sooner. The time constant is then half the time
  /// for which the card has been watched, but not less than this, in s.
  static var firstTime: Double { @_noLocks @_noAllocation get { 0.5 } }

  /// Share of the error's time constant for which a rate is held before it is set again.
  private static var holdPart: Double { @_noLocks @_noAllocation get { 0.125 } }

  /// Beyond this error, in s, frames written ahead are rendered again, so that it is corrected sooner.
  static var outdatedError: Double { @_noLocks @_noAllocation get { 20e-6 } }

  /// Returns the time constant, in s, for `error`. The card's position has the variance `cardVariance`, in s², and the
  /// card has been watched for `watched` seconds.
  @_noLocks @_noAllocation
  static func time(forError error: Double, cardVariance: Double, watched: Double) -> Double {
    let expected = noise * noise + cardVariance
    let steady = max(gentleTime / (1 + error * error / expected), quickTime)
    return min(max(watched / 2, firstTime), steady)
  }

  /// Returns for how long, in s, to hold the rate that lets `error` fade with time constant `time`.
  @_noLocks @_noAllocation
  static func hold(forError error: Double, time: Double) -> Double {
    error.magnitude > smallError ? 0 : time * holdPart
  }

  /// Returns the relative change of rate that lets `error` fade with time constant `time`: 1e-6 is one ppm faster than
  /// the ratio of the clocks.
  @_noLocks @_noAllocation
  static func steering(error: Double, time: Double) -> Double {
    let limit = error.magnitude <= gentleError ? gentleLimit : quickLimit
    return min(max(-error / time, -limit), limit)
  }
}
