import Audio
import Clock
import WireProtocol

/// What is played: the deep buffer, its decoding ahead of the playhead, the anchors, and the sound device as far as
/// the session knows it.
struct Playout {
  /// Packets decoded in one go, so that a control message never waits for more than a few milliseconds.
  static let decodeSlice = 8
  /// More than any sound card is written ahead.
  static let longestWriteAhead = Nanoseconds.seconds(1)
  static let clockInterval = Nanoseconds.milliseconds(100)

  enum Step {
    case render(RenderCommand)
    case openDevice(rate: Int)
    case closeDevice
    case corrupt(reason: String, total: UInt32)
    case late(by: Nanoseconds, total: UInt32)
    case nowPlaying(SoundingItem?)
    /// There is no decoder for this codec, whatever was said before.
    case undecodable(Codec, CodecError)
  }

  private enum Device {
    case closed
    case opening
    case open(OutputDevice, DecodeStage)
    case lost(reason: String)
  }

  private let makeDecoder: DecodeStage.MakeDecoder
  private let idleTime: Nanoseconds
  private let profile: LatencyProfile
  private var buffer: PlayoutBuffer
  /// What the sender says of what plays.
  var board = NowPlayingBoard()
  /// How much later than the group this room sounds; may be negative.
  var delay = Nanoseconds.zero
  /// Packets of these are passed over.
  var undecodable = CodecSet([])
  private var anchors = AnchorHistory()
  /// The newest, as the sender numbers generations.
  private var cuts: [(from: MediaTime, generation: UInt32)] = []
  /// What the generations of this stream are raised by on their way to the render thread, whose ring may still
  /// hold frames and cuts of the stream before.
  private var generationBase: UInt32 = 0
  private var device = Device.closed
  private var report: RenderReport?
  /// Since when there is nothing to render, and how often that had been heard before.
  private var starvation: (since: LocalTime, earlier: UInt32)?
  private var estimate: ClockEstimate?
  private var clockIsStep = true
  private var nextClockCommand: LocalTime?
  /// The span of media time that was decoded without a jump.
  private var decodedFrom: MediaTime?
  private var decodedUntil: MediaTime?
  private var hasMoreToDecode = false
  private var announcedEnd: MediaTime?
  private var lastAdvance = LocalTime(nanoseconds: 0)
  private var quietSince: LocalTime?
  private var histogram = SyncHistogram()
  private var latePackets: UInt32 = 0
  /// Never decoded, because their time had passed, though they had come before it.
  private var lostPackets: UInt32 = 0
  private var lateReported: UInt32 = 0
  private var latestLateness = Nanoseconds.zero
  private var corruptPackets: UInt32 = 0
  private var earlierUnderruns: UInt32 = 0

  init(
    capacity: Capacity, makeDecoder: @escaping DecodeStage.MakeDecoder, idleTime: Nanoseconds,
    profile: LatencyProfile = .deep
  ) {
    self.profile = profile
    buffer = PlayoutBuffer(capacity: capacity)
    self.makeDecoder = makeDecoder
    self.idleTime = idleTime
  }

  // MARK: - What others ask

  var heldBytes: UInt64 { buffer.heldBytes }
  var generation: UInt32 { buffer.generation }
  var bufferedUntil: MediaTime? { buffer.bufferedUntil }
  var deviceDrift: Double? { report?.deviceDrift }

  var held: HeldStream? {
    buffer.heldFrom.map {
      HeldStream(generation: buffer.generation, nextSequence: buffer.nextSequence, from: $0)
    }
  }

  /// How much of what is held has not been heard.
  func unheard(at now: LocalTime) -> MediaDuration {
    guard let from = buffer.heldFrom, let until = buffer.bufferedUntil else { return .zero }
    return max(.zero, until - max(from, playhead(at: now) ?? from))
  }

  /// Until the device is open, the worst that is expected of one.
  var commitHorizon: Nanoseconds {
    if case .open(let device, _) = device { return device.commitHorizon }
    return profile.expectedHorizon
  }

  var isAudible: Bool {
    switch report?.activity {
    case .playing, .paused, .starved: true
    case .idle, .settling, .waiting, .ended, nil: false
    }
  }

  /// Nothing plays or is about to: the clock need not be asked often.
  var isIdle: Bool { anchors.isEmpty && buffer.bufferedUntil == nil }

  /// What sounds in this room, whose delay moves it against the group.
  func playhead(at now: LocalTime) -> MediaTime? {
    scheduleTime(at: now).flatMap { anchors.playhead(at: $0) }
  }

  /// The group time whose sound is heard in this room now.
  private func scheduleTime(at now: LocalTime) -> GroupTime? {
    estimate.map { $0.groupTime(of: now) - delay }
  }

