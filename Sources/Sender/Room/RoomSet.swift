import Audio
import Clock
import WireProtocol

/// The rooms of a group: a link and a session with each, the identities behind them, and the codecs that all decode. What
/// plays is not known here: the group answers a welcome, and says from where on a room is sent.
struct RoomSet {
  /// What a room said that only the group can answer.
  enum News {
    case welcomed(RoomID, Welcome)
    /// The room has lost audio that it held, from there on.
    case flushed(RoomID, from: MediaTime)
    /// How the packets of a live stream came to the room.
    case reported(RoomID, LiveReport)
  }

  let configuration: GroupSession.Configuration
  /// In the order in which they were added.
  var links: [RoomLink] = []
  private var sessionCount: UInt64 = 0
  /// The room that has changed what all rooms decode, until what is enqueued has been looked at.
  var newcomer: RoomID?
  /// What the rooms and the rest of the group want done, in the one order in which it happened.
  var outputs = OutputQueue<GroupSession.Output>()

  init(_ configuration: GroupSession.Configuration) { self.configuration = configuration }

  // MARK: - What others ask

  subscript(id: RoomID) -> RoomLink? { links.first { $0.id == id } }

  func index(of id: RoomID) -> Int? { links.firstIndex { $0.id == id } }

  /// Of rooms that are away, what they said last: they may be back in a moment. Before any room is known, everything
  /// goes: the first one changes it before anything has sounded.
  var codecs: CodecSet {
    links.compactMap(\.codecs).reduce(into: .all) { $0.formIntersection($1) }
  }

  /// What the largest room can hold; nil before any has said so.
  var capacity: Capacity? {
    let capacities = links.compactMap(\.live?.welcome.capacity)
    guard let bytes = capacities.map(\.bytes).max(), let span = capacities.map(\.duration).max()
    else { return nil }
    return Capacity(bytes: bytes, duration: span)
  }

  /// Longer than any sound card takes.
  static let longestHorizon = Nanoseconds.seconds(1)
  /// Put on top of the rooms' horizon for the way there: at least, and at most.
  static let commitMargin = Nanoseconds.milliseconds(5)
  static let longestCommitMargin = Nanoseconds.milliseconds(150)

  /// How long it takes until all rooms can do the same thing at the same sample; a device is taken to need `expected`
  /// where no room has said so.
  func commitHorizon(expected: Nanoseconds) -> Nanoseconds {
    let rooms = links.compactMap(\.live)
    // A room that sounds before the others must be told as much earlier.
    let device =
      rooms.compactMap { room in room.horizon.map { $0 + max(.zero, -room.settings.delay) } }.max()
      ?? expected
    let roundTrip = rooms.compactMap(\.status?.roundTrip).max() ?? .zero
    let longest = Self.longestCommitMargin
    return device
      + min(Self.commitMargin + Nanoseconds(8 * min(roundTrip, longest).count), longest)
  }

  /// When a link wants to be looked at.
  var nextDeadline: LocalTime? {
    // A room that waits for its turn has it when another one is through.
    let isCrowded = links.count(where: \.isConnecting) >= RoomLink.mostAtOnce
    var earliest: LocalTime?
    // In their places: a link is large, and copied slowly.
    for index in links.indices {
      guard let deadline = links[index].deadline(isCrowded: isCrowded) else { continue }
      earliest = min(earliest ?? deadline, deadline)
    }
    return earliest
  }

  // MARK: - Which rooms there are

  mutating func with(_ id: RoomID, _ body: (inout RoomLink) -> Void) {
    if let index = index(of: id) { body(&links[index]) }
  }

  mutating func remove(_ id: RoomID) {
    guard let link = self[id] else { return }
    if link.live != nil { sayGoodbye(id, .finished) }
    drop(id)
  }

  private mutating func drop(_ id: RoomID) {
    close(id)
    links.removeAll { $0.id == id }
  }

  /// A receiver can be found twice: by discovery and at an address, or at two addresses. It has one session at a time, and
  /// that is the newest link's.
  mutating func removeTwins(of id: RoomID) {
    let receiver = self[id]?.receiverID
    for twin in links where twin.id != id && twin.receiverID == receiver {
      drop(twin.id)
      outputs.append(.event(.roomIsTwin(twin.id, of: id)))
    }
  }

  /// All rooms let go of what they play.
  mutating func release() {
    for link in links where link.live != nil {
      sayGoodbye(link.id, .finished)
      close(link.id)
    }
  }

