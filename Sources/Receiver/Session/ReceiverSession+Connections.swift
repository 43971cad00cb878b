import Audio
import Clock
import Pairing
import WireProtocol

// MARK: - Connections

extension ReceiverSession {
  mutating func accept(_ id: ConnectionID, peer: String, network: String, at now: LocalTime) {
    if let evicted = lobby.admit(id, peer: peer, network: network, at: now) {
      outputs.append(.close(evicted))
    }
  }

  mutating func received(_ bytes: [UInt8], on id: ConnectionID, at now: LocalTime) {
    do {
      if id == link?.control {
        link?.heard(at: now)
        link?.controlFramer.append(bytes)
        try readControl(at: now)
      } else if id == link?.media {
        link?.heard(at: now)
        link?.receivedMedia(bytes: bytes.count)
        if link?.overrunsCredit == true { return violated("more than was granted", at: now) }
        link?.mediaFramer.append(bytes)
        try readMedia(at: now)
      } else if desk.has(id) {
        desk.received(bytes, on: id, at: now)
      } else {
        lobby.received(bytes, on: id)
        try meet(id, at: now)
      }
    } catch {
      violated(id, error, at: now)
    }
  }

  mutating func closed(_ id: ConnectionID, at now: LocalTime) {
    lobby.remove(id)
    desk.closed(id)
    parting.remove(id)
    if id == link?.control {
      endSession(reason: "connection closed", at: now)
    } else if id == link?.media {
      link?.mediaClosed()
    }
  }

  /// Handles a breach of the protocol: tells the peer if possible, and closes the connection.
  mutating func violated(_ id: ConnectionID, _ error: DecodeError, at now: LocalTime) {
    if let link, id == link.control || id == link.media { return violated("\(error)", at: now) }
    let guest = lobby[id]
    lobby.remove(id)
    let peer = guest?.peer ?? ""
    guard guest?.isMedia != true else { return outputs.append(.close(id)) }
    if case .unsupportedVersion = error {
      refuse(id, peer: peer, .unsupportedVersion, ProtocolVersion.spoken)
    } else {
      refuse(id, peer: peer, .protocolViolation, "\(error)")
    }
  }

  mutating func violated(_ how: String, at now: LocalTime) {
    sayGoodbye(.protocolViolation, detail: how, at: now)
    endSession(reason: how, at: now)
  }

  private mutating func refuse(
    _ id: ConnectionID, peer: String, _ reason: Refusal.Reason, _ detail: String, term: Term = 0
  ) {
    let refusal = Refusal(reason: reason, detail: String(detail.prefix(200)), term: term)
    outputs.append(.send(id, ControlMessage.refuse(refusal).encoded()))
    outputs.append(.close(id))
    let reason = reason == .notPaired ? "it is not paired with this receiver" : detail
    outputs.append(.event(.senderRefused(peer: peer, reason: reason)))
  }
}

// MARK: - Trust

extension ReceiverSession {
  /// True if the sender may play here.
  private func mayPlay(_ id: Identifier, isOwn: Bool) -> Bool {
    configuration.access == .open || isOwn || desk.trust.pairings.contains(id)
  }

  /// True if the sender has proved that it can read the token of this machine's own user.
  private func isOwn(_ proof: [UInt8], _ peer: SecuredPeer) -> Bool {
    guard let token = configuration.token, let arithmetic = configuration.arithmetic else {
      return false
    }
    return arithmetic.hmac(key: token, message: Transcript.local(binding: peer.binding))
      .isEqualInConstantTime(to: proof)
  }

  /// Carries out the desk's steps, and ends the session of a sender that is no longer trusted.
  mutating func serveDesk(at now: LocalTime) {
    for step in desk.takeSteps() {
      switch step {
      case .send(let id, let message): outputs.append(.send(id, message.encoded()))
      case .close(let id): outputs.append(.close(id))
      case .keep(let trust, let number): outputs.append(.keepTrust(trust, number))
      case .sayPIN: outputs.append(.sayPIN(gain: memory.settings.gainOfSpeech))
      case .event(let event): outputs.append(.event(event))
      }
    }
    guard let link, !mayPlay(link.secured.id, isOwn: link.isOwn) else { return }
    sayGoodbye(.notPaired, at: now)
    endSession(reason: "it is not paired any more", isFinished: true, at: now)
    forgetStream()
  }
}

// MARK: - Session

