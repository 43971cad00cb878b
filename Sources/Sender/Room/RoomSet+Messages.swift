import Audio
import Clock
import WireProtocol

/// Handles messages of rooms, and ends sessions with rooms that break the protocol.
extension RoomSet {
  mutating func received(_ bytes: [UInt8], from id: RoomID, at now: LocalTime) {
    guard let index = index(of: id), links[index].isOpen else { return }
    links[index].connected?.heard(at: now)
    links[index].framer.append(bytes)
  }

  /// Handles the messages that a room has sent, up to one that the group must answer first; returns
  /// that one.
  mutating func nextNews(from id: RoomID, at now: LocalTime) -> News? {
    do {
      // A message may end the session.
      while let index = index(of: id), links[index].isOpen,
        let raw = try links[index].framer.next()
      {
        guard let message = try ControlMessage.decode(raw) else { continue }
        if let news = received(message, from: index, at: now) { return news }
      }
    } catch {
      violated(id, "\(error)", at: now)
    }
    return nil
  }

  private mutating func received(
    _ message: ControlMessage, from index: Int, at now: LocalTime
  ) -> News? {
    let id = links[index].id
    switch message {
    case .welcome(let welcome): return welcomed(index, welcome, at: now)
    case .refuse(let refusal): refused(index, refusal, at: now)
    case .credit(let credit):
      links[index].connected?.media?.granted(credit.limit)
      links[index].connected?.media?.delivered(until: credit.bufferedUntil, at: now)
    case .flushed: break
    case .flushedAutomatically(let flushed): return .flushed(id, from: flushed.from)
    case .status(let status): received(status, from: index, at: now)
    case .codecs(let listed): received(listed, from: index, at: now)
    case .goodbye(let goodbye) where goodbye.reason == .replaced:
      replaced(index, goodbye, at: now)
    case .goodbye(let goodbye) where goodbye.reason == .notPaired: notPaired(index, at: now)
    case .goodbye(let goodbye) where goodbye.reason == .lent: lent(index, goodbye, at: now)
    case .goodbye(let goodbye):
      broke(
        id, goodbye.detail.isEmpty ? "it said goodbye" : goodbye.detail,
        goodbye.reason == .protocolViolation ? .misbehaving : nil, at: now)
    case .liveReport(let report): return .reported(id, report)
    case .clipState(let state): received(state, from: index, at: now)
    case .hello, .prove, .anchor, .flush, .settings, .sound, .streamVolume, .nowPlaying, .live,
      .keepAlive, .clip, .clipPiece, .clipTime:
      violated(id, "this message is not for a sender", at: now)
    }
    return nil
  }

  private mutating func welcomed(_ index: Int, _ welcome: Welcome, at now: LocalTime) -> News? {
    let id = links[index].id
    guard welcome.receiverID == links[index].line?.peer.id else {
      violated(id, "the receiver id is not that of its key", at: now)
      return nil
    }
    guard ProtocolVersion.isSpoken(welcome.version) else {
      let detail = DecodeError.unsupportedVersion(welcome.version).description
      sayGoodbye(id, .protocolViolation, detail: detail)
      broke(id, detail, .otherVersion, at: now)
      return nil
    }
    let before = codecs
    guard links[index].welcomed(welcome, leads: configuration.term > 0, at: now) else {
      violated(id, "a second welcome", at: now)
      return nil
    }
    if codecs != before { newcomer = id }
    tellOf(id, .connected)
    return .welcomed(id, welcome)
  }

  private mutating func refused(_ index: Int, _ refusal: Refusal, at now: LocalTime) {
    let id = links[index].id
    guard links[index].connected == nil else {
      return violated(id, "a refusal after its welcome", at: now)
    }
    guard refusal.reason != .notPaired else { return notPaired(index, at: now) }
    if refusal.reason == .outdated { outputs.append(.outdated(by: refusal.term)) }
    let trouble = refusal.trouble(after: links[index].trouble)
    let reason = refusal.sentence(own: configuration.senderName)
    let isNew = links[index].lastObstacle != reason
    outputs.append(.close(id, .control))
    links[index].refused(reason, trouble, at: now)
    if isNew { tellOf(id, .refused(reason: reason)) }
  }

  private mutating func replaced(_ index: Int, _ goodbye: Goodbye, at now: LocalTime) {
    let id = links[index].id
    let trouble = RoomTrouble.taken(holder: goodbye.detail)
    let reason = trouble.sentence(own: configuration.senderName)
    // A `hello` of the process before this one may be late and reach the room after this one's. That process has ended, so
    // nobody has the room then.
    if goodbye.detail == configuration.senderName, links[index].mayBeOvertaken(at: now) {
      return broke(id, reason, trouble, at: now)
    }
    close(id)
    links[index].replaced(reason, by: goodbye.detail)
    tellOf(id, .replaced(reason: reason))
  }

  /// Another sender has the room for a while; this one keeps asking for it.
  private mutating func lent(_ index: Int, _ goodbye: Goodbye, at now: LocalTime) {
    let trouble = RoomTrouble.lent(holder: goodbye.detail)
    let reason = trouble.sentence(own: configuration.senderName)
    broke(links[index].id, reason, trouble, at: now)
    links[index].refused(reason, trouble, at: now)
  }

  /// Tells the user what to do first.
  private mutating func notPaired(_ index: Int, at now: LocalTime) {
    let (id, advice) = (links[index].id, links[index].pairingAdvice)
    let isNew = links[index].connected != nil || links[index].lastObstacle != advice
    close(id)
    links[index].notPaired(advice, at: now)
    if isNew { tellOf(id, .notPaired(advice: advice)) }
  }

  /// A room has found that it cannot decode a codec that it had listed.
  private mutating func received(_ listed: [Codec], from index: Int, at now: LocalTime) {
    let id = links[index].id
    guard links[index].connected != nil else {
      return violated(id, "codecs before its welcome", at: now)
    }
    let before = codecs
    links[index].lists(listed, at: now)
    if codecs != before { newcomer = id }
  }

  /// Ends the session with a room that broke the protocol. The goodbye says how, so that the room's
  /// users can be told.
  mutating func violated(_ id: RoomID, _ how: String, at now: LocalTime) {
    sayGoodbye(id, .protocolViolation, detail: how)
    broke(id, "it broke the protocol: \(how)", .misbehaving, at: now)
  }
}

extension Refusal {
  var trouble: RoomTrouble { trouble(after: nil) }

  /// - Parameter before: `.lent` if another sender borrowed the room; then that one keeps it busy.
  func trouble(after before: RoomTrouble?) -> RoomTrouble {
    switch reason {
    case .busy:
      if case .lent = before { .lent(holder: detail) } else { .busy(holder: detail) }
    case .unsupportedVersion: .otherVersion
    case .protocolViolation: .misbehaving
    case .notPaired: .notPaired
    case .outdated, .isLed, .other: .refused
    }
  }

  /// Returns one line for people; `own` is the name of this sender.
  func sentence(own: String) -> String {
    switch reason {
    case .busy: trouble.sentence(own: own)
    case .unsupportedVersion:
      "it speaks another protocol version (\(detail)); update the older side"
    case .protocolViolation: "it says that this sender broke the protocol: \(detail)"
    case .notPaired: "it is not paired with this machine: tutti pair ROOM"
    case .outdated, .isLed: "the other daemon of this household leads it"
    case .other: detail.isEmpty ? "it refused, for a reason that it did not say" : detail
    }
  }
}
