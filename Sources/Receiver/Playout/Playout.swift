import Audio
import Clock
import WireProtocol

/// Plays a stream, from the deep buffer to the sound device. Asks `RoomSchedule` what sounds and `DeviceSlot` whether
/// there is a device, and lets `DecodeAhead` fill the device's ring.
struct Playout {
  /// Number of packets decoded in one go, so that a control message never waits for more than a few milliseconds.
  static let decodeSlice = 8
  /// Polling interval while the start waits for the card's clock to settle.
  static let settlingInterval = Nanoseconds.milliseconds(5)
  /// Lateness of a start that is not reported.
  private static let startTolerance = Nanoseconds.milliseconds(20)
  /// Time from a packet's due time to its frames in the ring: for delays of the session's thread and for decoding.
  private static let decodingTime = Nanoseconds.microseconds(1_500)

  enum Step {
    case render(RenderCommand)
    case openDevice(rate: Int, LatencyProfile)
    case closeDevice
    case corrupt(reason: String, total: UInt32)
    case late(by: Nanoseconds, total: UInt32)
    case nowPlaying(SoundingItem?)
    case clipState(ClipState)
    /// No decoder could be made for this codec, although the room had offered it.
    case undecodable(Codec, CodecError)
  }

  /// Clips that are mixed over the stream.
  var clips: ClipShelf
  private let makeDecoder: DecodeStage.MakeDecoder
  private let idleTime: Nanoseconds
  private let profile: LatencyProfile
  private let reopensDevice: Bool
  /// Nil unless the current stream is live.
  private var live: LiveStream?
  /// From the beginning of the FIR filter to its peak; nil if none is used.
  private var timeToPeak: Nanoseconds?
  private var buffer: PlayoutBuffer
  /// The sender's descriptions of the items.
  var board = NowPlayingBoard()
  var schedule = RoomSchedule()
  var decoding: DecodeAhead
  private var generations = RenderGenerations()
  private var device = DeviceSlot()
  private var figures = StreamFigures()
  private var announcedEnd: MediaTime?
  private(set) var lastAdvance = LocalTime(nanoseconds: 0)

  init(
    capacity: Capacity, makeDecoder: @escaping DecodeStage.MakeDecoder, idleTime: Nanoseconds,
    profile: LatencyProfile = .deep, reopensDevice: Bool = true
  ) {
    self.reopensDevice = reopensDevice
    self.profile = profile
    buffer = PlayoutBuffer(capacity: capacity)
    decoding = DecodeAhead(profile)
    self.makeDecoder = makeDecoder
    clips = ClipShelf(makeDecoder: makeDecoder)
    self.idleTime = idleTime
  }

  // MARK: - Queries

  var heldBytes: UInt64 { buffer.heldBytes }
  var generation: UInt32 { buffer.generation }
  var bufferedUntil: MediaTime? { buffer.bufferedUntil }
  var deviceDrift: Double? { device.report?.deviceDrift }

  var held: HeldStream? {
    buffer.heldFrom.map {
      HeldStream(generation: buffer.generation, nextSequence: buffer.nextSequence, from: $0)
    }
  }

  /// Returns the length of the held audio that has not been heard.
  func unheard(at now: LocalTime) -> MediaDuration {
    guard let from = buffer.heldFrom, let until = buffer.bufferedUntil else { return .zero }
    return max(.zero, until - max(from, playhead(at: now) ?? from))
  }

  /// Until the device is open, the largest value expected of a device.
  var commitHorizon: Nanoseconds {
    (device.commitHorizon ?? profile.expectedHorizon) + readAhead
  }

  /// Nil while no device is open.
  var deviceRate: Int? { device.rate }

  /// The time by which the FIR filter reads ahead of what is rendered: its peak, and a block.
  private var readAhead: Nanoseconds {
    guard let timeToPeak else { return .zero }
    let rate = Int64(device.rate ?? 44_100)
    return timeToPeak + Nanoseconds(Int64(Convolver.block) * 1_000_000_000 / rate)
  }

  var isAudible: Bool { device.isAudible }
  var isDeviceClosed: Bool { device.isClosed }

  /// After a pause of this length, the room asks for the time less often. Most people resume within minutes, and then
  /// every microsecond counts at once.
  static let restTime = Nanoseconds.seconds(60)

  /// True if nothing plays or is about to, so that the clock can be asked less often.
  func isIdle(at now: LocalTime) -> Bool {
    guard clips.isEmpty else { return false }
    if schedule.anchors.isEmpty { return buffer.bufferedUntil == nil }
    return schedule.hasStoodStill(for: Self.restTime, at: now)
  }

