import Audio
import Clock
import WireProtocol

/// The sound device of a room, as far as the session knows it: when it is wanted, and what its render thread said last.
struct DeviceSlot {
  private enum State {
    case closed
    case opening
    case open(OutputDevice, DecodeStage)
    case lost(reason: String)
  }

  /// More than any sound card is written ahead.
  private static let longestWriteAhead = Nanoseconds.seconds(1)

  private var state = State.closed
  private(set) var report: RenderReport?
  /// Since when there is nothing to render, and how often that had been heard before.
  private var starvation: (since: LocalTime, earlier: UInt32)?
  /// How it was opened.
  private var profile: LatencyProfile?
  private var quietSince: LocalTime?
  /// Of the devices before this one.
  private var earlierUnderruns: UInt32 = 0

  // MARK: - What others ask

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
  var isClosed: Bool { if case .closed = state { true } else { false } }
  /// Why it is gone; nil unless it was lost.
  var lossReason: String? { if case .lost(let reason) = state { reason } else { nil } }
  /// Nil unless it is open, and its thread has said so.
  var activity: RenderReport.Activity? { stage == nil ? nil : report?.activity }
  /// Open, and its clock not known yet.
  var isSettling: Bool { stage != nil && (report == nil || report?.activity == .settling) }
  var underruns: UInt32 { earlierUnderruns + (report?.underruns ?? 0) }

  var isAudible: Bool {
    switch report?.activity {
    case .playing, .paused, .starved: true
    case .idle, .settling, .waiting, .ended, nil: false
    }
  }

  /// What is rendered ahead of its packets is rendered again once they have come.
  var isStarvationHeard: Bool {
    guard let report, let starvation else { return false }
    return report.starvations != starvation.earlier
      || report.at - starvation.since >= Self.longestWriteAhead
  }

  // MARK: - What happens

  /// Opens the device when there is something to play at `rate`, and lets it go when it was quiet for `idleTime`, or, where
  /// it `reopens`, is to be written ahead in another way than it was opened for.
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
    earlierUnderruns = underruns
    (report, starvation) = (nil, nil)
  }

  mutating func lost(_ reason: String) { state = .lost(reason: reason) }

  /// True if the device has run dry since the last report.
  mutating func rendered(_ report: RenderReport) -> Bool {
    defer { self.report = report }
    if case .starved = report.activity {
      starvation = starvation ?? (report.at, self.report?.starvations ?? 0)
    } else {
      starvation = nil
    }
    return report.underruns > self.report?.underruns ?? 0
  }
}
