package import Clock
package import FFmpegSource
package import LinuxIO
import OpenSSLSecurity
package import Sender
package import WireProtocol

/// Drives a `GroupSender` on a `GroupHost`, with a producer's thread. For the host's thread.
package final class GroupDriver {
  /// How rooms are asked for that other senders have.
  package struct Claim: Sendable {
    /// Takes them, whoever has them.
    package var takesOver: Bool
    /// They go back afterwards.
    package var givesBack: Bool
    /// Where receivers go by it, the higher one has the room.
    package var priority: UInt8

    package init(
      takesOver: Bool = false, givesBack: Bool = false, priority: UInt8 = Hello.usualPriority
    ) {
      self.takesOver = takesOver
      self.givesBack = givesBack
      self.priority = priority
    }
  }

  /// Who plays, and how; see `GroupSession.Configuration`.
  package struct Settings: Sendable {
    package var senderName: String
    package var endsWithPlaylist: Bool
    package var startsHeld: Bool
    package var holdsAtCuts: Bool
    package var claim: Claim
    /// True if the group tells what a successor must know.
    package var isKept: Bool
    /// The stream of a process that has ended, which this one takes over.
    package var succession: StreamSuccession?
    /// The small encoding for rooms with weak links; nil where all rooms get the same.
    package var small: SmallChoice?

    package init(
      senderName: String, endsWithPlaylist: Bool = true, startsHeld: Bool = false,
      holdsAtCuts: Bool = true, claim: Claim = Claim(), isKept: Bool = false,
      succession: StreamSuccession? = nil, small: SmallChoice? = nil
    ) {
      self.small = small
      (self.isKept, self.succession) = (isKept, succession)
      self.claim = claim
      self.senderName = senderName
      self.endsWithPlaylist = endsWithPlaylist
      self.startsHeld = startsHeld
      self.holdsAtCuts = holdsAtCuts
    }
  }

  package let host: GroupHost
  /// Decides if a receiver that discovery has found, and that does not play yet, shall play too.
  package var wants: (RoomRecord) -> Bool = { _ in false }
  /// The live source is to come to this latency.
  package var holds: (Nanoseconds) -> Void = { _ in }
  /// A process that takes over must know this; nil if nothing is left to take over. Only where the settings say `isKept`.
  package var keeps: (StreamRecord?) -> Void = { _ in }
  package var onEvent: (GroupEvent) -> Void = { _ in }
  /// Called with each event of the session, before `onEvent`.
  package var hears: (SenderEvent) -> Void = { _ in }
  /// Called with each command that was carried out.
  package var carried: (PlayerCommand) -> Void = { _ in }
  /// The number of the last event.
  package private(set) var revision: UInt64 = 0
  /// The number of the room that was added last; 0 before the first.
  package private(set) var lastRoom = 0
  private var sender: GroupSender<SocketAddress>
  /// True to ask for added rooms though another sender has them.
  private let takesOver: Bool
  /// The host's for it.
  private var number = 0
  private let producer: ProducerThread
  private let smallThread: SmallThread?
  private let smallBatches: Inbox<SmallBatch>
  private let batches: Inbox<ProducedBatch>
  private let notices: Inbox<SourceNotice>
  private var roomIDs: [String: RoomID] = [:]
  /// Rooms that turned out to be others, which play on.
  private var twins: [RoomID: RoomID] = [:]
  /// Rooms that discovery has added, and nobody has asked for by name.
  private var foundRooms: Set<RoomID> = []
  /// Receivers that play no more because the user said so.
  private var left: Set<String> = []
  private var commandCount: UInt64 = 0
  /// True if something has happened to the group since its last turn, or is to be looked at in its next one. Requests for
  /// the time are not that: forty rooms send hundreds a second, and each turn looks at every room.
  private(set) var hasNews = true
  /// After the last turn.
  private var turnDeadline: LocalTime?
  /// Those that `carryOut` has not taken yet.
  private var replies: [CommandID: CommandReply] = [:]

  /// Notices of sources on the network that wait to be taken.
  private static let noticeLimit = 64
  /// Rooms that are added because they were found: more than any home has, and few for a forger.
  private static let mostFoundRooms = 64

  package typealias MakeSerializer =
    @Sendable (_ report: @escaping @Sendable (SourceNotice) -> Void) -> Serializer

  /// `makeSerializer` is called on the producer's thread, and again on another one where that does not come back from
  /// the network; it is given what hears of sources that wait. `reads` ends what its sources wait for.
  package init(
    host: GroupHost, settings: Settings, playlist: Playlist, reads: ReadControl,
    makeSerializer: @escaping MakeSerializer
  ) throws(IOError) {
    self.host = host
    takesOver = settings.claim.takesOver
    sender = GroupSender(
      .init(
        senderID: host.senderID, senderName: settings.senderName,
        clockID: try SystemRandom.number(), clockPort: host.clockPort,
        firstSession: try SystemRandom.number(), endsWithPlaylist: settings.endsWithPlaylist,
        startsHeld: settings.startsHeld, holdsAtCuts: settings.holdsAtCuts,
        givesBack: settings.claim.givesBack, priority: settings.claim.priority,
        live: LiveSecret(
          cipher: DatagramSealing(), key: try SystemRandom.bytes(LiveStream.keyByteCount),
          port: host.livePort), isKept: settings.isKept, smallCodec: settings.small?.codec,
        term: host.term),
      playing: playlist, succession: settings.succession)
    batches = Inbox(limit: ProducerThread.batchLimit, waker: host.reactor.waker)
    let notices = Inbox<SourceNotice>(limit: Self.noticeLimit, waker: host.reactor.waker)
    self.notices = notices
    producer = ProducerThread(batches: batches, reads: reads) {
      makeSerializer { notices.post($0) }
    }
    let smallBatches = Inbox<SmallBatch>(limit: SmallThread.batchLimit, waker: host.reactor.waker)
    self.smallBatches = smallBatches
    smallThread = settings.small.map { SmallThread(batches: smallBatches, choice: $0) }
    try producer.start()
    number = host.join(self)
  }

  package var session: GroupSession { sender.session }

  /// Ends the producer's thread. Nothing can be played after it.
  package func end() throws(IOError) {
    producer.stop()
    smallThread?.stop()
    try host.leave(number)
  }

  /// The session answers each command before it takes anything else.
  @discardableResult
  package func carryOut(_ command: PlayerCommand) -> CommandReply {
    host.noteSuspend()
    commandCount += 1
    let id = CommandID(commandCount)
    handle(.command(id, command))
    guard let reply = replies.removeValue(forKey: id) else {
      preconditionFailure("the session did not answer a command")
    }
    if case .success = reply { carried(command) }
    return reply
  }

  package func status() -> GroupStatus { session.status(at: HostClock.now) }

  // MARK: - The host's calls

  var groupDeadline: LocalTime? { hasNews ? earliestDeadline : turnDeadline }

  private var earliestDeadline: LocalTime? {
    [sender.nextDeadline, producer.deadline].compactMap { $0 }.min()
  }

  /// Something of its connections that it is not told of in another way.
  func noteNews() { hasNews = true }

  /// True if the group's sound is heard a moment after it was made.
  var isLive: Bool { sender.session.sendsDatagrams }

  /// Bytes of the packets that the group holds.
  var heldBytes: Int { sender.heldBytes }

  /// - Parameter storeLimit: how many it may hold.
  func takeTurn(storeLimit: Int) {
    let produced = batches.take()
    if !produced.isEmpty { producer.tookBatches() }
    for batch in produced { handle(.produced(batch)) }
    for batch in smallBatches.take() { handle(.madeSmall(batch)) }
    for notice in notices.take() { take(notice) }
    let isDue = turnDeadline.map { $0 <= HostClock.now } ?? false
    guard hasNews || isDue || storeLimit != session.storeLimit else { return }
    lookAtQueues(storeLimit: storeLimit)
    // Nobody tells of bytes that leave at once; the next turn sees them.
    hasNews = !session.roomsAwaitingDrain.isEmpty
    turnDeadline = earliestDeadline
  }

  private func take(_ notice: SourceNotice) {
    if case .kept(let location, let stretch) = notice {
      handle(.kept(location, stretch))
    } else {
      tell(.source(notice))
    }
  }

  private func lookAtQueues(storeLimit: Int) {
    let isLook = sender.looksAtPaths(at: HostClock.now)
    let queues = sender.mediaConnections.map { connection in
      let line = line(connection)
      return MediaQueue(
        connection, bytes: host.queuedBytes(to: line),
        path: isLook ? host.peers.path(to: line).map(MediaPath.init) : nil)
    }
    producer.replaceIfStuck(at: HostClock.now)
    handle(.turn(queues, storeLimit: storeLimit))
  }

  func handle(_ input: GroupSender<SocketAddress>.Input) {
    hasNews = true
    sender.handle(input, at: HostClock.now)
    while let output = sender.nextOutput() { perform(output) }
  }

  func answer(_ datagram: Datagram) -> (bytes: [UInt8], sequence: UInt32)? {
    sender.answer(
      datagram.bytes, from: datagram.from, of: datagram.from.network,
      receivedAt: datagram.receivedAt, now: HostClock.now)
  }

  /// False where it is not for this group.
  func ask(_ datagram: Datagram) -> Bool {
    let isOurs = sender.ask(datagram.bytes, from: datagram.from, at: HostClock.now)
    hasNews = hasNews || isOurs
    while let output = sender.nextOutput() { perform(output) }
    return isOurs
  }

  func transmitted(to peer: SocketAddress, sequence: UInt32, at time: LocalTime) {
    sender.transmitted(to: peer, sequence: sequence, at: time)
  }

  private func line(_ connection: RoomConnectionID) -> GroupHost.Line {
    .init(group: number, connection: connection)
  }

  private func perform(_ output: GroupSender<SocketAddress>.Output) {
    let peers = host.peers
    switch output {
    case .connect(let id, let address, let channel):
      guard !host.connect(to: address, as: line(id), options: .init(for: channel)) else { break }
      handle(.connectFailed(id, reason: "this machine has too many connections"))
    case .send(let id, let bytes): host.send(bytes, to: line(id))
    case .sendDatagram(let bytes, let address): host.sendAudio(bytes, to: address)
    case .close(let id): host.close(line(id))
    case .lookUp(let room, let name): host.lookUp(name, of: room, in: number)
    case .pace(let id, let rate): peers.pace(line(id), bytesPerSecond: rate)
    case .setTurn(let id, let bytes): peers.setTurn(line(id), bytes: bytes)
    case .produce(let order): producer.produce(order, at: HostClock.now)
    case .makeSmall(let order): smallThread?.make(order)
    case .hold(let latency): holds(latency)
    case .keep(let record): keeps(record)
    case .outdated(let term): host.onOutdated(term)
    case .reply(let id, let reply): replies[id] = reply
    case .event(let event):
      note(event)
      hears(event)
      tell(.group(event))
    }
  }

  private func tell(_ change: GroupEvent.Change) {
    if !change.isPassing { revision += 1 }
    onEvent(GroupEvent(revision: revision, change))
  }

  private func note(_ event: SenderEvent) {
    switch event {
    case .room(let room, .connected):
      foundRooms.remove(room.id)
      for (id, other) in roomIDs where other == room.id { host.met(id) }
    case .room(let room, .namedTwice(as: let twin)):
      twins[twin] = room.id
      for (id, other) in roomIDs where other == twin { roomIDs[id] = room.id }
      foundRooms.remove(twin)
    default: break
    }
  }
}

