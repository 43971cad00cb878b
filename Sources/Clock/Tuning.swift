/// Everything in this module that somebody might tune. Whoever does compares all figures of `ClockLineTests`,
/// `ClockFilterSimulationTests` and `RenderClockTests` before and after.
enum Tuning {
  // MARK: Samples

  /// For how long samples are kept: 60...180 s. Longer, drifts wander by more than the corridor gains.
  static let window = Nanoseconds.seconds(120)
  /// Time between two solutions, and time constant of the smoothed output: 0.2...1 s. Shorter costs CPU.
  static let solveInterval = Nanoseconds.milliseconds(400)
  /// Packets that tell how far a direction scatters: 4...8. The third fastest alone may be close by chance.
  static let fewest = 6
  /// Span in seconds, 0.5...2, below which all samples may have met the same queue, and make any slope.
  static let independentSpan = 1.0

  // MARK: Decisions

  /// Standard deviations, 5...8, beyond which an error is no scatter. With 5, bounds of Wi-Fi are too narrow.
  static var certainty: Double { @_noLocks @_noAllocation get { 6 } }
  /// Error in seconds, 100e-6...200e-6, that is too large: to begin playing by, or to be the scatter of one clock.
  static let grossError = 150e-6
  /// Faults within this time, in seconds, 2...10, have one cause: packets that contradict the clocks alike show a step, and a
  /// card that is lost again scatters more than was believed. A position that jumps by more is broken.
  static var faultTime: Double { @_noLocks @_noAllocation get { 5 } }

  // MARK: The line through the midpoints

  /// Standard deviation of a midpoint by the excess of its round trip: 0.1...0.29, the latter if all divisions of the excess
  /// between both directions are equally likely, and less where several hops add up.
  static let excessShare = 0.18
  /// Shortest round trip less the shortest possible one, by the `fewest`th shortest less the shortest: 1...4. With 0, the
  /// few shortest would outweigh all others.
  static let gapFactor = 2.0
  /// How far the line may be from the corridor's middle, by the corridor's scatter: 0.3...1. With more, queues bias it.
  static let scatterShare = 0.5
  /// Time constant in seconds, 6...20, with which old predictions fade, and a slope after the last sample.
  static let evidenceTime = 20.0
  /// Logarithm of the likelihood by which a filter must be better than the next steadier one: 0.5...2, because queues that
  /// outlast a probe interval look like wander.
  static let handicap = 1.0

  // MARK: Sound cards

  /// For how long a card is watched, in seconds, until its frames can be predicted: three periods.
  static var settlingTime: Double { @_noLocks @_noAllocation get { 0.03 } }
  /// So many outliers in a row are none: the card was restarted. 10...50; the output loop asks every few milliseconds.
  static var rejectionLimit: Int { @_noLocks @_noAllocation get { 20 } }
  /// Variance of the first observation, which nothing can be compared to, by that of the others: 1...10.
  static var firstVariance: Double { @_noLocks @_noAllocation get { 4 } }
}

/// What crystals, stamps and cards are like. Nobody tunes it.
enum Facts {
  /// Two crystals differ by no more than this, unless one is broken. Dimensionless, as all drifts.
  static var ordinaryDrift: Double { @_noLocks @_noAllocation get { 100e-6 } }
  /// No crystal that audio runs on is farther off.
  static var largestDrift: Double { @_noLocks @_noAllocation get { 500e-6 } }
  /// A drift changes by no more than this from one evening to the next in one room.
  static let driftChange = 3e-6
  /// The standard deviation of a card's drift when it plays again after a pause or another evening.
  static var knownDriftDeviation: Double { @_noLocks @_noAllocation get { 1e-6 } }
  /// Half the rate at which a drift may change, in 1/s: 8 ppb a second.
  static let ageing = 4e-9
  /// How drifts wander, in 1/√s: a crystal at room temperature, one in a machine whose load changes, and one that warms up
  /// by a tenth of a ppm a second and more.
  static let wanders = [1e-9, 2e-8, 5e-7]
  /// The standard deviation of a packet's two stamps, in seconds.
  static let stampError = 2e-6
}

extension RenderClock.DeviceClass {
  /// The standard deviation of an observation in seconds: a move that was watched; two frames of granularity; the interrupt's
  /// latency; a third of a USB frame.
  var deviation: Double {
    switch self {
    case .exact: 1e-6
    case .fine: 14e-6
    case .edge: 8e-6
    case .coarse: 300e-6
    }
  }

  /// How the drift of a card wanders, in 1/√s. A crystal at room temperature does by 1e-8; where positions are exact to some
  /// µs, one that warms up can be followed as well, at a cost of less than 1 µs.
  var wander: Double {
    switch self {
    case .exact, .fine, .edge: 2e-7
    case .coarse: 1e-8
    }
  }
}
