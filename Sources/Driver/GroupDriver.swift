import AvahiDiscovery
package import Clock
package import FFmpegSource
package import LinuxIO
package import Sender
package import WireProtocol

/// Drives a `GroupSession`: sockets, discovery and the producer's thread. Whoever owns it calls `wait` and `handle` over
/// and over on one thread; nothing here is for any other.
package final class GroupDriver {
  /// Who plays, and how; see `GroupSession.Configuration`.
  package struct Settings: Sendable {
    package var senderID: Identifier
    package var senderName: String
    package var endsWithPlaylist: Bool
    package var startsHeld: Bool
    package var holdsAtCuts: Bool

    package init(
      senderID: Identifier, senderName: String, endsWithPlaylist: Bool = true,
      startsHeld: Bool = false, holdsAtCuts: Bool = true
    ) {
      self.senderID = senderID
      self.senderName = senderName
      self.endsWithPlaylist = endsWithPlaylist
      self.startsHeld = startsHeld
      self.holdsAtCuts = holdsAtCuts
    }
  }

  package let reactor: Reactor
  package private(set) var session: GroupSession
  package private(set) var directory: RoomDirectory
  /// Whether a receiver that discovery has found, and that does not play yet, shall play too.
  package var wants: (RoomRecord) -> Bool = { _ in false }
  package var onEvent: (GroupEvent) -> Void = { _ in }
  /// Of the last event.
  package private(set) var revision: UInt64 = 0
  /// Something is wrong around the rooms, in one line; each is told once.
  package var onWarning: (String) -> Void = { _ in }
  /// The number of the room that was added last; 0 before the first.
  package private(set) var lastRoom = 0
  private var rooms: RoomConnections
  private var responder: TimeResponder<SocketAddress>
  private let clockSocket: DatagramID
  private var stamped = AwaitedStamps<(peer: SocketAddress, sequence: UInt32)>()
  private let producer: ProducerThread
  private let batches: Inbox<ProducedBatch>
  private let notices: Inbox<SourceNotice>
  private let discovered: ServiceNews
  private let resolved: Inbox<(room: RoomID, result: Result<[SocketAddress], HostResolver.Failure>)>
  private var search = RoomSearch()
  private var addresses: [RoomID: RoomAddresses] = [:]
  private var lookups = RoomLookups()
  private var roomIDs: [String: RoomID] = [:]
  /// Rooms that turned out to be others, which play on.
  private var twins: [RoomID: RoomID] = [:]
  /// Rooms that discovery has added, and nobody has asked for by name.
  private var foundRooms: Set<RoomID> = []
  /// Receivers that play no more because the user said so.
  private var left: Set<String> = []
  private var suspends = SuspendDetector()
  private var commandCount: UInt64 = 0
  /// Those that `carryOut` has not taken yet.
  private var replies: [CommandID: CommandReply] = [:]

  /// What sources on the network tell of themselves, and answers to look-ups of names, that were not taken yet.
  private static let noticeLimit = 64
  private static let lookupLimit = 256

  /// Rooms that are added because they were found: more than any home has, and few for a forger.
  private static let mostFoundRooms = 64

  /// `makeSerializer` is called on the producer's thread, and again on another one where that does not come back from
  /// the network; it is given what hears of sources that wait. `reads` ends what its sources wait for.
  package init(
    reactor: Reactor, settings: Settings, playlist: Playlist, remembered: [RoomRecord] = [],
    reads: ReadControl,
    makeSerializer:
      @escaping @Sendable (
        _ report: @escaping @Sendable (SourceNotice) -> Void
      ) -> Serializer
  ) throws(IOError) {
    self.reactor = reactor
    clockSocket = try reactor.openDatagrams(on: .any(port: 0), trafficClass: .clock)
    let clockID = try SystemRandom.number()
    responder = TimeResponder(clockID: clockID)
    session = GroupSession(
      .init(
        senderID: settings.senderID, senderName: settings.senderName,
        clockID: clockID, clockPort: reactor.localAddress(of: clockSocket)?.port ?? 0,
        firstSession: try SystemRandom.number(), endsWithPlaylist: settings.endsWithPlaylist,
        startsHeld: settings.startsHeld, holdsAtCuts: settings.holdsAtCuts),
      playing: playlist)
    rooms = RoomConnections(reactor: reactor)
    batches = Inbox(limit: ProducerThread.batchLimit, waker: reactor.waker)
    let waker = reactor.waker
    discovered = ServiceNews(identifierKey: "id") { waker.wake() }
    resolved = Inbox(limit: Self.lookupLimit, waker: reactor.waker)
    let notices = Inbox<SourceNotice>(limit: Self.noticeLimit, waker: waker)
    self.notices = notices
    producer = ProducerThread(batches: batches, reads: reads) {
      makeSerializer { notices.post($0) }
    }
    directory = RoomDirectory(remembered: remembered)
    try producer.start()
  }

  /// When `wait` must end if nothing else happens first.
  package var nextDeadline: LocalTime? {
    [session.nextDeadline, rooms.deadline, producer.deadline, search.deadline]
      .compactMap { $0 }.min()
  }

  /// After the events of each `wait`: takes what other threads have made, and what time has brought.
  package func turn() {
    noteSuspend()
    let produced = batches.take()
    if !produced.isEmpty { producer.tookBatches() }
    for batch in produced { handle(.produced(batch)) }
    for notice in notices.take() { tell(.source(notice)) }
    for event in discovered.take() { discovered(event) }
    continueSearch()
    for (room, result) in resolved.take() { lookedUp(room, result) }
    for (place, reason) in rooms.advance(to: HostClock.now) {
      handle(.closed(place.room, place.channel, reason: reason))
    }
    paceRooms(at: HostClock.now)
    for room in session.roomsAwaitingDrain
    where rooms.queuedBytes(on: .init(room: room, channel: .media)) <= 16 << 10 {
      handle(.drained(room))
    }
    producer.replaceIfStuck(at: HostClock.now)
    handle(.timeout)
  }

  private func paceRooms(at now: LocalTime) {
    rooms.pace(at: now, needed: session.mediaByteRate) { room in
      session.lead(of: room, at: now).map { $0 >= MediaPacing.patientLead } ?? false
    }
  }

  /// Gives what was sent last a moment to leave, and ends the producer's thread. Nothing can be played after it.
  package func end() throws(IOError) {
    producer.stop()
    search.end()
    let until = HostClock.now + .milliseconds(200)
    while HostClock.now < until, rooms.isSending { _ = try reactor.wait(until: until) }
  }

  /// The session answers each command before it takes anything else.
  @discardableResult
  package func carryOut(_ command: PlayerCommand) -> CommandReply {
    noteSuspend()
    commandCount += 1
    let id = CommandID(commandCount)
    handle(.command(id, command))
    guard let reply = replies.removeValue(forKey: id) else {
      preconditionFailure("the session did not answer a command")
    }
    return reply
  }

  package func status() -> GroupStatus { session.status(at: HostClock.now) }

  // MARK: - Session

  private func handle(_ input: GroupSession.Input) {
    session.handle(input, at: HostClock.now)
    while let output = session.nextOutput() { carryOut(output) }
  }

  private func carryOut(_ output: GroupSession.Output) {
    switch output {
    case .connect(let room, .control): connect(room)
    case .connect(let room, .media):
      rooms.dial(.init(room: room, channel: .media), candidates: [], at: HostClock.now)
    case .send(let room, let channel, let bytes):
      rooms.send(bytes, to: .init(room: room, channel: channel))
    case .close(let room, let channel):
      rooms.close(.init(room: room, channel: channel))
      if channel == .control { lookups.stopWaiting(room) }
    case .produce(let order): producer.carryOut(order, at: HostClock.now)
    case .reply(let id, let reply): replies[id] = reply
    case .event(let event):
      note(event)
      tell(.init(event, name: session.name))
    }
  }

  private func tell(_ change: GroupEvent.Change) {
    if !change.isPassing { revision += 1 }
    onEvent(GroupEvent(revision: revision, change))
  }

  private func note(_ event: SenderEvent) {
    switch event {
    case .roomConnected(let room):
      addresses[room]?.reached(rooms.reached[room])
      foundRooms.remove(room)
      for (id, other) in roomIDs where other == room { directory.met(id) }
    case .roomIsTwin(let twin, let room):
      twins[twin] = room
      for (id, other) in roomIDs where other == twin { roomIDs[id] = room }
      forget(twin)
    default: break
    }
  }

  /// The rooms play on while this machine sleeps, and its clock does not: everything must hear of it first.
  private func noteSuspend() {
    guard let span = suspends.suspendedSinceLastCall() else { return }
    responder.resumedFromSuspend(after: span)
    handle(.resumedFromSuspend(after: span))
  }

  // MARK: - Events

  package func handle(_ event: ReactorEvent) {
    noteSuspend()
    switch event {
    case .connected(let id):
      if let place = rooms.connected(id) { handle(.connected(place.room, place.channel)) }
    case .connectFailed(let id, let error):
      rooms.failed(id, error.text, at: HostClock.now)
    case .received(let id, let bytes):
      if let place = rooms.place(of: id) { handle(.received(place.room, place.channel, bytes)) }
    case .closed(let id, let reason):
      if let place = rooms.closed(id) {
        handle(.closed(place.room, place.channel, reason: "\(reason)"))
      }
    case .datagram(_, let datagram): answer(datagram)
    case .transmitted(_, let stamp): transmitted(stamp)
    case .signal, .drained, .woken, .accepted, .acceptFailed, .readable: break
    }
  }

  private func answer(_ datagram: Datagram) {
    let answer = responder.answer(
      datagram.bytes, from: datagram.from, of: datagram.from.with(port: 0),
      receivedAt: datagram.receivedAt, now: HostClock.now)
    guard let answer,
      let id = try? reactor.send(answer.bytes, to: datagram.from, from: clockSocket)
    else { return }
    stamped.note(id, for: (datagram.from, answer.sequence))
  }

  private func transmitted(_ stamp: TransmitStamp) {
    guard let (peer, sequence) = stamped[stamp.id] else { return }
    responder.transmitted(to: peer, sequence: sequence, at: stamp.at)
  }
}