  func playhead(at now: LocalTime) -> MediaTime? { schedule.playhead(at: now) }

  func isSounding(at now: LocalTime) -> Bool {
    guard schedule.isRunning(at: now), let until = buffer.bufferedUntil else { return false }
    return playhead(at: now) ?? until < until
  }

  /// True if what is buffered begins at a time that is still to come, whether or not the sender is there then.
  func isAwaited(at now: LocalTime) -> Bool {
    buffer.bufferedUntil != nil && schedule.isToRun(after: now)
  }

  /// True if all packets received so far have sounded.
  func isSpent(at playhead: MediaTime?) -> Bool {
    guard let playhead, let until = buffer.bufferedUntil else { return true }
    return playhead >= until
  }

  // MARK: - Changes

  /// Sets the live stream, or nil. The device opens for it before its first packet arrives.
  mutating func use(_ stream: LiveStream?) {
    live = stream
    device.stage?.conceals = stream != nil
  }

  /// Sets the time from the beginning of the FIR filter to its peak; nil if none is used.
  mutating func useFIR(_ timeToPeak: Nanoseconds?) { self.timeToPeak = timeToPeak }

  /// True if a FIR filter of this time to its peak can be used: a live stream of a short latency has not arrived yet when
  /// the filter would need it.
  func hasTime(forReadingAhead timeToPeak: Nanoseconds) -> Bool {
    guard let live else { return true }
    return live.latency >= timeToPeak + Self.leastLiveLatency
  }

  /// Least latency of a live stream beside a FIR filter, besides the time to its peak: for the network, the card and a block of the filter.
  private static let leastLiveLatency = Nanoseconds.milliseconds(60)

  /// Returns when a frame must be in the ring to be heard, or nil if that is not known.
  func dueTime(of time: MediaTime, at now: LocalTime) -> LocalTime? {
    guard let ahead = device.writtenAhead, let heard = schedule.localTime(of: time, at: now)
    else { return nil }
    return heard - ahead - readAhead - Self.decodingTime
  }

  /// Conceals packets that did not arrive in time.
  mutating func conceal(
    from time: MediaTime, for span: MediaDuration, mayDecode: Bool
  ) -> [Step] {
    figures.lost(1)
    guard mayDecode, let stage = device.stage else { return [] }
    var steps: [Step] = []
    decodeAhead(at: lastAdvance, &steps)
    guard stage.conceal(from: time, for: span) else { return steps }
    decoding.concealed(until: time + span)
    return steps
  }

  /// Counts packets that never arrived and are replaced by silence.
  mutating func countMissing(_ count: UInt32) { figures.lost(Int(count)) }

  mutating func define(_ format: StreamFormat, id: UInt16) { buffer.define(format, id: id) }

  mutating func forgetFormats() { buffer.forgetFormats() }

  mutating func mayGoBack() { buffer.mayGoBack() }

  mutating func insert(_ packet: AudioPacket) -> PlayoutBuffer.Insertion {
    let insertion = buffer.insert(packet)
    switch insertion {
    case .inserted: noteLateness(of: packet)
    case .insertedAfterImplicitCut(let time): remember(cutFrom: time, packet.generation)
    case .insertedAfterGoingBack, .stale, .lost, .corrupt, .violation: break
    }
    return insertion
  }

  /// Counts an unusable packet and returns the new total.
  mutating func countCorrupt() -> UInt32 { figures.countCorrupt() }

  mutating func flush(from time: MediaTime, generation: UInt32) -> Bool {
    guard buffer.flush(from: time, generation: generation) else { return false }
    remember(cutFrom: time, generation)
    return true
  }

  private mutating func remember(cutFrom time: MediaTime, _ generation: UInt32) {
    board.flush(from: time, generation: generation)
    generations.cut(from: time, generation)
    decoding.cut(at: time, device.stage)
  }

  /// Takes an anchor. Where a busy machine gets a start after its time, the room begins where the others are by then:
  /// what it holds of the time before is not heard, and counts as late.
  mutating func anchor(_ anchor: Anchor, at now: LocalTime) {
    let waits = isWaiting(for: anchor)
    schedule.insert(anchor)
    guard waits, anchor.rate == .playing,
      let start = schedule.localTime(of: anchor.mediaTime, at: now),
      start + Self.startTolerance < now
    else { return }
    figures.late(by: now - start)
  }

