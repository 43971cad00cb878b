/// Local time to device frames and back, learned from the positions that a sound card reports: frames played or, of a card
/// that records, frames taken.
///
/// A Kalman filter of two states: the local time of the last frame that was reported, and how much longer than
/// its nominal length a frame takes. Also on the render thread.
package struct RenderClock: Sendable {
  /// How a device reports its position, which decides how far the reports scatter.
  package enum DeviceClass: Sendable {
    /// The instant at which the position moves is known to a microsecond, or as well as is said.
    case exact
    /// The position moves in steps of a few frames, and a timestamp comes with it.
    case fine
    /// The position moves by whole periods, and its timestamp was taken in the period's interrupt.
    case edge
    /// The position moves in steps that cannot be watched, and is read at any time.
    case coarse
  }

  /// Seconds that the card counts in a second of local time, less one; positive where the card is fast.
  /// Dimensionless, 1e-6 is one ppm. Worth storing per card and sample rate.
  package var drift: Double {
    @_noLocks @_noAllocation get { -stretch / (1 + stretch) }
  }

  /// Whether frames can be predicted: three observations over 30 ms since the start or the last `rephase`.
  package var isSettled: Bool {
    @_noLocks @_noAllocation get { acceptedCount >= 3 && observedSeconds >= 0.03 }
  }

  /// Of `localTime(of:)` for the newest frame that was reported, in s².
  package var variance: Double {
    @_noLocks @_noAllocation get { filter.variance }
  }

  private let sampleRate: Double
  /// The variance of an observation, in s².
  private let reportVariance: Double
  /// By how much larger the variance of this card's observations turned out to be. Dimensionless.
  private var looseness = 1.0
  /// How the drift wanders, in 1/√s.
  private let wander: Double
  private var hasPhase = false
  /// Whether the phase began because reports no longer matched.
  private var wasRejected = false
  /// The frame of the last observation is `frame + fraction`, and was consumed `filter.offset` seconds after `time`.
  private var frame: Int64 = 0
  private var fraction = 0.0
  private var time = LocalTime(nanoseconds: 0)
  /// Its drift is the local seconds that a nominal second of frames takes, less one.
  private var filter: DriftFilter
  private var observationCount = 0
  private var acceptedCount = 0
  private var rejectionCount = 0
  /// For how long the card has been watched since the start or the last `rephase`; counts to 1000.
  package private(set) var observedSeconds = 0.0

  /// `sampleRate` in Hz, above zero. `storedDrift` is the `drift` of this card at this rate from an earlier run;
  /// what is not within ±0.1 % is ignored. Not for the render thread.
  package init(sampleRate: Int, device: DeviceClass, storedDrift: Double?) {
    self.sampleRate = Double(max(sampleRate, 1))
    reportVariance = device.deviation * device.deviation
    wander = device.wander
    if let storedDrift, storedDrift > -1e-3, storedDrift < 1e-3 {
      filter = DriftFilter(
        offset: 0, variance: 0, drift: -storedDrift / (1 + storedDrift),
        driftDeviation: Self.storedDriftDeviation)
    } else {
      filter = Self.unknown
    }
  }

  /// Forgets which frame sounds when, and keeps the drift: after the device was stopped.
  @_noLocks @_noAllocation
  package mutating func rephase() {
    hasPhase = false
    wasRejected = false
    filter.restart(variance: 0, driftDeviation: Self.rephasedDriftDeviation)
    observationCount = 0
    acceptedCount = 0
    rejectionCount = 0
    observedSeconds = 0
  }

  /// When the card consumes `frame`. Means nothing before the first observation.
  @_noLocks @_noAllocation
  package func localTime(of frame: DeviceFrame) -> LocalTime {
    let later = Self.wholeNanoseconds(
      nominalSeconds(to: frame, fraction: 0) * (1 + stretch) + filter.offset)
    return LocalTime(nanoseconds: time.nanoseconds &+ later.count)
  }

  /// The frame, with its fraction, that the card consumes at `time`. Means nothing before the first observation.
  @_noLocks @_noAllocation
  package func frame(at time: LocalTime) -> Double {
    let seconds = Double(time.nanoseconds &- self.time.nanoseconds) * 1e-9 - filter.offset
    return Double(frame) + (fraction + seconds * sampleRate / (1 + stretch))
  }
}

// MARK: - Observations

extension RenderClock {
  /// Takes in that the card had consumed `frame` and a `fraction` of the next one at `time`. `uncertainty` is a
  /// standard deviation that comes on top of the device class's, such as the length of a pair of clock readings
  /// around a query without a timestamp. Answers whether the observation was used: it is not if it brings no new
  /// position or if it is an outlier.
  @_noLocks @_noAllocation
  package mutating func observe(
    _ frame: DeviceFrame, fraction: Double = 0, at time: LocalTime,
    uncertainty: Nanoseconds = Nanoseconds(0)
  ) -> Bool {
    observationCount = min(observationCount + 1, 1000)
    let extra = Double(uncertainty.count) * 1e-9
    let noise = looseness * reportVariance + extra * extra
    guard hasPhase else {
      begin(at: frame, fraction: fraction, time: time, noise: noise)
      acceptedCount = 1
      return true
    }
    let span = nominalSeconds(to: frame, fraction: fraction)
    if span > Self.longestGap || span < 0 {
      return reject(frame, fraction: fraction, time: time, noise: noise)
    }
    guard span > 0 else { return false }
    filter.advance(by: span, wander: wander)
    move(by: span)
    self.frame = frame.index
    self.fraction = fraction
    let error = Double(time.nanoseconds &- self.time.nanoseconds) * 1e-9 - filter.offset
    if observationCount > 8,
      error * error > Self.gate * Self.gate * (filter.variance + noise)
    {
      return reject(frame, fraction: fraction, time: time, noise: noise)
    }
    filter.correct(by: error, noise: noise)
    move(by: 0)
    acceptedCount = min(acceptedCount + 1, 1000)
    rejectionCount = 0
    observedSeconds = min(observedSeconds + span, 1000)
    return true
  }

