package import Clock
package import WireProtocol

/// Ends what rooms play, whoever has sent it: takes each room over, says goodbye, and reports the result. Does no
/// I/O, like `GroupSession`. Tries each room once; a caller that knows a better address adds the room again.
package struct SilencingSession {
  package enum Input {
    /// If `receiverID` is known, no other receiver is accepted for the room.
    case roomAdded(RoomID, receiverID: Identifier?)
    case connected(RoomID, SecuredPeer, proof: [UInt8]? = nil)
    case received(RoomID, [UInt8])
    /// The connection failed, or was closed.
    case closed(RoomID, reason: String)
    /// `nextDeadline` has passed.
    case timeout
  }

  package enum Output: Equatable {
    /// The answer is `connected` or `closed`.
    case connect(RoomID)
    case send(RoomID, [UInt8])
    /// Close the connection after what was sent has left; no `closed` follows.
    case close(RoomID)
    case done(RoomID, SilencedRoom)
  }

  /// Longest time for an answer. A room on the same network answers well within it.
  static let timeout = Nanoseconds.seconds(5)
  /// Rooms that it talks to at a time.
  static let mostAtOnce = 16

  private struct Link {
    let id: RoomID
    let receiverID: Identifier?
    var peer: SecuredPeer?
    /// Nil while the room waits for its turn.
    var giveUpAt: LocalTime?
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
  }

  private let senderID: Identifier
  private let senderName: String
  /// Receivers that are left alone: another program of this sender ends their music itself.
  private let spared: Set<Identifier>
  private let clockID: UInt64
  private var sessionNumber: UInt64
  private var links: [Link] = []
  private var outputs = OutputQueue<Output>()

  /// - Parameters:
  ///   - clockID: random, so that no room holds audio of this clock.
  ///   - firstSession: sessions are numbered from here; random.
  package init(
    senderID: Identifier, senderName: String, clockID: UInt64, firstSession: UInt64,
    sparing spared: Set<Identifier> = []
  ) {
    self.spared = spared
    self.senderID = senderID
    self.senderName = senderName
    self.clockID = clockID
    sessionNumber = firstSession
  }

  /// True if the answer of a room is awaited.
  package var isBusy: Bool { !links.isEmpty }

  /// Processes one input. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    switch input {
    case .roomAdded(let id, let receiverID): links.append(Link(id: id, receiverID: receiverID))
    case .connected(let id, let peer, let proof): greet(id, peer, proof)
    case .received(let id, let bytes): received(bytes, from: id)
    case .closed(let id, let reason): end(id, SilencedRoom(outcome: .unreachable(reason)))
    case .timeout: break
    }
    let late = links.filter { $0.giveUpAt.map { $0 <= now } ?? false }
    for link in late { end(link.id, SilencedRoom(outcome: .unreachable("no answer"))) }
    for index in links.indices.prefix(Self.mostAtOnce) where links[index].giveUpAt == nil {
      links[index].giveUpAt = now + Self.timeout
      outputs.append(.connect(links[index].id))
    }
  }

  /// Returns what the driver must do next; `nil` if there is nothing left to do.
  package mutating func nextOutput() -> Output? { outputs.next() }

  /// The time at which to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? { links.compactMap(\.giveUpAt).min() }

  private mutating func greet(_ id: RoomID, _ peer: SecuredPeer, _ proof: [UInt8]?) {
    guard let index = links.firstIndex(where: { $0.id == id }) else { return }
    guard links[index].receiverID == nil || links[index].receiverID == peer.id else {
      let reason = "another receiver answers at its address"
      return end(id, SilencedRoom(outcome: .unreachable(reason)))
    }
    guard !spared.contains(peer.id) else { return end(id, SilencedRoom(outcome: .spared)) }
    links[index].peer = peer
    if let proof { outputs.append(.send(id, ControlMessage.prove(proof).encoded())) }
    sessionNumber &+= 1
    // No one answers time requests: the session is over before one is due.
    let hello = Hello(
      version: ProtocolVersion.newest, senderID: senderID, senderName: senderName,
      session: sessionNumber, clockID: clockID, clockPort: 1, takesOver: true)
    outputs.append(.send(id, ControlMessage.hello(hello).encoded()))
  }

  private mutating func received(_ bytes: [UInt8], from id: RoomID) {
    guard let index = links.firstIndex(where: { $0.id == id }) else { return }
    links[index].framer.append(bytes)
    do {
      while let raw = try links[index].framer.next() {
        let message = try ControlMessage.decode(raw)
        guard let room = answer(to: message, from: links[index]) else { continue }
        return end(id, room)
      }
    } catch {
      end(id, SilencedRoom(outcome: .unreachable("it broke the protocol: \(error)")))
    }
  }

  /// Returns the result for the room; nil if the message says nothing about its silence.
  private mutating func answer(
    to message: ControlMessage?, from link: Link
  ) -> SilencedRoom? {
    switch message {
    case .welcome(let welcome):
      guard link.peer?.id == welcome.receiverID else {
        let reason = "it broke the protocol: the receiver id is not that of the key"
        return SilencedRoom(outcome: .unreachable(reason))
      }
      let goodbye = Goodbye(reason: .finished, detail: "")
      outputs.append(.send(link.id, ControlMessage.goodbye(goodbye).encoded()))
      return SilencedRoom(
        name: welcome.name,
        outcome: welcome.dropped.map { .silenced($0.unheard, of: $0.senderName) } ?? .wasSilent)
    case .refuse(let refusal):
      return SilencedRoom(outcome: .unreachable(refusal.sentence(own: senderName)))
    case .goodbye(let goodbye):
      return SilencedRoom(outcome: .unreachable("it said goodbye \(goodbye.detail)"))
    case nil, .hello, .prove, .anchor, .flush, .settings, .sound, .streamVolume, .nowPlaying, .live,
      .clip, .clipPiece, .clipTime, .keepAlive, .credit, .flushed, .flushedAutomatically, .status,
      .codecs, .liveReport, .clipState:
      return nil
    }
  }

  private mutating func end(_ id: RoomID, _ room: SilencedRoom) {
    guard let index = links.firstIndex(where: { $0.id == id }) else { return }
    links.remove(at: index)
    outputs.append(.close(id))
    outputs.append(.done(id, room))
  }
}

/// The result for a room that was to be silent.
package struct SilencedRoom: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// This much of the named sender's music was dropped before it was heard.
    case silenced(MediaDuration, of: String)
    case wasSilent
    /// It was to be left alone, and was told nothing.
    case spared
    /// The reason, for people.
    case unreachable(String)
  }

  /// The name that the room gives itself; nil if it did not say so.
  package var name: String?
  package var outcome: Outcome

  init(name: String? = nil, outcome: Outcome) {
    self.name = name
    self.outcome = outcome
  }
}