extension ReceiverSession {
  /// Reads a connection's first messages.
  private mutating func meet(_ id: ConnectionID, at now: LocalTime) throws(DecodeError) {
    while let message = try lobby.nextMessage(of: id) {
      guard let guest = lobby[id], let secured = guest.secured else { return }
      guard case .proof(let proof) = message else {
        lobby.remove(id)
        return try open(message, by: guest, secured, at: now)
      }
      guard lobby.proved(id, isOwn(proof, secured)) else { throw .notThisProtocol }
    }
  }

  private mutating func open(
    _ message: OpeningMessage, by guest: Lobby.Guest, _ secured: SecuredPeer, at now: LocalTime
  ) throws(DecodeError) {
    let (id, peer) = (guest.id, guest.peer)
    switch message {
    case .control(let hello):
      guard ProtocolVersion.common(withNewest: hello.version) != nil else {
        return refuse(id, peer: peer, .unsupportedVersion, ProtocolVersion.spoken)
      }
      guard hello.senderID == secured.id else {
        return refuse(id, peer: peer, .protocolViolation, "the sender id is not that of the key")
      }
      let isOwn = guest.isOwn ?? false
      guard mayPlay(secured.id, isOwn: isOwn) else { return refuse(id, peer: peer, .notPaired, "") }
      if let reason = fence(hello.term, of: secured.id, at: now) {
        let detail = "the other daemon of its household leads"
        return refuse(id, peer: peer, reason, detail, term: memory.term(of: secured.id))
      }
      let claim = RoomClaim(hello, to: owner, by: configuration.whenBusy)
      guard claim != .refused else {
        return refuse(id, peer: peer, .busy, owner?.senderName ?? "")
      }
      obey(hello.term, of: secured.id, at: now)
      let link = SenderLink(
        hello: hello, secured: secured, isOwn: isOwn, peer: peer, control: id, at: now)
      begin(link, claim, at: now)
      self.link?.controlFramer = guest.framer
      try readControl(at: now)
    case .media(let session):
      guard let link, link.hello.session == session, link.secured.id == secured.id else {
        outputs.append(.close(id))
        return
      }
      if let old = self.link?.attach(id) { outputs.append(.close(old)) }
      playout.forgetFormats()
      self.link?.mediaFramer = guest.framer
      self.link?.receivedMedia(bytes: guest.byteCount)
      try readMedia(at: now)
    case .pairing(let message):
      // A device that is open belongs to what was heard last, and a recording goes on.
      let isQuiet = link == nil && occupant == nil && playout.isDeviceClosed
      desk.opened(message, by: guest, isQuiet: isQuiet, at: now)
    case .term(let request):
      guard mayPlay(secured.id, isOwn: guest.isOwn ?? false) else {
        return refuse(id, peer: peer, .notPaired, "")
      }
      outputs.append(.send(id, answer(request, of: secured.id, at: now).encoded()))
      outputs.append(.close(id))
    case .proof: break
    }
  }

  private mutating func begin(_ new: SenderLink, _ claim: RoomClaim, at now: LocalTime) {
    let hello = new.hello
    var new = new
    if claim == .lent { new.lender = link?.lender ?? tenancy.reservation?.lender ?? owner }
    if let old = link { replace(old, by: new, claim, at: now) }
    var dropped: DroppedStream?
    if occupant?.clockID != hello.clockID || occupant?.senderID != hello.senderID {
      let unheard = playout.unheard(at: now)
      dropped =
        unheard > .zero
        ? occupant.map { DroppedStream(unheard: unheard, senderName: $0.senderName) } : nil
      rememberDrift()
      perform(playout.removeAll())
      setLive(nil, at: now)
      codecs.senderChanged()
      playout.decoding.undecodable = CodecSet([])
      cuts.forget()
      streamVolume = RisingVolume(.full)
      clock = ClockTracker(
        clockID: hello.clockID, port: hello.clockPort,
        storedDrift: memory.clockDrifts.first { $0.sender == hello.senderID }?.drift,
        seed: configuration.seed ^ hello.session, at: now)
    }
    occupant = Occupant(
      senderID: hello.senderID, senderName: hello.senderName, clockID: hello.clockID)
    link = new
    send(.welcome(welcome(dropped: dropped)))
    sendStatus(at: now)
    outputs.append(.advertise(isBusy: true))
    outputs.append(.event(.senderConnected(name: hello.senderName, peer: new.peer)))
    applySettings()
  }

  /// The sender that has the room, or for which it is reserved.
  private var owner: RoomOwner? {
    switch tenancy {
    case .free: nil
    case .held(let reservation): reservation.owner
    case .playing(let link): RoomOwner(link.hello)
    }
  }