  /// Whether all that was ever sent has sounded.
  func isSpent(at playhead: MediaTime?) -> Bool {
    guard let playhead, let until = buffer.bufferedUntil else { return true }
    return playhead >= until
  }

  // MARK: - What happens

  mutating func define(_ format: StreamFormat, id: UInt16) { buffer.define(format, id: id) }

  mutating func forgetFormats() { buffer.forgetFormats() }

  mutating func insert(_ packet: AudioPacket) -> PlayoutBuffer.Insertion {
    let insertion = buffer.insert(packet)
    switch insertion {
    case .inserted: noteLateness(of: packet)
    case .insertedAfterImplicitCut(let time): remember(cutFrom: time, packet.generation)
    case .insertedAfterGoingBack, .stale, .lost, .corrupt, .violation: break
    }
    return insertion
  }

  /// A packet that cannot be used; returns how many there were.
  mutating func countCorrupt() -> UInt32 {
    corruptPackets &+= 1
    return corruptPackets
  }

  mutating func flush(from time: MediaTime, generation: UInt32) -> Bool {
    guard buffer.flush(from: time, generation: generation) else { return false }
    remember(cutFrom: time, generation)
    return true
  }

  private mutating func remember(cutFrom time: MediaTime, _ generation: UInt32) {
    board.flush(from: time, generation: generation)
    cuts.append((time, generation))
    if cuts.count > 4 { cuts.removeFirst() }
    cutDecoded(at: time)
  }

  mutating func anchor(_ anchor: Anchor) { anchors.insert(anchor) }

  mutating func clockStepped() { clockIsStep = true }

  /// Forgets the stream: another sender, or the end.
  mutating func removeAll() -> [Step] {
    let steps = [.render(.unanchor)] + supersedeGenerations()
    buffer.removeAll()
    board.removeAll()
    anchors.removeAll()
    cuts.removeAll()
    (decodedFrom, decodedUntil, estimate, announcedEnd) = (nil, nil, nil, nil)
    clockIsStep = true
    histogram = SyncHistogram()
    (latePackets, lateReported, lostPackets, corruptPackets) = (0, 0, 0, 0)
    if case .open(_, let stage) = device { stage.reset() }
    return steps
  }

  /// The sender has gone back behind what was decoded: what the ring holds is obsolete, and the cuts that were made count
  /// for what comes instead.
  mutating func wentBack() -> [Step] {
    let steps = supersedeGenerations()
    (decodedFrom, decodedUntil) = (nil, nil)
    if case .open(_, let stage) = device { stage.endRun() }
    return steps + cutCommands.map { .render($0) }
  }

  private var cutCommands: [RenderCommand] {
    cuts.map { .cut(from: $0.from, generation: renderGeneration($0.generation), isRamped: false) }
  }

  /// Makes what the ring holds obsolete; by a new ring where the numbers would run out, which only a sender that
  /// invents generations brings about.
  private mutating func supersedeGenerations() -> [Step] {
    guard case .open = device else {
      generationBase = 0
      return []
    }
    guard generationBase < 1 << 30, buffer.generation < 1 << 30 else {
      generationBase = 0
      device = .closed
      report = nil
      return [.closeDevice]
    }
    generationBase += buffer.generation + 1
    return [.render(.cut(from: .zero, generation: generationBase, isRamped: true))]
  }

  /// The number under which the render thread knows a generation of this stream.
  func renderGeneration(_ generation: UInt32) -> UInt32 { generationBase + generation }

  mutating func opened(_ device: OutputDevice, ring: FrameRing) {
    self.device = .open(
      device, DecodeStage(makeDecoder: makeDecoder, ring: ring, device: device.format))
    earlierUnderruns += report?.underruns ?? 0
    report = nil
    starvation = nil
    (decodedFrom, decodedUntil, nextClockCommand) = (nil, nil, nil)
    clockIsStep = true
    buffer.rewindDecoding(to: (playhead(at: lastAdvance) ?? .zero) - profile.preroll)
  }

  /// What a render thread that has just begun must be told.
  func commandsForNewDevice() -> [RenderCommand] {
    let end = announcedEnd.map { [RenderCommand.end(at: $0)] } ?? []
    return cutCommands + anchors.all.map { .anchor($0) } + end
  }

  mutating func lostDevice(_ reason: String) { device = .lost(reason: reason) }

  /// True if the device has run dry since the last report.
  mutating func rendered(_ report: RenderReport) -> Bool {
    defer { self.report = report }
    if case .playing = report.activity { histogram.record(report.syncError) }
    if case .starved = report.activity {
      starvation = starvation ?? (report.at, self.report?.starvations ?? 0)
    } else {
      starvation = nil
    }
    return report.underruns > self.report?.underruns ?? 0
  }