  /// True if nothing sounds, and the packets that the anchor begins with are here.
  private func isWaiting(for anchor: Anchor) -> Bool {
    switch device.activity {
    case .idle, .waiting, .paused: buffer.bufferedUntil.map { $0 > anchor.mediaTime } ?? false
    case .playing, .starved, .ended, .settling, nil: false
    }
  }

  /// Forgets the stream, because the sender changes or the session ends.
  mutating func removeAll() -> [Step] {
    let steps = [.render(.forgetSchedule)] + clips.removeAll() + supersedeGenerations()
    buffer.removeAll()
    board.removeAll()
    schedule.forget()
    generations.forgetCuts()
    decoding.forget()
    figures = StreamFigures()
    announcedEnd = nil
    device.stage?.reset()
    return steps
  }

  /// Handles a sender that has gone back behind the decoded audio: the ring's frames become obsolete, and earlier cuts
  /// apply to the new packets.
  mutating func wentBack() -> [Step] {
    let steps = supersedeGenerations()
    decoding.forget()
    device.stage?.endRun()
    return steps + generations.commands.map { .render($0) }
  }

  /// Makes the ring's frames obsolete. Closes the device, to get a new ring, if the numbers would run out.
  private mutating func supersedeGenerations() -> [Step] {
    if device.stage != nil {
      if let command = generations.supersede(buffer.generation) { return [.render(command)] }
      generations.startOver()
      return [device.close()]
    }
    generations.startOver()
    return []
  }

  /// Returns the render thread's number for a generation of this stream.
  func renderGeneration(_ generation: UInt32) -> UInt32 { generations.number(of: generation) }

  mutating func opened(_ device: OutputDevice, ring: FrameRing, clips clipRing: FrameRing? = nil) {
    if let clipRing {
      clips.opened(
        clipRing, device.format, groupTime: schedule.time(at: lastAdvance))
    }
    self.device.opened(
      device, DecodeStage(makeDecoder: makeDecoder, ring: ring, device: device.format))
    self.device.stage?.conceals = live != nil
    decoding.forget()
    schedule.deviceOpened()
    buffer.rewindDecoding(to: (playhead(at: lastAdvance) ?? .zero) - profile.preroll)
  }

  /// Returns the commands that bring a new render thread up to date.
  func commandsForNewDevice() -> [RenderCommand] {
    let end = announcedEnd.map { [RenderCommand.end(at: $0)] } ?? []
    return generations.commands + schedule.anchors.map { .anchor($0) } + end
      + clips.commandsForNewDevice
  }

  mutating func lostDevice(_ reason: String) { device.lost(reason) }

  /// True if the device has run dry since the last report.
  mutating func rendered(_ report: RenderReport) -> Bool {
    figures.played(report)
    let underruns = device.rendered(report)
    figures.underran(underruns)
    return underruns > 0
  }

  /// Advances playback to `now`. With `mayDecode` false, decoding waits: the render thread must learn of a cut before
  /// it gets the frames that follow it.
  mutating func advance(
    to now: LocalTime, clock: ClockEstimate?, hasSession: Bool, mayDecode: Bool
  ) -> [Step] {
    lastAdvance = now
    var steps: [Step] = []
    if let clock = schedule.follow(clock, hasDevice: device.stage != nil, at: now) {
      steps.append(.render(clock))
    }
    workDevice(hasSession: hasSession, at: now, &steps)
    if mayDecode { decodeAhead(at: now, &steps) } else { decoding.hasMore = true }
    announceEnd(&steps)
    advanceClips(to: now, isLocked: clock != nil, &steps)
    if let change = board.advance(to: heard(at: now)) { steps.append(.nowPlaying(change.item)) }
    if let playhead = playhead(at: now) { buffer.release(before: playhead - profile.keepAfter) }
    if let late = figures.takeLate() { steps.append(late) }
    return steps
  }

  var nextDeadline: LocalTime? {
    if decoding.hasMore || clips.hasMore { return lastAdvance }
    // Without the device, time still matters: the stream may end, and then nobody needs the device.
    guard !device.isClosed else { return clips.nextDeadline }
    // All rooms may be waiting for this room's card, whose progress does not wake the session.
    let awaitsCard = device.isSettling && (buffer.bufferedUntil != nil || !clips.isEmpty)
    return lastAdvance + (awaitsCard ? Self.settlingInterval : RoomSchedule.clockInterval)
  }

  // MARK: - Parts of `advance`

