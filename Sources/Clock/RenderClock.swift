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
    @_noLocks @_noAllocation get { -filter.drift / (1 + filter.drift) }
  }

  /// Whether frames can be predicted.
  package var isSettled: Bool {
    @_noLocks @_noAllocation get { observedSeconds >= Tuning.settlingTime }
  }

  /// Of `localTime(of:)` for the newest frame that was reported, in s².
  package var variance: Double {
    @_noLocks @_noAllocation get { filter.variance }
  }

  private let sampleRate: Double
  /// The variance of an observation, in s².
  private var reportVariance: Double
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
  private var rejectionCount = 0
  /// For how long the card has been watched since the start or the last `rephase`; counts to 1000.
  package private(set) var observedSeconds = 0.0

  /// `sampleRate` in Hz, above zero. `storedDrift` is the `drift` of this card at this rate from an earlier run;
  /// what no crystal has is ignored. Not for the render thread.
  package init(sampleRate: Int, device: DeviceClass, storedDrift: Double?) {
    self.sampleRate = Double(max(sampleRate, 1))
    reportVariance = device.deviation * device.deviation
    wander = device.wander
    if let storedDrift, abs(storedDrift) <= Facts.largestDrift {
      filter = DriftFilter(
        offset: 0, variance: 0, drift: -storedDrift / (1 + storedDrift),
        driftDeviation: Facts.knownDriftDeviation)
    } else {
      filter = Self.unknown
    }
  }

  /// Forgets which frame sounds when, and keeps the drift: after the device was stopped.
  @_noLocks @_noAllocation
  package mutating func rephase() {
    hasPhase = false
    wasRejected = false
    filter.restart(variance: 0, driftDeviation: Facts.knownDriftDeviation)
    rejectionCount = 0
    observedSeconds = 0
  }

  /// When the card consumes `frame`. Means nothing before the first observation.
  @_noLocks @_noAllocation
  package func localTime(of frame: DeviceFrame) -> LocalTime {
    let later = Nanoseconds(
      ofSeconds: nominalSeconds(to: frame, fraction: 0) * (1 + filter.drift) + filter.offset)
    return LocalTime(nanoseconds: time.nanoseconds &+ later.count)
  }

  /// The frame, with its fraction, that the card consumes at `time`. Means nothing before the first observation.
  @_noLocks @_noAllocation
  package func frame(at time: LocalTime) -> Double {
    let seconds = Double(time.nanoseconds &- self.time.nanoseconds) * 1e-9 - filter.offset
    return Double(frame) + (fraction + seconds * sampleRate / (1 + filter.drift))
  }
}

// MARK: - Observations

extension RenderClock {
  /// Takes in that the card had consumed `frame` and a `fraction` of the next one at `time`. `uncertainty` is a standard
  /// deviation that comes on top of the device class's, such as the length of a pair of clock readings around a query without a
  /// timestamp. Answers whether the observation was used: it is not if it brings no new position or if it is an outlier.
  @_noLocks @_noAllocation
  package mutating func observe(
    _ frame: DeviceFrame, fraction: Double = 0, at time: LocalTime,
    uncertainty: Nanoseconds = Nanoseconds(0)
  ) -> Bool {
    let extra = Double(uncertainty.count) * 1e-9
    let noise = reportVariance + extra * extra
    guard hasPhase else {
      begin(at: frame, fraction: fraction, time: time, noise: noise)
      return true
    }
    let span = nominalSeconds(to: frame, fraction: fraction)
    if span > Tuning.faultTime || span < 0 {
      return reject(frame, fraction: fraction, time: time, noise: noise)
    }
    guard span > 0 else { return false }
    filter.advance(by: span, wander: wander)
    move(by: span)
    self.frame = frame.index
    self.fraction = fraction
    let error = Double(time.nanoseconds &- self.time.nanoseconds) * 1e-9 - filter.offset
    if error * error > Tuning.certainty * Tuning.certainty * (filter.variance + noise) {
      return reject(frame, fraction: fraction, time: time, noise: noise, error: error)
    }
    filter.correct(by: error, noise: noise)
    move(by: 0)
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
    filter.restart(variance: Tuning.firstVariance * noise, driftDeviation: 0)
    rejectionCount = 0
  }

  /// After many outliers in a row, the device was restarted, or frames were lost: a new phase begins. Where that was so a
  /// moment ago as well, its reports scatter more than its kind's do: the last `error`, in seconds, tells by how much.
  @_noLocks @_noAllocation
  private mutating func reject(
    _ frame: DeviceFrame, fraction: Double, time: LocalTime, noise: Double, error: Double = 0
  ) -> Bool {
    rejectionCount += 1
    guard rejectionCount >= Tuning.rejectionLimit else { return false }
    filter.restart(variance: 0, driftDeviation: Facts.knownDriftDeviation)
    if wasRejected, observedSeconds < Tuning.faultTime {
      reportVariance = max(reportVariance, error * error)
      // What was learnt of the drift from reports that were believed too much is as wrong.
      filter = Self.unknown
    }
    begin(at: frame, fraction: fraction, time: time, noise: noise)
    wasRejected = true
    observedSeconds = 0
    return true
  }
}

// MARK: - Arithmetic

extension RenderClock {
  /// Nothing is known of the card.
  private static var unknown: DriftFilter {
    @_noLocks @_noAllocation get {
      DriftFilter(offset: 0, variance: 0, drift: 0, driftDeviation: Facts.ordinaryDrift)
    }
  }

  /// From the last observation to `frame`, at the nominal rate.
  @_noLocks @_noAllocation
  private func nominalSeconds(to frame: DeviceFrame, fraction: Double) -> Double {
    (Double(frame.index &- self.frame) + (fraction - self.fraction)) / sampleRate
  }

  /// Moves the time of the last observation, and what is whole nanoseconds of the filter's offset into it: corrections far
  /// below one add up.
  @_noLocks @_noAllocation
  private mutating func move(by seconds: Double) {
    let whole = Nanoseconds(ofSeconds: seconds + filter.offset)
    time = LocalTime(nanoseconds: time.nanoseconds &+ whole.count)
    filter.offset = (seconds - Double(whole.count) * 1e-9) + filter.offset
  }
}