  /// Ends the old sender's session. A program that only lost its connection knows that it returns; others are told, so
  /// that they do not take the room from each other for ever.
  private mutating func replace(
    _ old: SenderLink, by new: SenderLink, _ claim: RoomClaim, at now: LocalTime
  ) {
    if old.hello.senderID != new.hello.senderID || old.hello.clockID != new.hello.clockID {
      sayGoodbye(claim == .lent ? .lent : .replaced, detail: new.hello.senderName, at: now)
    } else {
      outputs.append(.close(old.control))
      if let media = old.media { outputs.append(.close(media)) }
    }
    link = nil
  }

  /// Sends a goodbye; the caller ends the session. The sender closes its media connection when it has read the goodbye.
  mutating func sayGoodbye(_ reason: Goodbye.Reason, detail: String = "", at now: LocalTime) {
    guard let link else { return }
    send(.goodbye(Goodbye(reason: reason, detail: detail)))
    outputs.append(.close(link.control))
    guard let media = link.media else { return }
    self.link?.mediaClosed()
    if let oldest = parting.add(media, at: now) { outputs.append(.close(oldest)) }
  }

  private func welcome(dropped: DroppedStream?) -> Welcome {
    Welcome(
      version: ProtocolVersion.newest, receiverID: configuration.receiverID,
      name: configuration.name, model: configuration.model, capacity: configuration.capacity,
      codecs: codecs.listed, settings: memory.settings,
      held: playout.held, dropped: dropped, playsClips: configuration.playsClips)
  }

  mutating func withdraw(_ codec: Codec, because error: CodecError) {
    if codecs.withdraw(codec, because: error) { outputs.append(.advertiseCodecs(codecs.listed)) }
    send(.codecs(codecs.listed))
    outputs.append(.event(.codecWithdrawn(codec, reason: "\(error)")))
  }

  /// Ends the session, because the sender is gone; buffered audio plays on.
  ///
  /// - Parameter isFinished: true if that sender needs the room no more.
  mutating func endSession(reason: String, isFinished: Bool = false, at now: LocalTime) {
    guard let ended = link else { return }
    link = nil
    if let media = ended.media { outputs.append(.close(media)) }
    perform(playout.clips.senderGone())
    rememberDrift()
    if playout.held != nil, !isFinished {
      tenancy = .held(
        for: .init(
          owner: RoomOwner(ended.hello), lender: ended.lender, until: now + Tenancy.heldTime))
    } else {
      leave(to: ended.lender, at: now)
    }
    outputs.append(.event(.senderGone(name: ended.hello.senderName, reason: reason)))
  }

  /// Frees the room once the reservation is over and nothing sounds any more.
  mutating func endReservation(at now: LocalTime) {
    guard var reservation = tenancy.reservation, reservation.until <= now else { return }
    guard !playout.isSounding(at: now), !playout.isAwaited(at: now) else {
      reservation.until = now + Tenancy.lookInterval
      tenancy = .held(for: reservation)
      return
    }
    leave(to: reservation.lender, at: now)
  }

  /// Keeps the room for the sender that has lent it, until that has asked for it again. Without one it is free.
  private mutating func leave(to lender: RoomOwner?, at now: LocalTime) {
    guard let lender else {
      tenancy = .free
      return outputs.append(.advertise(isBusy: false))
    }
    tenancy = .held(for: .init(owner: lender, until: now + Tenancy.lentTime))
  }

  private mutating func readControl(at now: LocalTime) throws(DecodeError) {
    while let raw = try link?.controlFramer.next() {
      guard link?.admitsControl(at: now) == true else {
        return violated(
          "more than \(ProtocolLimits.controlMessagesPerSecond) control messages a second", at: now)
      }
      guard let message = try ControlMessage.decode(raw) else {
        diary.ignored.skipped += 1
        continue
      }
      controlled(message, at: now)
      if link == nil { return }
    }
  }