  @_noLocks @_noAllocation
  private mutating func begin(
    at frame: DeviceFrame, fraction: Double, time: LocalTime, noise: Double
  ) {
    hasPhase = true
    self.frame = frame.index
    self.fraction = fraction
    self.time = time
    filter.restart(variance: 4 * noise, driftDeviation: 0)
    rejectionCount = 0
  }

  /// Twenty outliers in a row are not outliers: the device was restarted, or frames were lost. Where that was so a moment
  /// ago as well, its reports scatter more than its kind's do: it is believed less then, so that it is not lost for good.
  @_noLocks @_noAllocation
  private mutating func reject(
    _ frame: DeviceFrame, fraction: Double, time: LocalTime, noise: Double
  ) -> Bool {
    rejectionCount += 1
    guard rejectionCount >= Self.rejectionLimit else { return false }
    filter.restart(variance: 0, driftDeviation: Self.restartDriftDeviation)
    if wasRejected, observedSeconds < Self.soon {
      let most = Self.mostDeviation * Self.mostDeviation / reportVariance
      looseness = min(looseness * Self.loosening, most)
      // What was learnt of the drift from reports that were believed too much is as wrong.
      filter = Self.unknown
    }
    begin(at: frame, fraction: fraction, time: time, noise: noise)
    wasRejected = true
    acceptedCount = 1
    observedSeconds = 0
    return true
  }
}

// MARK: - Constants and arithmetic

extension RenderClock {
  private var stretch: Double {
    @_noLocks @_noAllocation get { filter.drift }
  }

  /// Nothing is known of the card.
  private static var unknown: DriftFilter {
    @_noLocks @_noAllocation get {
      DriftFilter(offset: 0, variance: 0, drift: 0, driftDeviation: driftDeviation)
    }
  }

  /// The standard deviation of a drift that is unknown, stored, known until the device was stopped, and known
  /// until the reports no longer matched. Dimensionless; guarded by the golden vectors and `RenderClockTests`.
  private static var driftDeviation: Double { @_noLocks @_noAllocation get { 100e-6 } }
  private static var storedDriftDeviation: Double { @_noLocks @_noAllocation get { 1e-6 } }
  private static var rephasedDriftDeviation: Double { @_noLocks @_noAllocation get { 0.5e-6 } }
  private static var restartDriftDeviation: Double { @_noLocks @_noAllocation get { 5e-6 } }

  /// An observation is an outlier beyond this many standard deviations; 20 outliers in a row (0.2 s at a period
  /// of 10 ms) begin a new phase. Guarded by `RenderClockTests`.
  private static var gate: Double { @_noLocks @_noAllocation get { 5 } }
  private static var rejectionLimit: Int { @_noLocks @_noAllocation get { 20 } }

  /// A phase that lasted less long than this, in seconds, was not worth much: the next one takes observations to vary by
  /// this much more, but not to deviate by more than this, in seconds. Guarded by `RenderClockTests`.
  private static var soon: Double { @_noLocks @_noAllocation get { 10 } }
  private static var loosening: Double { @_noLocks @_noAllocation get { 64 } }
  private static var mostDeviation: Double { @_noLocks @_noAllocation get { 20e-3 } }

  /// A position that jumps ahead by more than this, in seconds, is a broken report; the output loop asks every
  /// few milliseconds.
  private static var longestGap: Double { @_noLocks @_noAllocation get { 60 } }

  /// From the last observation to `frame`, at the nominal rate.
  @_noLocks @_noAllocation
  private func nominalSeconds(to frame: DeviceFrame, fraction: Double) -> Double {
    (Double(frame.index &- self.frame) + (fraction - self.fraction)) / sampleRate
  }

  /// Moves the time of the last observation, and what is whole nanoseconds of the filter's offset into it: corrections far
  /// below one add up.
  @_noLocks @_noAllocation
  private mutating func move(by seconds: Double) {
    let whole = Self.wholeNanoseconds(seconds + filter.offset)
    time = LocalTime(nanoseconds: time.nanoseconds &+ whole.count)
    filter.offset = (seconds - Double(whole.count) * 1e-9) + filter.offset
  }

  /// Rounds toward zero, and cuts what lies beyond 146 years.
  @_noLocks @_noAllocation
  private static func wholeNanoseconds(_ seconds: Double) -> Nanoseconds {
    let limit = 0x1p62
    return Nanoseconds(Int64(min(max(seconds * 1e9, -limit), limit)))
  }
}

extension RenderClock.DeviceClass {
  /// The standard deviation of an observation in seconds: a move that was watched; two frames of granularity; the interrupt's
  /// latency; a third of a USB frame.
  fileprivate var deviation: Double {
    switch self {
    case .exact: 1e-6
    case .fine: 14e-6
    case .edge: 8e-6
    case .coarse: 300e-6
    }
  }

  /// How the drift of a card wanders, in 1/√s. A crystal at room temperature does by 1e-8; where positions are exact to some
  /// µs, one that warms up can be followed as well, at a cost of less than 1 µs.
  fileprivate var wander: Double {
    switch self {
    case .exact, .fine, .edge: 2e-7
    case .coarse: 1e-8
    }
  }
}
