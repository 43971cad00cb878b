/// The constants that decide how exactly playback follows the clocks: what is believed of a sound card's positions, and how
/// soon an error is steered away.
///
/// `tutti-simulate --scan NAME` compares other values of one; `docs/constants.md` has what it said.
package struct SteeringTuning: Hashable, Sendable {
  package init() {}

  // MARK: - Render clock

  /// The standard deviation of a position in seconds, where a device reports it by periods, or by steps of a few frames, or
  /// when it is asked at any time: the interrupt's latency, two frames of granularity, and a third of a USB frame.
  package var edgeDeviation = 8e-6
  package var fineDeviation = 14e-6
  package var coarseDeviation = 300e-6

  /// How the drift of a card wanders, in 1/√s. A crystal at room temperature does by 1e-8; where positions are exact to
  /// some µs, one that warms up can be followed as well, at a cost of less than 1 µs.
  package var wander = 2e-7

  /// The same for cards whose positions scatter more, such as those on USB.
  package var coarseWander = 1e-8

  // MARK: - Rate controller

  /// An error below this, in s, is noise of the clock or of the card's position as likely as not.
  package var leastDoubt = 1.5e-6

  /// So is one that the card's own standard deviation explains. Dimensionless, of variances.
  package var cardDoubt = 1.0

  /// And so is a part of what the clock's own deviation explains, the more the steadier clock and card are. Dimensionless,
  /// of variances.
  package var clockDoubt = 0.5

  /// An error fades with this time constant, in s. One that may be noise slowly, for steering by noise moves rooms apart; a
  /// larger one soon.
  package var gentleTime = 8.0
  package var quickTime = 1.8

  /// Where clock and card have been steady for longer than `patientMemory` seconds, doubts and time constants are longer by
  /// the square of as much, but not more than `mostPatience` times: what looks like an error of some µs there is noise of the
  /// estimate.
  package var patientMemory = 14.0
  package var mostPatience = 4.0

  /// How steady a card is: for as many seconds as this, which is dimensionless, contains the change of its drift in a second.
  package var steadyCard = 1e-6

  /// While the card's drift is hardly known, errors are real and soon larger: half the time for which the card has
  /// been watched, in s, is the time constant then, but not less than this.
  package var firstTime = 0.5

  /// A rate is kept for this part of the error's time constant, and then set anew.
  package var holdPart = 0.125

  /// Beyond this error, in s, what is written ahead is rendered again, so that it is steered away sooner.
  package var outdatedError = 20e-6
}