// MARK: - Rooms

extension GroupDriver {
  /// Rooms that are found are added where `wants` says so, and those that play are found again at new addresses.
  package func startDiscovery() {
    search.begin(at: HostClock.now)
    continueSearch()
  }

  private func continueSearch() {
    guard search.isDue(at: HostClock.now) else { return }
    directory.allGone()
    search.start(at: HostClock.now) { [discovered] event in discovered.post(event) }
  }

  private func discovered(_ event: ServiceBrowser.Event) {
    switch event {
    case .found(let service), .updated(let service):
      if let record = directory.found(service) { found(record) }
      for line in directory.takeWarnings() { onWarning(line) }
    case .lost(let service):
      directory.gone(serviceNamed: service.name)
      // What was announced and never reached is not worth trying for ever.
      let lost = roomIDs.filter { id, room in
        foundRooms.contains(room) && !directory.present.contains { $0.id == id }
      }
      for (id, room) in lost {
        removeRoom(room)
        left.remove(id)
      }
    case .failed: search.failed(at: HostClock.now)
    case .daemonAppeared, .daemonVanished, .settled: break
    }
  }

  private func found(_ record: RoomRecord) {
    if let room = roomIDs[record.id] {
      addresses[room]?.learned(record.socketAddresses)
      handle(.roomSeen(room))
    } else if wants(record), !left.contains(record.id) {
      guard foundRooms.count < Self.mostFoundRooms else { return search.isCrowded(onWarning) }
      foundRooms.insert(addRoom(record))
    }
  }