  /// With `mayDecode` false, decoding waits: the render thread must hear of a cut before frames that follow it.
  mutating func advance(
    to now: LocalTime, clock: ClockEstimate?, hasSession: Bool, mayDecode: Bool
  ) -> [Step] {
    lastAdvance = now
    var steps: [Step] = []
    follow(clock, at: now, &steps)
    workDevice(at: now, hasSession: hasSession, &steps)
    if mayDecode { decodeAhead(at: now, &steps) } else { hasMoreToDecode = true }
    announceEnd(&steps)
    if let change = board.advance(to: heard(at: now)) { steps.append(.nowPlaying(change.item)) }
    if let playhead = playhead(at: now) { buffer.release(before: playhead - profile.keepAfter) }
    if latePackets != lateReported {
      lateReported = latePackets
      steps.append(.late(by: latestLateness, total: latePackets))
    }
    return steps
  }

  var nextDeadline: LocalTime? {
    if hasMoreToDecode { return lastAdvance }
    // Where the device is missing, time goes on too: the stream may end, and then nobody needs the device.
    if case .closed = device { return nil }
    return lastAdvance + Self.clockInterval
  }

  // MARK: - Parts of `advance`

  private mutating func follow(
    _ clock: ClockEstimate?, at now: LocalTime, _ steps: inout [Step]
  ) {
    guard let clock else { return }
    estimate = clock
    guard case .open = device, clockIsStep || nextClockCommand.map({ $0 <= now }) ?? true else {
      return
    }
    steps.append(.render(.clock(clock, isStep: clockIsStep)))
    clockIsStep = false
    nextClockCommand = now + Self.clockInterval
  }

  /// Opens the device when there is something to play, and lets it go when it was quiet for long.
  private mutating func workDevice(
    at now: LocalTime, hasSession: Bool, _ steps: inout [Step]
  ) {
    let isNeeded = hasSession && buffer.upcoming != nil || isSounding(at: now)
    if isNeeded { quietSince = nil } else if quietSince == nil { quietSince = now }
    let wasQuietForLong = quietSince.map { now - $0 >= idleTime } ?? false
    switch device {
    case .closed:
      guard isNeeded, let format = buffer.upcoming?.format else { return }
      device = .opening
      steps.append(.openDevice(rate: format.audio.sampleRate))
    case .opening, .open, .lost:
      guard wasQuietForLong else { return }
      device = .closed
      report = nil
      steps.append(.closeDevice)
    }
  }

  /// Silence after the last packet of the stream is not a lack of packets.
  private mutating func announceEnd(_ steps: inout [Step]) {
    let end = buffer.endsStream ? buffer.bufferedUntil : nil
    guard end != announcedEnd else { return }
    announcedEnd = end
    if let end { steps.append(.render(.end(at: end))) }
  }

  /// What comes out of the loudspeakers, by what the render thread has said last: the room's delay and what is written
  /// and not heard yet are in it.
  private func heard(at now: LocalTime) -> NowPlayingBoard.Position {
    switch device {
    case .closed, .opening, .lost: return .nothing
    case .open: break
    }
    // Before there is an anchor, the render thread may still report the stream before.
    guard let report, estimate != nil, !anchors.isEmpty else { return .unknown }
    let sounding = report.playhead - MediaDuration(max(.zero, report.at - now))
    switch report.activity {
    case .playing: return .sounding(sounding)
    case .paused: return .paused(report.playhead)
    case .starved: return .starved(report.playhead)
    case .ended: return sounding < announcedEnd ?? .zero ? .sounding(sounding) : .nothing
    case .idle, .settling, .waiting: return .unknown
    }
  }

  func isSounding(at now: LocalTime) -> Bool {
    guard let time = scheduleTime(at: now), let until = buffer.bufferedUntil else { return false }
    return anchors.isPlaying(at: time) && (anchors.playhead(at: time) ?? until) < until
  }

  private mutating func decodeAhead(at now: LocalTime, _ steps: inout [Step]) {
    hasMoreToDecode = false
    guard case .open(_, let stage) = device else { return }
    let playhead = playhead(at: now)
    if let playhead {
      lostPackets &+= UInt32(clamping: buffer.skipLate(before: playhead - profile.preroll))
    }
    for _ in 0..<Self.decodeSlice {
      guard stage.isReadyForMore(), let next = buffer.upcoming,
        needsDecoding(next.mediaTime, playhead: playhead)
      else { break }
      decodeNext(with: stage, &steps)
    }
    hasMoreToDecode =
      stage.isReadyForMore()
      && buffer.upcoming.map { needsDecoding($0.mediaTime, playhead: playhead) } ?? false
  }