extension MediaPath {
  init(_ path: Reactor.Path) {
    self.init(
      roundTrip: path.roundTrip, shortest: path.shortest, deliveryRate: path.deliveryRate,
      unacknowledged: path.unacknowledged)
  }
}

extension ConnectionOptions {
  init(for channel: Channel) {
    self.init()
    lowMark = GroupSender<SocketAddress>.lowMark
    // A room whose buffer is full may read nothing for as long as a pause lasts. Whether it lives is seen on control.
    if channel == .media { answerTimeout = nil }
  }
}

// MARK: - Rooms

extension GroupDriver {
  /// Plays already, and may be somewhere else by now.
  func seen(_ record: RoomRecord) {
    if let room = roomIDs[record.id] { handle(.roomFound(room, at: record.socketAddresses)) }
  }

  func looksFor(_ record: RoomRecord) -> Bool { !left.contains(record.id) && wants(record) }

  func foundNew(_ record: RoomRecord) {
    guard foundRooms.count < Self.mostFoundRooms else { return host.isCrowded() }
    foundRooms.insert(addRoom(record))
  }

  /// Rooms that were announced and never reached are not worth trying for ever.
  func removeLost(present: Set<String>) {
    for (id, room) in roomIDs where foundRooms.contains(room) && !present.contains(id) {
      removeRoom(room)
      left.remove(id)
    }
  }

