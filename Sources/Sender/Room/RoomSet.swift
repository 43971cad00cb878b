import Audio
import Clock
import WireProtocol

/// The rooms of a group: a link and a session with each, the identities behind them, and the codecs that all decode. It
/// does not know what plays: the group answers a welcome, and says from where on to send.
struct RoomSet {
  /// A message of a room that only the group can answer.
  enum News {
    case welcomed(RoomID, Welcome)
    /// The room has lost the audio that it held, from this media time on.
    case flushed(RoomID, from: MediaTime)
    /// The room reports how the packets of a live stream arrived.
    case reported(RoomID, LiveReport)
  }

  let configuration: GroupSession.Configuration
  /// In the order in which they were added.
  var links: [RoomLink] = []
  /// The highest volume that is asked of any room.
  var volumeCap = ProtocolLimits.volume.upperBound
  private var sessionCount: UInt64 = 0
  /// The room that has changed the codecs that all rooms decode; nil once the enqueued audio was checked against them.
  var newcomer: RoomID?
  /// True if rooms have reported since their links were judged.
  var hasReports = false
  /// Outputs of the rooms and of the rest of the group, in the order in which they arose.
  var outputs = OutputQueue<GroupSession.Output>()
  var clips: OutgoingClips

  init(_ configuration: GroupSession.Configuration) {
    self.configuration = configuration
    clips = OutgoingClips(first: configuration.firstSession)
  }

  // MARK: - What others ask

  subscript(id: RoomID) -> RoomLink? { links.first { $0.id == id } }

  func index(of id: RoomID) -> Int? { links.firstIndex { $0.id == id } }

  /// The codecs that all rooms decode. A room that is away counts with what it listed last, because it may be back in a
  /// moment. All codecs are allowed before any room is known: the first room changes that before anything has sounded.
  var codecs: CodecSet {
    links.compactMap(\.codecs).reduce(into: .all) { $0.formIntersection($1) }
  }

  /// The capacity of the largest room; nil before any room has reported one.
  var capacity: Capacity? {
    let capacities = links.compactMap(\.connected?.welcome.capacity)
    guard let bytes = capacities.map(\.bytes).max(), let span = capacities.map(\.duration).max()
    else { return nil }
    return Capacity(bytes: bytes, duration: span)
  }

  /// Limit of a room's horizon: longer than any sound card takes.
  static let longestHorizon = Nanoseconds.seconds(1)
  /// Least and longest time that is added to the rooms' horizon for the network.
  static let commitMargin = Nanoseconds.milliseconds(5)
  static let longestCommitMargin = Nanoseconds.milliseconds(150)
  /// The same as a multiple of the usual round trip: single ones take several times as long on a radio.
  private static let roundTripFactor: Int64 = 8

  /// Returns the time until all rooms can do the same thing at the same sample. A device is assumed to need `expected`
  /// if no room has reported its horizon.
  func commitHorizon(expected: Nanoseconds) -> Nanoseconds {
    let rooms = links.compactMap(\.connected)
    // A room that sounds before the others must be told earlier by as much.
    let device =
      rooms.compactMap { room in room.horizon.map { $0 + max(.zero, -room.settings.delay) } }.max()
      ?? expected
    let roundTrip = rooms.compactMap(\.status?.roundTrip).max() ?? .zero
    let longest = Self.longestCommitMargin
    let margin = Nanoseconds(Self.roundTripFactor * min(roundTrip, longest).count)
    return device + min(Self.commitMargin + margin, longest)
  }

  /// The time at which a link next has something to do.
  var nextDeadline: LocalTime? {
    // A room that waits for its turn gets it when another one is done.
    let isCrowded = links.count(where: \.isConnecting) >= RoomLink.mostAtOnce
    var earliest: LocalTime?
    // Access the links in place: a link is large, and slow to copy.
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
    if link.connected != nil { sayGoodbye(id, .finished) }
    drop(id)
  }

  private mutating func drop(_ id: RoomID) {
    close(id)
    links.removeAll { $0.id == id }
  }

  /// A receiver can be found twice: by discovery and at an address, or at two addresses. It has one session at a time,
  /// which belongs to the newest link. The other links are dropped.
  mutating func removeTwins(of id: RoomID) {
    let receiver = self[id]?.receiverID
    for twin in links where twin.id != id && twin.receiverID == receiver {
      drop(twin.id)
      tellOf(id, .namedTwice(as: twin.id))
    }
  }

  /// Ends the sessions with all rooms, so that they let go of what they play.
  mutating func release() {
    for link in links where link.connected != nil {
      sayGoodbye(link.id, .finished)
      close(link.id)
    }
  }

  // MARK: - Connections

  /// Connects a few rooms at a time; the one that has waited longest comes first.
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

  /// Greets the receiver. Sends nothing to a receiver that is not the expected one.
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
      givesBack: configuration.givesBack, priority: configuration.priority,
      term: configuration.term)
    outputs.append(.send(id, .control, ControlMessage.hello(hello).encoded()))
  }

  /// Sends the room the packets from `sequence` on.
  mutating func mediaConnected(
    _ id: RoomID, _ peer: SecuredPeer, from sequence: UInt64, at now: LocalTime
  ) {
    guard let index = index(of: id), let room = links[index].connected else { return }
    guard peer.id == room.line.peer.id else {
      return broke(id, Self.stranger, .misbehaving, at: now)
    }
    let attach = MediaMessage.attach(session: room.line.session).encoded()
    var flow = MediaFlow(
      from: sequence, capacity: room.welcome.capacity.bytes, form: links[index].sentForm,
      following: room.welcome.held.flatMap { sequence >= $0.nextSequence ? $0.generation : nil },
      probe: isToBeProbed(links[index]) ? LinkProbe() : nil)
    flow.sent(attach.count)
    links[index].connected?.media = flow
    outputs.append(.send(id, .media, attach))
  }

  private static let stranger = "another receiver answers at its address"

  mutating func closed(_ id: RoomID, _ reason: String, at now: LocalTime) {
    if self[id]?.isOpen == true { broke(id, reason, at: now) }
  }

  /// A connection of a room broke, or the room broke the protocol: closes both connections, to make them anew.
  mutating func broke(
    _ id: RoomID, _ reason: String, _ trouble: RoomTrouble? = nil, at now: LocalTime
  ) {
    guard let index = index(of: id) else { return }
    if links[index].connected != nil {
      tellOf(id, .gone(reason: reason))
    } else if links[index].trouble != trouble ?? .unreachable {
      // A room that is off is tried at all its addresses in turn, each of which has a reason of its own.
      tellOf(id, .unreachable(reason: reason))
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

  /// Ends the sessions with silent rooms, and sends the others a sign of life when it is due.
  mutating func keepAlive(at now: LocalTime) {
    for index in links.indices {
      let id = links[index].id
      switch links[index].state {
      case .waiting, .replaced: break
      case .connecting(let giveUpAt), .greeting(_, let giveUpAt):
        if giveUpAt <= now { broke(id, "no answer", at: now) }
      case .connected:
        if links[index].nextDeadline > now { break }
        if links[index].isSilent(at: now) {
          sayGoodbye(id, .timeout)
          broke(id, SenderEvent.RoomChange.silence, at: now)
        } else {
          if links[index].connected?.marksStatusOld(at: now) == true { tellState(of: index) }
          if links[index].connected?.keepAliveIsDue(at: now) == true {
            tell(index, .keepAlive, at: now)
          }
        }
      }
    }
  }
}