  private func needsDecoding(_ time: MediaTime, playhead: MediaTime?) -> Bool {
    guard let base = playhead ?? decodedFrom else { return true }
    return time - base < profile.decodeAhead
  }

  private mutating func decodeNext(with stage: DecodeStage, _ steps: inout [Step]) {
    guard let (packet, format) = buffer.nextToDecode() else { return }
    guard !undecodable.contains(format.codec) else { return }
    let generation = renderGeneration(packet.generation)
    do {
      try stage.prepare(for: packet, format: format, generation: generation)
    } catch {
      undecodable.insert(format.codec)
      return steps.append(.undecodable(format.codec, error))
    }
    if decodedUntil != packet.mediaTime { decodedFrom = packet.mediaTime }
    decodedUntil =
      packet.mediaTime + format.audio.duration(ofFrames: packet.encoded.frameCount)
    do {
      try stage.decode(packet, format: format, generation: generation)
    } catch {
      steps.append(.corrupt(reason: "\(error)", total: countCorrupt()))
    }
  }

  /// Decoded frames from `time` on are obsolete; the ring cuts them itself.
  private mutating func cutDecoded(at time: MediaTime) {
    guard let until = decodedUntil, until > time else { return }
    if case .open(_, let stage) = device { stage.endRun() }
    decodedUntil = time
    if let from = decodedFrom, from >= time { (decodedFrom, decodedUntil) = (nil, nil) }
  }

  private mutating func noteLateness(of packet: AudioPacket) {
    guard isAudible, let playhead = playhead(at: lastAdvance), packet.mediaTime < playhead else {
      return
    }
    latePackets &+= 1
    buffer.markNewestLate()
    latestLateness = Nanoseconds(playhead - packet.mediaTime)
  }
}

// MARK: - Status

extension Playout {
  func state(isClockLocked: Bool, hasSession: Bool) -> RoomStatus.State {
    let isWanted = hasSession && buffer.bufferedUntil != nil
    guard case .open = device, let activity = report?.activity else {
      if case .lost = device, hasSession { return .noDevice }
      return isWanted ? .priming : .idle
    }
    switch activity {
    case .playing: return .playing
    // The render thread is ahead of what is heard.
    case .paused: return isRunning(at: lastAdvance) ? .playing : .paused
    case .starved: return isStarvationHeard ? .starved : .playing
    case .ended: return .idle
    case .settling: return isWanted ? .priming : .idle
    case .idle, .waiting:
      guard isWanted else { return .idle }
      return isClockLocked && hasEnoughToStart ? .ready : .priming
    }
  }

  /// What is rendered ahead of its packets is rendered again once they have come.
  private var isStarvationHeard: Bool {
    guard let report, let starvation else { return false }
    return report.starvations != starvation.earlier
      || report.at - starvation.since >= Self.longestWriteAhead
  }

  /// Whether media time runs in this room, by the anchors.
  private func isRunning(at now: LocalTime) -> Bool {
    scheduleTime(at: now).map { anchors.isPlaying(at: $0) } ?? false
  }

  private var hasEnoughToStart: Bool {
    guard let decodedFrom, let decodedUntil else { return false }
    return decodedUntil - decodedFrom >= profile.startThreshold
      || buffer.endsStream && buffer.upcoming == nil
  }

  func status(
    state: RoomStatus.State, at now: LocalTime, clockErrorBound: Nanoseconds, clockDrift: Double,
    roundTrip: Nanoseconds
  ) -> RoomStatus {
    var detail = ""
    if case .lost(let reason) = device { detail = reason }
    return RoomStatus(
      state: state, detail: detail, playhead: playhead(at: now) ?? .zero,
      bufferedUntil: buffer.bufferedUntil ?? .zero, heldBytes: buffer.heldBytes,
      syncError: histogram.statistics, clockErrorBound: clockErrorBound, roundTrip: roundTrip,
      commitHorizon: commitHorizon, clockDrift: partsPerBillion(clockDrift),
      deviceDrift: partsPerBillion(report?.deviceDrift ?? 0),
      underruns: earlierUnderruns + (report?.underruns ?? 0), latePackets: latePackets,
      lostPackets: lostPackets, corruptPackets: corruptPackets)
  }

  private func partsPerBillion(_ ratio: Double) -> Int32 {
    Int32(clamping: Int64((ratio * 1e9).clamped(to: -2e9...2e9)))
  }
}

extension Double {
  fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
    isNaN ? 0 : min(max(self, range.lowerBound), range.upperBound)
  }
}
