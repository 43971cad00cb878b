import Audio
package import Clock
package import Pairing
import WireProtocol

/// The receiver's whole behaviour up to the frame ring, without I/O: a driver feeds it inputs, drains its outputs, and
/// wakes it at its deadline. Connections without a first message wait in `Lobby`; the one session is a `SenderLink`
/// with a `ClockTracker`; `Playout` plays.
package struct ReceiverSession {
  let configuration: Configuration
  var memory: ReceiverMemory
  var lobby = Lobby()
  var desk: PairingDesk
  var tenancy = Tenancy.free
  var parting = PartingMedia()
  var clock: ClockTracker?
  var playout: Playout
  var telling = StateTelling()
  var cuts = CutAnswers()
  var diary: RoomDiary
  /// Reset with each new stream.
  var streamVolume = RisingVolume(.full)
  /// The sender whose music this is, while any of it is left to play.
  var occupant: Occupant?
  var codecs: CodecList
  /// Nil unless the current stream is live.
  var live: LiveReceiver?
  /// The sound that the render thread was told; nil if it was told none.
  private var toldSound: RenderedSound?
  /// The gain of the clips with which that was found.
  private var toldClipGain: Float?
  var outputs = OutputQueue<Output>()

  struct Occupant {
    let senderID: Identifier
    let senderName: String
    let clockID: UInt64
  }

  /// The session that the room has; nil where it has none.
  var link: SenderLink? {
    get { tenancy.link }
    _modify { yield &tenancy.link }
  }

  package init(
    _ configuration: Configuration, memory: ReceiverMemory, trust: TrustMemory = TrustMemory()
  ) {
    self.configuration = configuration
    desk = PairingDesk(
      receiverID: configuration.receiverID, name: configuration.name,
      arithmetic: configuration.arithmetic, canSpeak: configuration.canSpeak, trust: trust)
    self.memory = memory
    self.memory.settings.hasFIR = configuration.timeToPeak != nil
    diary = RoomDiary(interval: configuration.figuresInterval)
    codecs = CodecList(configuration.codecs, remaining: configuration.remainingCodecs)
    playout = Playout(
      capacity: configuration.capacity, makeDecoder: configuration.makeDecoder,
      idleTime: configuration.idleTime, profile: configuration.profile,
      reopensDevice: configuration.reopensDevice)
    playout.schedule.delay = memory.settings.soundingDelay
    playout.useFIR(timeToPeak)
  }

  /// Handles one input. `now` never decreases. Drivers end each turn with `.timeout`. Datagrams and stamps of the clock
  /// come by the hundred per second, and only `.timeout` acts on their consequences.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    switch input {
    case .accepted(let id, let peer, let network):
      accept(id, peer: peer, network: network ?? peer, at: now)
    case .secured(let id, let peer): lobby.secured(id, peer)
    case .received(let id, let bytes): received(bytes, on: id, at: now)
    case .closed(let id): closed(id, at: now)
    case .datagram(let bytes, let time):
      return DatagramKind(of: bytes) == .audio
        ? receivedAudio(bytes, at: time) : receivedDatagram(bytes, at: time)
    case .transmitted(let sequence, let time):
      clock?.transmitted(sequence: sequence, at: time)
      return
    case .deviceOpened(let device, let ring, let clips): opened(device, ring, clips)
    case .deviceLost(let reason): lostDevice(reason)
    case .rendered(let report): rendered(report)
    case .resumedFromSuspend:
      clock?.suspended(at: now)
      // The old estimate is void, however close the next one is to it.
      playout.schedule.clockStepped()
    case .trustKept(let number): desk.kept(number, at: now)
    case .trustChanged(let trust): desk.changed(trust)
    case .timeout: break
    }
    advance(to: now)
  }

  /// Returns the next output to carry out, or `nil` if there is none.
  package mutating func nextOutput() -> Output? { outputs.next() }

  /// Time at which to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? {
    .earliest([
      lobby.nextDeadline, desk.nextDeadline, link?.nextDeadline, parting.nextDeadline,
      clock?.nextDeadline(asks: link != nil),
      tenancy.reservation?.until, streamVolume.nextDeadline,
      playout.nextDeadline, cuts.nextDeadline, diary.nextDeadline,
      link == nil ? nil : live?.nextDeadline,
    ])
  }

  // MARK: - Clock

  private mutating func receivedDatagram(_ bytes: [UInt8], at time: LocalTime) {
    guard let link else { return }
    let key = ClockKey(link.secured.clockKey)
    guard case .answer(let answer)? = try? TimePacket.decode(bytes[...], key: key) else {
      diary.ignored.forged += 1
      return
    }
    clockChanged(clock?.answered(answer, receivedAt: time))
  }

  private mutating func clockChanged(_ change: ClockTracker.Change?) {
    switch change {
    case nil: break
    case .locked(let bound): outputs.append(.event(.clockLocked(errorBound: bound)))
    case .stepped:
      playout.schedule.clockStepped()
      outputs.append(.event(.clockStepped))
    case .lost: outputs.append(.event(.clockLost))
    }
  }

  private mutating func probe(at now: LocalTime) {
    let isIdle = playout.isIdle(at: now)
    guard let link,
      let request = clock?.request(session: link.hello.session, at: now, isIdle: isIdle)
    else { return }
    outputs.append(
      .sendTimeRequest(
        TimePacket.request(request).encoded(key: ClockKey(link.secured.clockKey)),
        sequence: request.sequence,
        toHostOf: link.control, port: link.hello.clockPort))
  }

  mutating func rememberDrift() {
    guard let occupant, let drift = clock?.drift else { return }
    memory.clockDrifts.removeAll { $0.sender == occupant.senderID }
    memory.clockDrifts.insert(.init(sender: occupant.senderID, drift: drift), at: 0)
    memory.clockDrifts = Array(memory.clockDrifts.prefix(16))
    memory.deviceDrift = playout.deviceDrift ?? memory.deviceDrift
    outputs.append(.persist(memory))
  }

  // MARK: - Device

  private mutating func opened(_ device: OutputDevice, _ ring: FrameRing, _ clips: FrameRing?) {
    playout.opened(device, ring: ring, clips: clips)
    outputs.append(contentsOf: playout.commandsForNewDevice().map { .render($0) })
    toldSound = nil
    applySettings()
    outputs.append(
      .event(
        .deviceOpened(rate: device.format.sampleRate, channels: device.format.channelCount)))
  }

  private mutating func lostDevice(_ reason: String) {
    playout.lostDevice(reason)
    outputs.append(.event(.deviceLost(reason: reason)))
  }

  private mutating func rendered(_ report: RenderReport) {
    if playout.rendered(report) { outputs.append(.event(.underrun(total: report.underruns))) }
    let made = cuts.rendered(renderGeneration: report.cutGeneration, from: report.cutFrom)
    for answer in made { told(answer) }
  }

  mutating func applySettings() {
    playout.schedule.delay = memory.settings.soundingDelay
    let commands = memory.settings.renderCommands(
      streamVolume.volume, share: streamVolume.share)
    for command in commands { outputs.append(.render(command)) }
    applySound()
  }

  /// Tells the render thread the room's sound if that has changed, or the volume that loudness follows, or the clips that
  /// bound it.
  mutating func applySound() {
    toldClipGain = playout.clips.loudestGain
    playout.useFIR(timeToPeak)
    guard let rate = playout.deviceRate else { return }
    let sound = RenderedSound(
      memory.settings.sound ?? .plain, rate: rate,
      gain: memory.settings.gain * streamVolume.volume.gain(streamVolume.share),
      clipGain: playout.clips.loudestGain, usesFIR: timeToPeak != nil, before: toldSound)
    guard sound != toldSound else { return }
    toldSound = sound
    for command in sound.commands { outputs.append(.render(command)) }
  }

  /// The time by which the FIR filter reads ahead; nil if it is not used, as where a live stream leaves no time for it.
  private var timeToPeak: Nanoseconds? {
    guard let time = configuration.timeToPeak, let sound = memory.settings.sound, sound.isOn,
      sound.usesFIR
    else { return nil }
    return playout.hasTime(forReadingAhead: time) ? time : nil
  }

  private mutating func raiseVolume(at now: LocalTime) {
    guard streamVolume.isDue(at: now) else { return }
    let time = clock?.isLocked == true ? clock?.estimate(at: now) : nil
    if streamVolume.advance(to: now, clock: time) { applySettings() }
  }

  // MARK: - Time

  private mutating func advance(to now: LocalTime) {
    for id in lobby.overdue(at: now) + parting.overdue(at: now) { outputs.append(.close(id)) }
    desk.advance(to: now)
    serveDesk(at: now)
    if let link, link.giveUpTime <= now {
      sayGoodbye(.timeout, at: now)
      endSession(reason: "nothing heard for 10 s", at: now)
    }
    clockChanged(clock?.advance(to: now))
    probe(at: now)
    for answer in cuts.overdue(at: now) { told(answer) }
    advanceLive(to: now)
    raiseVolume(at: now)
    advancePlayout(to: now)
    endReservation(at: now)
    reportState(at: now)
  }

  private mutating func advancePlayout(to now: LocalTime) {
    clock?.smooths(playout.isAudible)
    let estimate = clock?.isLocked == true ? clock?.estimate(at: now) : nil
    let steps = playout.advance(
      to: now, clock: estimate, hasSession: link != nil, mayDecode: !hasUndeliveredCommands)
    perform(steps)
    if toldClipGain != playout.clips.loudestGain { applySound() }
    if link == nil, occupant != nil, playout.clips.isEmpty,
      playout.isSpent(at: playout.playhead(at: now))
    {
      forgetStream()
    }
    let (held, capacity) = (playout.heldBytes, configuration.capacity.bytes)
    if let limit = link?.limitToGrant(heldBytes: held, capacity: capacity) {
      let until = playout.bufferedUntil ?? .zero
      send(.credit(Credit(limit: limit, bufferedUntil: until, heldBytes: held)))
    }
  }

  mutating func perform(_ steps: [Playout.Step]) {
    for step in steps {
      switch step {
      case .render(let command): outputs.append(.render(command))
      case .openDevice(let rate, let profile):
        outputs.append(.openDevice(rate: rate, profile))
      case .closeDevice: outputs.append(.closeDevice)
      case .corrupt(let reason, let total):
        outputs.append(.event(.packetCorrupt(reason: reason, total: total)))
      case .undecodable(let codec, let error): withdraw(codec, because: error)
      case .late(let by, let total):
        diary.late(by: by)
        outputs.append(.event(.packetLate(by: by, total: total)))
      case .nowPlaying(let item): outputs.append(.nowPlaying(item))
      case .clipState(let state): told(state)
      }
    }
  }

  /// The sender reckons with the newest commit horizon, so it is told before that a clip is ready.
  private mutating func told(_ state: ClipState) {
    if state.stage == .ready { sendStatus(at: playout.lastAdvance) }
    send(.clipState(state))
  }

  var hasUndeliveredCommands: Bool {
    outputs.waiting.contains { if case .render = $0 { true } else { false } }
  }

  private mutating func reportState(at now: LocalTime) {
    let state = playout.state(isClockLocked: clock?.isLocked == true, hasSession: link != nil)
    if telling.isStarvationNews(state, at: now) { outputs.append(.event(.starved)) }
    if telling.isNews(state) {
      switch state {
      case .playing: outputs.append(.event(.playing))
      case .paused: outputs.append(.event(.paused))
      case .starved, .idle, .priming, .ready, .noDevice: break
      }
      sendStatus(at: now)
    } else if let link, link.nextStatus <= now {
      sendStatus(at: now)
    }
    if diary.isDue(at: now) {
      let told = diary.look(at: status(at: now), now: now)
      outputs.append(contentsOf: told.map { .event($0) })
    }
  }

  mutating func sendStatus(at now: LocalTime) {
    guard link != nil else { return }
    link?.statusSent(at: now)
    send(.status(status(at: now)))
  }

  private mutating func status(at now: LocalTime) -> RoomStatus {
    let estimate = clock?.estimate(at: now)
    return playout.status(
      state: telling.last ?? .idle, at: now,
      clockErrorBound: clock?.isLocked == true
        ? estimate?.errorBound ?? Self.notKnown : Self.notKnown,
      clockDrift: estimate?.drift ?? 0, roundTrip: clock?.roundTrip ?? .zero)
  }

  /// The error bound reported for a clock that is not locked.
  private static let notKnown = Nanoseconds(ProtocolLimits.span.upperBound)

  mutating func send(_ message: ControlMessage) {
    guard let control = link?.control else { return }
    outputs.append(.send(control, message.encoded()))
  }
}
