import Audio
import Clock
import WireProtocol

/// The session's view of the room's sound device: when it should be open, and the last report of its render thread.
struct DeviceSlot {
  private enum State {
    case closed
    case opening
    case open(OutputDevice, DecodeStage)
    case lost(reason: String)
  }

  /// Longer than any sound card's frames are written ahead.
  private static let longestWriteAhead = Nanoseconds.seconds(1)

  private var state = State.closed
  private(set) var report: RenderReport?
  /// Start of the current lack of frames, and the number of audible ones before it.
  private var starvation: (since: LocalTime, earlier: UInt32)?
  /// The profile for which the device was opened.
  private var profile: LatencyProfile?
  private var quietSince: LocalTime?

  // MARK: - Queries

  /// Nil unless it is open.
  var stage: DecodeStage? { if case .open(_, let stage) = state { stage } else { nil } }
  /// Nil unless it is open.
  var commitHorizon: Nanoseconds? {
    if case .open(let device, _) = state { device.commitHorizon } else { nil }
  }
  /// Nil unless it is open.
  var writtenAhead: Nanoseconds? {
    if case .open(let device, _) = state { device.writtenAhead } else { nil }
  }
  /// In Hz; nil unless it is open.
  var rate: Int? {
    if case .open(let device, _) = state { device.format.sampleRate } else { nil }
  }
  var isClosed: Bool { if case .closed = state { true } else { false } }
  /// Reason of the loss; nil unless the device was lost.
  var lossReason: String? { if case .lost(let reason) = state { reason } else { nil } }
  /// Nil unless the device is open and its thread has reported.
  var activity: RenderReport.Activity? { stage == nil ? nil : report?.activity }
  /// True if the device is open but its clock is not known yet.
  var isSettling: Bool { stage != nil && (report == nil || report?.activity == .settling) }

  var isAudible: Bool {
    switch report?.activity {
    case .playing, .paused, .starved: true
    case .idle, .settling, .waiting, .ended, nil: false
    }
  }

  /// True if the lack of frames is audible. Silence rendered before its packets arrived is replaced once they arrive in
  /// time.
  var isStarvationHeard: Bool {
    guard let report, let starvation else { return false }
    return report.starvations != starvation.earlier
      || report.at - starvation.since >= Self.longestWriteAhead
  }

  // MARK: - Changes

  /// Opens the device when there is something to play at `rate`. Closes it after `idleTime` without need, or, if it
  /// `reopens`, when the new profile needs another period or lead. Returns the step to carry out, or nil.
  mutating func work(
    isNeeded: Bool, rate: Int?, _ profile: LatencyProfile, reopens: Bool, idleTime: Nanoseconds,
    at now: LocalTime
  ) -> Playout.Step? {
    if isNeeded { quietSince = nil } else if quietSince == nil { quietSince = now }
    guard isClosed else {
      let isOther =
        self.profile?.period != profile.period || self.profile?.fixedLead != profile.fixedLead
      if reopens, isNeeded, rate != nil, isOther { return close() }
      return quietSince.map { now - $0 >= idleTime } ?? false ? close() : nil
    }
    guard isNeeded, let rate else { return nil }
    state = .opening
    self.profile = profile
    return .openDevice(rate: rate, profile)
  }

  mutating func close() -> Playout.Step {
    (state, report) = (.closed, nil)
    return .closeDevice
  }

  mutating func opened(_ device: OutputDevice, _ stage: DecodeStage) {
    state = .open(device, stage)
    (report, starvation) = (nil, nil)
  }

  mutating func lost(_ reason: String) { state = .lost(reason: reason) }

  /// Returns how often the device has run dry since the last report.
  mutating func rendered(_ report: RenderReport) -> UInt32 {
    defer { self.report = report }
    if case .starved = report.activity {
      starvation = starvation ?? (report.at, self.report?.starvations ?? 0)
    } else {
      starvation = nil
    }
    let before = self.report?.underruns ?? 0
    return report.underruns - min(before, report.underruns)
  }
}
