/// Maps local time to device frames and back. It learns from the positions that a sound card reports: frames played or,
/// if the card records, frames taken.
///
/// A Kalman filter of two states: the local time of the frame that was reported last, and how much longer than its
/// nominal length a frame takes. Also used on the render thread.
package struct RenderClock: Sendable {
  /// The way in which a device reports its position. It decides how far the reports scatter.
  package enum DeviceClass: Sendable {
    /// The instant at which the position moves is known to a microsecond, or as well as the report says.
    case exact
    /// The position moves in steps of a few frames, and a timestamp comes with it.
    case fine
    /// The position moves by whole periods, and its timestamp was taken in the period's interrupt.
    case edge
    /// The position moves in steps that cannot be watched, and is read at arbitrary times.
    case coarse
  }

  /// Seconds that the card counts per second of local time, minus one; positive if the card is fast. Dimensionless:
  /// 1e-6 is one ppm. Worth storing per card and sample rate.
  package var drift: Double {
    @_noLocks @_noAllocation get { -filter.drift / (1 + filter.drift) }
  }

  /// True if frames can be predicted.
  package var isSettled: Bool {
    @_noLocks @_noAllocation get { observedSeconds >= Tuning.settlingTime }
  }

  /// Variance of `localTime(of:)` for the newest reported frame, in s².
  package var variance: Double {
    @_noLocks @_noAllocation get { filter.variance }
  }

  private let sampleRate: Double
  /// The variance of an observation, in s².
  private var reportVariance: Double
  /// The wander of the drift, in 1/√s.
  private let wander: Double
  private var hasPhase = false
  /// True if the phase began because reports no longer matched.
  private var wasRejected = false
  /// The frame of the last observation is `frame + fraction`, and was consumed `filter.offset` seconds after `time`.
  private var frame: Int64 = 0
  private var fraction = 0.0
  private var time = LocalTime(nanoseconds: 0)
  /// Its drift is the number of local seconds per nominal second of frames, minus one.
  private var filter: DriftFilter
  private var rejectionCount = 0
  /// The least and the greatest error of the reports that were rejected in a row, in seconds.
  private var rejected = (least: 0.0, greatest: 0.0)
  /// Seconds for which the card was watched since the start or the last `rephase`; counts to 1000.
  package private(set) var observedSeconds = 0.0

  /// `sampleRate` is in Hz, above zero. `storedDrift` is the `drift` of this card at this rate from an earlier run; a
  /// value that no crystal has is ignored. Not for the render thread.
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

  /// Forgets which frame sounds when, but keeps the drift. Call it after the device was stopped.
  @_noLocks @_noAllocation
  package mutating func rephase() {
    hasPhase = false
    wasRejected = false
    filter.restart(variance: 0, driftDeviation: Facts.knownDriftDeviation)
    rejectionCount = 0
    observedSeconds = 0
  }

  /// Returns when the card consumes `frame`. Meaningless before the first observation.
  @_noLocks @_noAllocation
  package func localTime(of frame: DeviceFrame) -> LocalTime {
    let later = Nanoseconds(
      ofSeconds: nominalSeconds(to: frame, fraction: 0) * (1 + filter.drift) + filter.offset)
    return LocalTime(nanoseconds: time.nanoseconds &+ later.count)
  }

  /// Returns the frame, with its fraction, that the card consumes at `time`. Meaningless before the first observation.
  @_noLocks @_noAllocation
  package func frame(at time: LocalTime) -> Double {
    let seconds = Double(time.nanoseconds &- self.time.nanoseconds) * 1e-9 - filter.offset
    return Double(frame) + (fraction + seconds * sampleRate / (1 + filter.drift))
  }
}

// MARK: - Observations

extension RenderClock {
  /// Observes that the card had consumed `frame` and a `fraction` of the next one at `time`. `uncertainty` is a
  /// standard deviation on top of that of the device class, such as the time between two clock readings around a query
  /// without a timestamp. Returns true if the observation was used: it is not if it brings no new position or is an
  /// outlier.
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

  /// Counts an outlier. After many in a row, the device was restarted, frames were lost or a clock has stepped, and a new
  /// phase begins. If that happened a moment ago as well, and the reports do not agree with each other, they scatter more
  /// than usual for this class; the last `error`, in seconds, tells by how much. Returns true if a phase began.
  @_noLocks @_noAllocation
  private mutating func reject(
    _ frame: DeviceFrame, fraction: Double, time: LocalTime, noise: Double, error: Double = 0
  ) -> Bool {
    rejected.least = rejectionCount == 0 ? error : min(rejected.least, error)
    rejected.greatest = rejectionCount == 0 ? error : max(rejected.greatest, error)
    rejectionCount += 1
    guard rejectionCount >= Tuning.rejectionLimit else { return false }
    filter.restart(variance: 0, driftDeviation: Facts.knownDriftDeviation)
    let scatter = rejected.greatest - rejected.least
    if wasRejected, observedSeconds < Tuning.faultTime, scatter > error.magnitude / 2 {
      reportVariance = max(reportVariance, error * error)
      // The drift was learned from reports that were trusted too much, and is as wrong.
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
  /// The filter when nothing is known of the card.
  private static var unknown: DriftFilter {
    @_noLocks @_noAllocation get {
      DriftFilter(offset: 0, variance: 0, drift: 0, driftDeviation: Facts.ordinaryDrift)
    }
  }

  /// Returns the nominal seconds from the last observation to `frame`.
  @_noLocks @_noAllocation
  private func nominalSeconds(to frame: DeviceFrame, fraction: Double) -> Double {
    (Double(frame.index &- self.frame) + (fraction - self.fraction)) / sampleRate
  }

  /// Moves the time of the last observation by `seconds`, and by the whole nanoseconds of the filter's offset, so that
  /// corrections far below one nanosecond add up.
  @_noLocks @_noAllocation
  private mutating func move(by seconds: Double) {
    let whole = Nanoseconds(ofSeconds: seconds + filter.offset)
    time = LocalTime(nanoseconds: time.nanoseconds &+ whole.count)
    filter.offset = (seconds - Double(whole.count) * 1e-9) + filter.offset
  }
}