  /// Closes and opens the device. Reopening takes two steps.
  private mutating func workDevice(hasSession: Bool, at now: LocalTime, _ steps: inout [Step]) {
    let music = buffer.upcoming?.format.audio.sampleRate ?? live?.sampleRate
    let rate = music ?? clips.sampleRate
    let isNeeded =
      hasSession && music != nil || !clips.isEmpty || isSounding(at: now) || isAwaited(at: now)
    let wanted = live.map { LatencyProfile.live(latency: $0.latency) } ?? profile
    for _ in 0..<2 {
      let step = device.work(
        isNeeded: isNeeded, rate: rate, wanted, reopens: reopensDevice, idleTime: idleTime, at: now)
      if let step { steps.append(step) }
    }
    if device.stage == nil { clips.closed() }
  }

  private mutating func advanceClips(to now: LocalTime, isLocked: Bool, _ steps: inout [Step]) {
    let isReady = isLocked && device.stage != nil && !device.isSettling
    steps += clips.advance(to: now, isReady: isReady, trouble: device.lossReason)
  }

  private mutating func decodeAhead(at now: LocalTime, _ steps: inout [Step]) {
    guard let stage = device.stage else {
      decoding.hasMore = false
      return
    }
    decoding.run(
      &buffer, with: stage, playhead: playhead(at: now), generations, &figures, &steps)
  }

  /// Tells the render thread where the stream ends, because silence after the last packet is not a lack of packets.
  private mutating func announceEnd(_ steps: inout [Step]) {
    let end = buffer.endsStream ? buffer.bufferedUntil : nil
    guard end != announcedEnd else { return }
    announcedEnd = end
    if let end { steps.append(.render(.end(at: end))) }
  }

  /// Returns what the loudspeakers play, by the last report of the render thread, which includes the room's delay and
  /// the frames that are written but not heard yet.
  private func heard(at now: LocalTime) -> NowPlayingBoard.Position {
    guard device.stage != nil else { return .nothing }
    // Before the first anchor, the render thread may still report the previous stream.
    guard let report = device.report, schedule.isKnown else { return .unknown }
    let sounding = report.playhead - MediaDuration(max(.zero, report.at - now))
    switch report.activity {
    case .playing: return .sounding(sounding)
    case .paused: return .paused(report.playhead)
    case .starved: return .starved(report.playhead)
    case .ended: return sounding < announcedEnd ?? .zero ? .sounding(sounding) : .nothing
    case .idle, .settling, .waiting: return .unknown
    }
  }

  private mutating func noteLateness(of packet: AudioPacket) {
    guard isAudible, let playhead = playhead(at: lastAdvance), packet.mediaTime < playhead else {
      return
    }
    figures.late(by: Nanoseconds(playhead - packet.mediaTime))
    buffer.markNewestLate()
  }
}

// MARK: - Status

extension Playout {
  func state(isClockLocked: Bool, hasSession: Bool) -> RoomStatus.State {
    let isWanted = hasSession && buffer.bufferedUntil != nil
    guard let activity = device.activity else {
      if device.lossReason != nil, hasSession { return .noDevice }
      return isWanted ? .priming : .idle
    }
    switch activity {
    case .playing: return .playing
    // The render thread is ahead of the sound.
    case .paused: return schedule.isRunning(at: lastAdvance) ? .playing : .paused
    case .starved: return device.isStarvationHeard ? .starved : .playing
    case .ended: return .idle
    case .settling: return isWanted ? .priming : .idle
    case .idle, .waiting:
      guard isWanted else { return .idle }
      return isClockLocked && decoding.hasEnoughToStart(buffer) ? .ready : .priming
    }
  }

  func status(
    state: RoomStatus.State, at now: LocalTime, clockErrorBound: Nanoseconds, clockDrift: Double,
    roundTrip: Nanoseconds
  ) -> RoomStatus {
    RoomStatus(
      state: state, detail: device.lossReason ?? "", playhead: playhead(at: now) ?? .zero,
      bufferedUntil: buffer.bufferedUntil ?? .zero, heldBytes: buffer.heldBytes,
      syncError: figures.histogram.statistics, clockErrorBound: clockErrorBound,
      roundTrip: roundTrip,
      commitHorizon: commitHorizon, clockDrift: partsPerBillion(clockDrift),
      deviceDrift: partsPerBillion(deviceDrift ?? 0),
      underruns: figures.underruns, latePackets: figures.late,
      lostPackets: figures.lost, corruptPackets: figures.corrupt)
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