  /// A receiver whose identity is known. One that plays already is only tried again. With `takesOver`, it is asked for
  /// though another sender, or another group here, has it.
  @discardableResult
  package func addRoom(_ record: RoomRecord, takesOver: Bool = false) -> RoomID {
    left.remove(record.id)
    if roomIDs[record.id] != nil { seen(record) }
    let room =
      roomIDs[record.id]
      ?? addRoom(
        record.name, receiverID: Identifier(hex: record.id), at: record.socketAddresses)
    roomIDs[record.id] = room
    if takesOver || self.takesOver { handle(.roomTaken(room)) }
    return room
  }

  /// Nobody else plays any more in a room that another sender had taken.
  package func noteFree(_ room: RoomID) { handle(.roomFreed(twins[room] ?? room)) }

  /// The receivers that it has a session with.
  package var receivers: [String] { session.receivers.map(\.hex) }

  /// True if a room was added for this receiver.
  package func plays(_ record: RoomRecord) -> Bool { room(of: record) != nil }

  package func room(of record: RoomRecord) -> RoomID? { roomIDs[record.id] }

  /// Whatever receiver answers at this address. A name is looked up on a thread of its own, at each attempt.
  @discardableResult
  package func addRoom(
    host name: String, port: UInt16, takesOver: Bool = false
  ) -> RoomID {
    let address = SocketAddress(host: name, port: port)
    let room = addRoom(
      "\(name):\(port)", receiverID: nil, at: address.map { [$0] } ?? [],
      host: address == nil ? RoomHost(name: name, port: port) : nil)
    if takesOver || self.takesOver { handle(.roomTaken(room)) }
    return room
  }

  func addRoom(
    _ name: String, receiverID: Identifier?, at addresses: [SocketAddress], host: RoomHost? = nil
  ) -> RoomID {
    lastRoom += 1
    let room = RoomID(lastRoom)
    handle(.roomAdded(room, name: name, receiverID: receiverID, at: addresses, host: host))
    return room
  }

  /// The room plays no more; the others play on. Discovery does not bring it back.
  package func removeRoom(_ id: RoomID) {
    let room = twins[id] ?? id
    handle(.roomRemoved(room))
    for (id, other) in roomIDs where other == room {
      roomIDs[id] = nil
      if left.count < RoomDirectory.mostServices { left.insert(id) }
    }
    foundRooms.remove(room)
  }
}
