/// All values of this module that somebody might tune. Whoever tunes one compares all figures of `ClockLineTests`,
/// `ClockFilterSimulationTests` and `RenderClockTests` before and after.
enum Tuning {
  // MARK: Samples

  /// Time for which samples are kept: 60...180 s. Over a longer time, drifts wander by more than the corridor gains.
  static let window = Nanoseconds.seconds(120)
  /// Time between two solutions, and time constant of the smoothed output: 0.2...1 s. Shorter costs CPU.
  static let solveInterval = Nanoseconds.milliseconds(400)
  /// Packets that show how far a direction scatters: 4...8. The third fastest alone may be close by chance.
  static let fewest = 6
  /// Span in seconds, 0.5...2, below which all samples may have met the same queue, and could make any slope.
  static let independentSpan = 1.0

  // MARK: Decisions

  /// Standard deviations, 5...8, beyond which an error is not scatter. With 5, bounds of Wi-Fi are too narrow.
  static var certainty: Double { @_noLocks @_noAllocation get { 6 } }
  /// Error in seconds, 100e-6...200e-6, that is too large to begin playing, or to be the scatter of one clock.
  static let grossError = 150e-6
  /// Faults within this time, in seconds, 2...10, have one cause: packets that contradict the clocks in the same
  /// direction show a step, and a card that is lost again scatters more than was assumed. A position that jumps by more
  /// is broken.
  static var faultTime: Double { @_noLocks @_noAllocation get { 5 } }

  // MARK: The line through the midpoints

  /// Standard deviation of a midpoint as a share of the excess of its round trip: 0.1...0.29. It is 0.29 if all
  /// divisions of the excess between both directions are equally likely, and less if several hops add up.
  static let excessShare = 0.18
  /// Assumed distance of the shortest round trip from the shortest possible one, as a multiple of the distance of the
  /// `fewest`th shortest from the shortest: 1...4. With 0, the few shortest would outweigh all others.
  static let gapFactor = 2.0
  /// Largest distance of the line from the corridor's middle, as a share of the corridor's scatter: 0.3...1. With more,
  /// queues bias it.
  static let scatterShare = 0.5
  /// Time constant in seconds, 6...20, with which old predictions fade, and the slope after the last sample.
  static let evidenceTime = 20.0
  /// Log-likelihood by which a filter must be better than the next steadier one: 0.5...2, because queues that outlast a
  /// probe interval look like wander.
  static let handicap = 1.0

  // MARK: Sound cards

  /// Seconds for which a card is watched until its frames can be predicted: three periods.
  static var settlingTime: Double { @_noLocks @_noAllocation get { 0.03 } }
  /// Outliers in a row that mean that the card was restarted: 10...50. The output loop asks every few milliseconds.
  static var rejectionLimit: Int { @_noLocks @_noAllocation get { 20 } }
  /// Variance of the first observation, which can be compared to nothing, as a multiple of that of the others: 1...10.
  static var firstVariance: Double { @_noLocks @_noAllocation get { 4 } }
}

/// Properties of crystals, stamps and cards. Nobody tunes them.
enum Facts {
  /// Two crystals differ by no more than this, unless one is broken. Dimensionless, like all drifts.
  static var ordinaryDrift: Double { @_noLocks @_noAllocation get { 100e-6 } }
  /// No crystal that audio runs on is farther off.
  static var largestDrift: Double { @_noLocks @_noAllocation get { 500e-6 } }
  /// A drift changes by no more than this from one evening to the next in one room.
  static let driftChange = 3e-6
  /// The standard deviation of a card's drift when it plays again after a pause or another evening.
  static var knownDriftDeviation: Double { @_noLocks @_noAllocation get { 1e-6 } }
  /// Half the rate at which a drift may change, in 1/s: 8 ppb a second.
  static let ageing = 4e-9
  /// Wander of drifts, in 1/√s: of a crystal at room temperature, of one in a machine whose load changes, and of one
  /// that warms up by a tenth of a ppm a second and more.
  static let wanders = [1e-9, 2e-8, 5e-7]
  /// The standard deviation of a packet's two stamps, in seconds.
  static let stampError = 2e-6
}

extension RenderClock.DeviceClass {
  /// The standard deviation of an observation in seconds: a watched move; two frames of granularity; the interrupt's
  /// latency; a third of a USB frame.
  var deviation: Double {
    switch self {
    case .exact: 1e-6
    case .fine: 14e-6
    case .edge: 8e-6
    case .coarse: 300e-6
    }
  }

  /// The wander that is assumed of a card's drift, in 1/√s: more than the 1e-9 of a crystal at room temperature. If
  /// positions are exact to some µs, a crystal that warms up can be followed as well, at a cost of less than 1 µs.
  var wander: Double {
    switch self {
    case .exact, .fine, .edge: 2e-7
    case .coarse: 1e-8
    }
  }
}
