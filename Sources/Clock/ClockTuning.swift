/// The constants that decide how exact a clock's estimate is: what it believes, and how often it asks.
///
/// `tutti-simulate --scan NAME` plays five kinds of networks and cards with other values of one, and says how far rooms were
/// apart; `docs/constants.md` has what it said, and where recorded exchanges decided instead. What only decides when a clock counts as known, or as
/// another one, stands beside its use, with the test that guards it.
package struct ClockTuning: Hashable, Sendable {
  package init() {}

  // MARK: - Corridor

  /// How fast the bounds of a sample relax, in 1/s: a drift that changes by 8 ppb a second stays within.
  package var ageing = 4e-9

  /// What the corridor's middle is off, as a standard deviation, in terms of the distance from the fastest packet to
  /// the third fastest. Twice as much is a little better where a radio keeps packets in order, and half
  /// as inexact again under power save and bufferbloat (`ClockLineTests`).
  package var noiseShare = 0.8

  /// What no corridor is better than, as a standard deviation in seconds: crystals wander more within its two minutes
  /// than it leaves room for. Less lets it bend the estimate where crystals wander, and more gives way to one-sided queues.
  package var deviationFloor = 8e-6

  // MARK: - Regression

  /// What a midpoint may be off although its round trip was the shortest, in seconds: the stamps' own error.
  package var stampError = 3e-6

  /// How far the shortest round trip is above the shortest possible one, in terms of the distance to the sixth
  /// shortest. Without it the few shortest outweigh all others; more is better on wires and worse under bufferbloat.
  package var gapFactor = 2.0

  /// How fast a crystal's rate is taken to change before midpoints tell, in 1/s: 1 ppm a minute. A memory is believed
  /// less the more it would err then, by this wander and by scatter. This keeps Wi-Fi from following its own noise and lets
  /// wires follow crystals soon.
  package var expectedWander = 0.015e-6

  /// The foretelling of samples that span this many seconds tells how steady clocks are, in place of `expectedWander`.
  package var steadySpan = 20.0

  /// A memory is taken to err by this many times what it has erred of late beyond the best, and by what a crystal that was
  /// steady may begin to wander, in 1/s.
  package var biasMargin = 1.4
  package var steadyWander = 1e-9

  /// Where memories are shorter than this, in seconds, lines are drawn ahead by what a steady change of the drift makes them lag, and
  /// where they are twice as long, not at all. The change is told from averages of the drift over this time, in seconds, and over
  /// twice as much.
  package var changingMemory = 3.0
  package var trendTime = 2.0

  /// The lane of `MidpointSums` over whose memory the foretelling is judged: 4 is 8 s. Longer is too slow for crystals that
  /// wander, and shorter is noisy on Wi-Fi.
  package var judgingLane = 4

  /// The scatter of a midpoint says too little of the error, because queues outlast a probe interval. Dimensionless.
  package var inflation = 1.5

  // MARK: - Fastest packets

  /// Seconds of samples whose fastest packets make one midpoint.
  package var fastestInterval = 1.0

  /// The part of a direction's packets in that time that count as fast: few are poor on wires, where no packet is near
  /// the edge, and many on far Wi-Fi.
  package var fastPart = 0.05

  // MARK: - Both together

  /// The regression may differ from the corridor by this many of the corridor's deviations before it counts as biased.
  package var toleratedDistance = 2.0

  /// A line that remembers long changes slowly: it is found anew this often within its memory, and four times a second at
  /// the most.
  package var solutionsPerMemory = 32.0

  /// The time in which the output comes closer to a new line by a factor of e, at the most, in seconds.
  package var longestSmoothing = 0.3

  // MARK: - Probes

  /// While the estimate's standard deviation is above this, in seconds, more than five probes a second go on: scatter has
  /// to be averaged away, and a clock that wanders leaves little time for that. Probes in trains do not help: the switch
  /// keeps their order, so that the later ones repeat the delay of the first.
  package var sufficientDeviation = 2e-6

  /// Above this standard deviation, in seconds, a radio is asked twice as often, and four times in its first half minute: rooms
  /// on one are 33 instead of 47 µs apart.
  package var tolerableDeviation = 10e-6

  /// One probe in this many round trips then, within these limits in seconds: a wire carries 400 a second, and a radio is
  /// left alone for most of the time at 40, or at the 80 or 160 of above. That is 68, 7, 14 and 27 kB/s in each direction.
  package var roundTripsApart = 5.0
  package var shortestInterval = 2.5e-3
  package var longestInterval = 25e-3
}

extension ClockTuning {
  var emptyTrend: SlopeTrend { SlopeTrend(near: trendTime, far: 2 * trendTime) }
}