  private mutating func controlled(_ message: ControlMessage, at now: LocalTime) {
    switch message {
    case .anchor(let anchor):
      expectGap(at: now)
      playout.anchor(anchor, at: now)
      outputs.append(.render(.anchor(anchor)))
    case .flush(let flush):
      expectGap(at: now)
      flushed(flush, at: now)
    case .settings(let settings):
      let change = settings.delay - memory.settings.delay
      if change != .zero { expectGap(at: now, of: Nanoseconds(abs(change.count))) }
      memory.take(settings)
      applySettings()
      outputs.append(.persist(memory))
    case .sound(let sound): take(sound, at: now)
    case .streamVolume(let volume):
      streamVolume = RisingVolume(volume)
      applySettings()
    case .nowPlaying(let announcement): playout.board.announce(announcement)
    case .live(let stream): setLive(stream, at: now)
    case .clip(let offer): perform(playout.clips.offered(offer, at: now))
    case .clipPiece(let piece): playout.clips.received(piece)
    case .clipTime(let time):
      perform(
        playout.clips.timed(
          time, playout.schedule.time(at: now), settings: memory.settings, at: now))
      applySound()
    case .keepAlive: break
    case .goodbye(let goodbye):
      if let control = link?.control { outputs.append(.close(control)) }
      let isFinished = goodbye.reason == .finished
      endSession(
        reason: isFinished ? "finished" : "sender left", isFinished: isFinished, at: now)
      if isFinished { forgetStream() }
    case .hello, .prove, .welcome, .refuse, .credit, .flushed, .flushedAutomatically, .status,
      .codecs, .liveReport, .clipState:
      violated("this message is not for a receiver with a session", at: now)
    }
  }

  private mutating func take(_ sound: SoundSetting, at now: LocalTime) {
    let before = memory.settings.soundingDelay
    memory.settings.sound = sound
    let change = memory.settings.soundingDelay - before
    if change != .zero { expectGap(at: now, of: Nanoseconds(abs(change.count))) }
    applySettings()
    outputs.append(.persist(memory))
  }

  /// Expects a gap until the next audio arrives; a room with a delay needs audio from that much farther back, or ahead.
  private mutating func expectGap(at now: LocalTime, of span: Nanoseconds = .zero) {
    let delay = Nanoseconds(abs(memory.settings.delay.count))
    telling.gapsAreExpectedUntil = now + .seconds(1) + delay + span
  }

  private mutating func flushed(_ flush: Flush, at now: LocalTime) {
    if let made = cuts.newest, made.generation == flush.generation { return send(.flushed(made)) }
    guard playout.flush(from: flush.from, generation: flush.generation) else { return }
    let generation = playout.renderGeneration(flush.generation)
    outputs.append(
      .render(
        .cut(
          from: flush.from, generation: generation, isRamped: flush.isRamped,
          isCrossed: flush.isCrossed)))
    if playout.isAudible {
      if let answer = cuts.wait(for: flush, renderGeneration: generation, at: now) { told(answer) }
    } else {
      let made = Flushed(generation: flush.generation, from: flush.from)
      cuts.made(made)
      told(made)
    }
  }

  /// Tells the sender where a flush was really made.
  mutating func told(_ made: Flushed) {
    send(.flushed(made))
    outputs.append(.event(.flushed(from: made.from, generation: made.generation)))
  }

  private mutating func readMedia(at now: LocalTime) throws(DecodeError) {
    while let raw = try link?.mediaFramer.next() {
      let message: MediaMessage?
      do {
        message = try MediaMessage.decode(raw)
      } catch {
        guard MediaMessage.isPacket(raw) else { throw error }
        noteCorrupt("\(error)")
        continue
      }
      switch message {
      case nil: diary.ignored.skipped += 1
      case .attach:
        return violated("attach must come first", at: now)
      case .format(let id, let format):
        playout.define(format, id: id)
      case .packet(let packet):
        insert(packet, at: now)
      case .artwork(let piece): playout.board.add(piece)
      }
      if link == nil { return }
    }
  }

  /// Inserts a packet. A bad datagram ends no session, because other rooms can make datagrams too.
  mutating func insert(_ packet: AudioPacket, at now: LocalTime, isDatagram: Bool = false) {
    switch playout.insert(packet) {
    case .inserted, .stale:
      break
    case .insertedAfterImplicitCut(let time):
      cuts.made(Flushed(generation: packet.generation, from: time))
      outputs.append(
        .render(
          .cut(
            from: time, generation: playout.renderGeneration(packet.generation), isRamped: true)))
    case .insertedAfterGoingBack: perform(playout.wentBack())
    case .lost(let time):
      send(.flushedAutomatically(Flushed(generation: playout.generation, from: time)))
    case .corrupt(let how): noteCorrupt(how)
    case .violation(let how) where isDatagram: noteCorrupt(how)
    case .violation(let how): violated(how, at: now)
    }
  }

  private mutating func noteCorrupt(_ how: String) {
    outputs.append(.event(.packetCorrupt(reason: how, total: playout.countCorrupt())))
  }

  mutating func forgetStream() {
    perform(playout.removeAll())
    live = nil
    playout.use(nil)
    occupant = nil
    outputs.append(.event(.finished))
  }
}
