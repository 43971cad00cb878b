import Audio
package import Clock
import WireProtocol

/// The receiver's whole behaviour up to the frame ring, without I/O: feed it inputs, drain its outputs, wake it at
/// its deadline. Connections that have not said what they are wait in `Lobby`; the one session is a
/// `SenderLink` with a `ClockTracker`; what is played is in `Playout`.
package struct ReceiverSession {
  private let configuration: Configuration
  private var memory: ReceiverMemory
  private var lobby = Lobby()
  private var link: SenderLink?
  private var controlFramer = MessageFramer(limit: ProtocolLimits.controlMessage)
  private var mediaFramer = MessageFramer(limit: ProtocolLimits.mediaMessage)
  private var clock: ClockTracker?
  private var playout: Playout
  private var lastState: RoomStatus.State?
  private var cuts = CutAnswers()
  /// Who plays here, as long as anything of it is left to play: it may come back, others wait for silence.
  private var occupant: Occupant?
  private var codecs: CodecList
  private var outputs: [Output] = []
  private var nextOutputIndex = 0

  private struct Occupant {
    let senderID: Identifier
    let clockID: UInt64
  }

  package init(_ configuration: Configuration, memory: ReceiverMemory) {
    self.configuration = configuration
    self.memory = memory
    codecs = CodecList(configuration.codecs, remaining: configuration.remainingCodecs)
    playout = Playout(
      capacity: configuration.capacity, makeDecoder: configuration.makeDecoder,
      idleTime: configuration.idleTime)
  }

  /// Takes one input into account. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    switch input {
    case .accepted(let id, let peer): accept(id, peer: peer, at: now)
    case .received(let id, let bytes): received(bytes, on: id, at: now)
    case .closed(let id): closed(id, at: now)
    case .datagram(let bytes, let time): receivedDatagram(bytes, at: time)
    case .transmitted(let sequence, let time): clock?.transmitted(sequence: sequence, at: time)
    case .deviceOpened(let device, let ring): opened(device, ring)
    case .deviceLost(let reason): lostDevice(reason)
    case .rendered(let report): rendered(report)
    case .resumedFromSuspend: clock?.suspended(at: now)
    case .timeout: break
    }
    advance(to: now)
  }

  /// What the driver must do next; `nil` when there is nothing left to do.
  package mutating func nextOutput() -> Output? {
    guard nextOutputIndex < outputs.count else {
      outputs.removeAll(keepingCapacity: true)
      nextOutputIndex = 0
      return nil
    }
    defer { nextOutputIndex += 1 }
    return outputs[nextOutputIndex]
  }

  /// When to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? {
    [
      lobby.nextDeadline, link?.nextDeadline, clock?.nextDeadline(asks: link != nil),
      playout.nextDeadline, cuts.nextDeadline,
    ]
    .compactMap { $0 }.min()
  }

  // MARK: - Connections

  private mutating func accept(_ id: ConnectionID, peer: String, at now: LocalTime) {
    if let evicted = lobby.admit(id, peer: peer, at: now) { outputs.append(.close(evicted)) }
  }

  private mutating func received(_ bytes: [UInt8], on id: ConnectionID, at now: LocalTime) {
    do {
      if id == link?.control {
        link?.heard(at: now)
        controlFramer.append(bytes)
        try readControl(at: now)
      } else if id == link?.media {
        link?.heard(at: now)
        link?.receivedMedia(bytes: bytes.count)
        mediaFramer.append(bytes)
        try readMedia(at: now)
      } else if let first = try lobby.received(bytes, on: id) {
        try open(first, on: id, at: now)
      }
    } catch {
      violated(id, error, at: now)
    }
  }

  private mutating func closed(_ id: ConnectionID, at now: LocalTime) {
    lobby.remove(id)
    if id == link?.control {
      endSession(reason: "connection closed", at: now)
    } else if id == link?.media {
      link?.mediaClosed()
    }
  }

  /// The other side broke the protocol: say so where it can be said, and let it go.
  private mutating func violated(_ id: ConnectionID, _ error: DecodeError, at now: LocalTime) {
    if let link, id == link.control || id == link.media { return violated("\(error)", at: now) }
    let peer = lobby.peer(of: id) ?? ""
    let isMedia = lobby.isMedia(id)
    lobby.remove(id)
    guard !isMedia else { return outputs.append(.close(id)) }
    if case .unsupportedVersion = error {
      refuse(id, peer: peer, .unsupportedVersion, ProtocolVersion.spoken)
    } else {
      refuse(id, peer: peer, .protocolViolation, "\(error)")
    }
  }

  private mutating func violated(_ how: String, at now: LocalTime) {
    guard let link else { return }
    send(.goodbye(Goodbye(reason: .protocolViolation, detail: how)))
    outputs.append(.close(link.control))
    endSession(reason: how, at: now)
  }

  private mutating func refuse(
    _ id: ConnectionID, peer: String, _ reason: Refusal.Reason, _ detail: String
  ) {
    let refusal = Refusal(reason: reason, detail: String(detail.prefix(200)))
    outputs.append(.send(id, ControlMessage.refuse(refusal).encoded()))
    outputs.append(.close(id))
    outputs.append(.event(.senderRefused(peer: peer, reason: detail)))
  }

  // MARK: - Session

  private mutating func open(
    _ first: Lobby.FirstMessage, on id: ConnectionID, at now: LocalTime
  ) throws(DecodeError) {
    let peer = lobby.peer(of: id) ?? ""
    lobby.remove(id)
    switch first.message {
    case .control(let hello):
      guard ProtocolVersion.common(withNewest: hello.version) != nil else {
        return refuse(id, peer: peer, .unsupportedVersion, ProtocolVersion.spoken)
      }
      if let link, link.hello.senderID != hello.senderID {
        return refuse(id, peer: peer, .busy, link.hello.senderName)
      }
      begin(hello, peer: peer, on: id, at: now)
      controlFramer = first.framer
      try readControl(at: now)
    case .media(let session):
      guard link?.hello.session == session else {
        outputs.append(.close(id))
        return
      }
      if let old = link?.attach(id) { outputs.append(.close(old)) }
      playout.forgetFormats()
      mediaFramer = first.framer
      link?.receivedMedia(bytes: first.byteCount)
      try readMedia(at: now)
    }
  }

  private mutating func begin(
    _ hello: Hello, peer: String, on id: ConnectionID, at now: LocalTime
  ) {
    if let old = link {
      outputs.append(.close(old.control))
      if let media = old.media { outputs.append(.close(media)) }
      link = nil
    }
    if occupant?.clockID != hello.clockID {
      rememberDrift()
      carryOut(playout.removeAll())
      codecs.senderChanged()
      playout.undecodable = CodecSet([])
      cuts.forget()
      clock = ClockTracker(
        clockID: hello.clockID, port: hello.clockPort,
        storedDrift: memory.clockDrifts.first { $0.sender == hello.senderID }?.drift,
        seed: configuration.seed ^ hello.session, at: now)
    }
    occupant = Occupant(senderID: hello.senderID, clockID: hello.clockID)
    link = SenderLink(hello: hello, peer: peer, control: id, at: now)
    send(.welcome(welcome))
    sendStatus(at: now)
    outputs.append(.advertise(isBusy: true))
    outputs.append(.event(.senderConnected(name: hello.senderName, peer: peer)))
    applySettings()
  }

  private var welcome: Welcome {
    Welcome(
      version: ProtocolVersion.newest, receiverID: configuration.receiverID,
      name: configuration.name, model: configuration.model, capacity: configuration.capacity,
      codecs: codecs.listed, settings: memory.settings,
      held: playout.held)
  }

  private mutating func withdraw(_ codec: Codec, because error: CodecError) {
    if codecs.withdraw(codec, because: error) { outputs.append(.advertiseCodecs(codecs.listed)) }
    send(.codecs(codecs.listed))
    outputs.append(.event(.codecWithdrawn(codec, reason: "\(error)")))
  }

  /// The sender is gone; what is buffered plays on.
  private mutating func endSession(reason: String, at now: LocalTime) {
    guard let ended = link else { return }
    link = nil
    if let media = ended.media { outputs.append(.close(media)) }
    rememberDrift()
    outputs.append(.advertise(isBusy: false))
    outputs.append(.event(.senderGone(name: ended.hello.senderName, reason: reason)))
  }

  private mutating func readControl(at now: LocalTime) throws(DecodeError) {
    while let raw = try controlFramer.next() {
      guard let message = try ControlMessage.decode(raw) else { continue }
      controlled(message, at: now)
      if link == nil { return }
    }
  }

  private mutating func controlled(_ message: ControlMessage, at now: LocalTime) {
    switch message {
    case .anchor(let anchor):
      playout.anchor(anchor)
      outputs.append(.render(.anchor(anchor)))
    case .flush(let flush):
      flushed(flush, at: now)
    case .settings(let settings):
      memory.settings = settings
      applySettings()
      outputs.append(.persist(memory))
    case .nowPlaying(let announcement): playout.board.announce(announcement)
    case .keepAlive: break
    case .goodbye(let goodbye):
      if let control = link?.control { outputs.append(.close(control)) }
      endSession(reason: goodbye.reason == .finished ? "finished" : "sender left", at: now)
      if goodbye.reason == .finished { forgetStream() }
    case .hello, .welcome, .refuse, .credit, .flushed, .flushedAutomatically, .status, .codecs:
      violated("this message is not for a receiver with a session", at: now)
    }
  }

  private mutating func flushed(_ flush: Flush, at now: LocalTime) {
    if let made = cuts.newest, made.generation == flush.generation { return send(.flushed(made)) }
    guard playout.flush(from: flush.from, generation: flush.generation) else { return }
    let generation = playout.renderGeneration(flush.generation)
    outputs.append(
      .render(.cut(from: flush.from, generation: generation, isRamped: flush.isRamped)))
    if playout.isAudible {
      if let answer = cuts.wait(for: flush, renderGeneration: generation, at: now) { told(answer) }
    } else {
      let made = Flushed(generation: flush.generation, from: flush.from)
      cuts.made(made)
      told(made)
    }
  }

  /// Tells the sender where a flush was really made.
  private mutating func told(_ made: Flushed) {
    send(.flushed(made))
    outputs.append(.event(.flushed(from: made.from, generation: made.generation)))
  }

  private mutating func readMedia(at now: LocalTime) throws(DecodeError) {
    while let raw = try mediaFramer.next() {
      let message: MediaMessage?
      do {
        message = try MediaMessage.decode(raw)
      } catch {
        guard MediaMessage.isPacket(raw) else { throw error }
        noteCorrupt("\(error)")
        continue
      }
      switch message {
      case nil: break
      case .attach:
        return violated("attach must come first", at: now)
      case .format(let id, let format):
        playout.define(format, id: id)
      case .packet(let packet):
        try insert(packet, at: now)
      case .artwork(let piece): playout.board.add(piece)
      }
      if link == nil { return }
    }
  }

  private mutating func insert(_ packet: AudioPacket, at now: LocalTime) throws(DecodeError) {
    switch playout.insert(packet) {
    case .inserted, .stale:
      break
    case .insertedAfterImplicitCut(let time):
      cuts.made(Flushed(generation: packet.generation, from: time))
      outputs.append(
        .render(
          .cut(
            from: time, generation: playout.renderGeneration(packet.generation), isRamped: true)))
    case .lost(let time):
      send(.flushedAutomatically(Flushed(generation: playout.generation, from: time)))
    case .corrupt(let how): noteCorrupt(how)
    case .violation(let how):
      violated(how, at: now)
    }
  }

  private mutating func noteCorrupt(_ how: String) {
    outputs.append(.event(.packetCorrupt(reason: how, total: playout.countCorrupt())))
  }

  private mutating func forgetStream() {
    carryOut(playout.removeAll())
    occupant = nil
    outputs.append(.event(.finished))
  }

  // MARK: - Clock

  private mutating func receivedDatagram(_ bytes: [UInt8], at time: LocalTime) {
    guard case .answer(let answer)? = try? TimePacket.decode(bytes[...]) else { return }
    clockChanged(clock?.answered(answer, receivedAt: time))
  }

  private mutating func clockChanged(_ change: ClockTracker.Change?) {
    switch change {
    case nil: break
    case .locked(let bound): outputs.append(.event(.clockLocked(errorBound: bound)))
    case .stepped:
      playout.clockStepped()
      outputs.append(.event(.clockStepped))
    case .lost: outputs.append(.event(.clockLost))
    }
  }

  private mutating func probe(at now: LocalTime) {
    guard let link, let request = clock?.request(at: now, isIdle: playout.isIdle) else { return }
    outputs.append(
      .sendTimeRequest(
        TimePacket.request(request).encoded(), sequence: request.sequence,
        toHostOf: link.control, port: link.hello.clockPort))
  }

  private mutating func rememberDrift() {
    guard let occupant, let drift = clock?.drift else { return }
    memory.clockDrifts.removeAll { $0.sender == occupant.senderID }
    memory.clockDrifts.insert(.init(sender: occupant.senderID, drift: drift), at: 0)
    memory.clockDrifts = Array(memory.clockDrifts.prefix(16))
    memory.deviceDrift = playout.deviceDrift ?? memory.deviceDrift
    outputs.append(.persist(memory))
  }

  // MARK: - Device

  private mutating func opened(_ device: OutputDevice, _ ring: FrameRing) {
    playout.opened(device, ring: ring)
    outputs.append(contentsOf: playout.commandsForNewDevice().map { .render($0) })
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

  private mutating func applySettings() {
    for command in memory.settings.renderCommands { outputs.append(.render(command)) }
  }

  // MARK: - Time

  private mutating func advance(to now: LocalTime) {
    for id in lobby.overdue(at: now) { outputs.append(.close(id)) }
    if let link, link.giveUpTime <= now {
      send(.goodbye(Goodbye(reason: .timeout, detail: "")))
      outputs.append(.close(link.control))
      endSession(reason: "nothing heard for 10 s", at: now)
    }
    clockChanged(clock?.advance(to: now))
    probe(at: now)
    for answer in cuts.overdue(at: now) { told(answer) }
    advancePlayout(to: now)
    reportState(at: now)
  }

  private mutating func advancePlayout(to now: LocalTime) {
    clock?.smooths(playout.isAudible)
    let estimate = clock?.isLocked == true ? clock?.estimate(at: now) : nil
    let steps = playout.advance(
      to: now, clock: estimate, hasSession: link != nil, mayDecode: !hasUndeliveredCommands)
    carryOut(steps)
    if link == nil, occupant != nil, playout.isSpent(at: playhead(at: now)) { forgetStream() }
    let capacity = configuration.capacity.bytes
    if let limit = link?.limitToGrant(heldBytes: playout.heldBytes, capacity: capacity) {
      send(
        .credit(
          Credit(
            limit: limit, bufferedUntil: playout.bufferedUntil ?? .zero,
            heldBytes: playout.heldBytes)))
    }
  }

  private mutating func carryOut(_ steps: [Playout.Step]) {
    for step in steps {
      switch step {
      case .render(let command): outputs.append(.render(command))
      case .openDevice(let rate): outputs.append(.openDevice(rate: rate))
      case .closeDevice: outputs.append(.closeDevice)
      case .corrupt(let reason, let total):
        outputs.append(.event(.packetCorrupt(reason: reason, total: total)))
      case .undecodable(let codec, let error): withdraw(codec, because: error)
      case .late(let by, let total): outputs.append(.event(.packetLate(by: by, total: total)))
      case .nowPlaying(let item): outputs.append(.nowPlaying(item))
      }
    }
  }

  private var hasUndeliveredCommands: Bool {
    outputs[nextOutputIndex...].contains { if case .render = $0 { true } else { false } }
  }

  private func playhead(at now: LocalTime) -> MediaTime? { playout.playhead(at: now) }

  private mutating func reportState(at now: LocalTime) {
    let state = playout.state(isClockLocked: clock?.isLocked == true, hasSession: link != nil)
    if state != lastState {
      switch state {
      case .playing: outputs.append(.event(.playing))
      case .paused: outputs.append(.event(.paused))
      case .starved: outputs.append(.event(.starved))
      case .idle, .priming, .ready, .noDevice: break
      }
      lastState = state
      sendStatus(at: now)
    } else if let link, link.nextStatus <= now {
      sendStatus(at: now)
    }
  }

  private mutating func sendStatus(at now: LocalTime) {
    guard link != nil else { return }
    link?.statusSent(at: now)
    let estimate = clock?.estimate(at: now)
    send(
      .status(
        playout.status(
          state: lastState ?? .idle, at: now,
          clockErrorBound: clock?.isLocked == true
            ? estimate?.errorBound ?? .seconds(1) : .seconds(1),
          clockDrift: estimate?.drift ?? 0, roundTrip: clock?.roundTrip ?? .zero)))
  }

  private mutating func send(_ message: ControlMessage) {
    guard let control = link?.control else { return }
    outputs.append(.send(control, message.encoded()))
  }
}