  // MARK: - Connections

  /// Few at a time; who has waited longest comes first.
  mutating func connectWaiting(at now: LocalTime) {
    var free = RoomLink.mostAtOnce - links.count(where: \.isConnecting)
    while free > 0 {
      let waiting = links.indices.compactMap { index in
        links[index].due(at: now).map { (since: $0, index: index) }
      }
      guard let next = waiting.min(by: { $0 < $1 })?.index, links[next].retryIsDue(at: now) else {
        return
      }
      free -= 1
      outputs.append(.connect(links[next].id, .control))
    }
  }

  /// A receiver that is not the wanted one hears nothing.
  mutating func controlConnected(
    _ id: RoomID, _ peer: SecuredPeer, _ proof: [UInt8]?, at now: LocalTime
  ) {
    guard let index = index(of: id) else { return }
    guard links[index].isExpected(peer.id) else {
      return broke(id, Self.stranger, .misbehaving, at: now)
    }
    sessionCount += 1
    let session = configuration.firstSession &+ sessionCount
    links[index].controlConnected(peer, session: session, at: now)
    if let proof { outputs.append(.send(id, .control, ControlMessage.prove(proof).encoded())) }
    let hello = Hello(
      version: ProtocolVersion.newest, senderID: configuration.senderID,
      senderName: configuration.senderName, session: session, clockID: configuration.clockID,
      clockPort: configuration.clockPort, takesOver: links[index].takesOver,
      givesBack: configuration.givesBack, priority: configuration.priority)
    outputs.append(.send(id, .control, ControlMessage.hello(hello).encoded()))
  }

  /// The room is sent the packets from `sequence` on.
  mutating func mediaConnected(
    _ id: RoomID, _ peer: SecuredPeer, from sequence: UInt64, at now: LocalTime
  ) {
    guard let index = index(of: id), let room = links[index].live else { return }
    guard peer.id == links[index].peer?.id else {
      return broke(id, Self.stranger, .misbehaving, at: now)
    }
    let attach = MediaMessage.attach(session: links[index].session).encoded()
    var flow = MediaFlow(from: sequence, capacity: room.welcome.capacity.bytes)
    flow.sent(attach.count)
    links[index].live?.media = flow
    outputs.append(.send(id, .media, attach))
  }

  private static let stranger = "another receiver answers at its address"

  mutating func closed(_ id: RoomID, _ reason: String, at now: LocalTime) {
    if self[id]?.isOpen == true { broke(id, reason, at: now) }
  }

  /// One connection of a room broke, or it broke the protocol: both are made anew.
  mutating func broke(
    _ id: RoomID, _ reason: String, _ trouble: RoomTrouble? = nil, at now: LocalTime
  ) {
    guard let index = index(of: id) else { return }
    if links[index].live != nil {
      outputs.append(.event(.roomGone(id, reason: reason)))
    } else if links[index].lastObstacle != reason {
      outputs.append(.event(.roomUnreachable(id, reason: reason)))
    }
    close(id)
    links[index].broke(reason, trouble, at: now)
  }

  mutating func close(_ id: RoomID) {
    outputs.append(.close(id, .media))
    outputs.append(.close(id, .control))
  }

  mutating func sayGoodbye(_ id: RoomID, _ reason: Goodbye.Reason, detail: String = "") {
    let goodbye = ControlMessage.goodbye(Goodbye(reason: reason, detail: detail))
    outputs.append(.send(id, .control, goodbye.encoded()))
  }

  /// Ends the sessions with rooms that are silent, and lets the others hear that this one is not.
  mutating func keepAlive(at now: LocalTime) {
    for index in links.indices {
      let id = links[index].id
      switch links[index].state {
      case .waiting, .replaced: break
      case .connecting(let giveUpAt), .greeting(let giveUpAt):
        if giveUpAt <= now { broke(id, "no answer", at: now) }
      case .live:
        if links[index].nextDeadline > now { break }
        if links[index].isSilent(at: now) {
          sayGoodbye(id, .timeout)
          broke(id, "nothing heard for 10 s", at: now)
        } else {
          if links[index].live?.marksStatusOld(at: now) == true { tellState(of: index) }
          if links[index].live?.keepAliveIsDue(at: now) == true { tell(index, .keepAlive, at: now) }
        }
      }
    }
  }
}