  /// A receiver whose identity is known. One that plays already is only tried again. With `takesOver`, it is asked for
  /// though another sender has it.
  @discardableResult
  package func addRoom(_ record: RoomRecord, takesOver: Bool = false) -> RoomID {
    left.remove(record.id)
    let room = roomIDs[record.id] ?? nextRoom()
    if roomIDs[record.id] == nil {
      roomIDs[record.id] = room
      addresses[room] = RoomAddresses(record.socketAddresses)
      handle(.roomAdded(room, name: record.name, receiverID: Identifier(hex: record.id)))
    } else {
      addresses[room]?.learned(record.socketAddresses)
      handle(.roomSeen(room))
    }
    if takesOver { handle(.roomTaken(room)) }
    return room
  }

  /// Whether a room was added for this receiver.
  package func plays(_ record: RoomRecord) -> Bool { room(of: record) != nil }

  package func room(of record: RoomRecord) -> RoomID? { roomIDs[record.id] }

  /// Whatever receiver answers at this address. A name is looked up on a thread of its own, at each attempt.
  @discardableResult
  package func addRoom(
    host: String, port: UInt16, takesOver: Bool = false
  ) throws(IOError) -> RoomID {
    let room = nextRoom()
    let address = SocketAddress(host: host, port: port)
    addresses[room] = RoomAddresses(address.map { [$0] } ?? [])
    if address == nil { lookups.add(room, host: host, port: port) }
    handle(.roomAdded(room, name: "\(host):\(port)", receiverID: nil))
    if takesOver { handle(.roomTaken(room)) }
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
    forget(room)
  }

  private func forget(_ room: RoomID) {
    addresses[room] = nil
    foundRooms.remove(room)
    lookups.remove(room)
    rooms.forget(room)
  }

  private func nextRoom() -> RoomID {
    lastRoom += 1
    return RoomID(lastRoom)
  }

  // MARK: - Addresses

  private func connect(_ room: RoomID) {
    if let place = lookups.begin(room, isNeeded: addresses[room]?.isEmpty ?? true) {
      let resolved = resolved
      do throws(IOError) {
        try HostResolver.resolve(host: place.host, port: place.port) { result in
          resolved.post((room, result))
        }
      } catch {
        resolved.post((room, .success([])))
      }
    }
    if !lookups.isAwaited(by: room) { dial(room) }
  }

  private func dial(_ room: RoomID) {
    let candidates = addresses[room]?.nextCandidates() ?? []
    rooms.dial(.init(room: room, channel: .control), candidates: candidates, at: HostClock.now)
  }

  private func lookedUp(_ room: RoomID, _ result: Result<[SocketAddress], HostResolver.Failure>) {
    let isAwaited = lookups.ended(room)
    if case .success(let found) = result, !found.isEmpty { addresses[room]?.learned(found) }
    guard isAwaited else { return }
    if case .failure(let failure) = result {
      return handle(.closed(room, .control, reason: "\(failure)"))
    }
    dial(room)
  }
}
