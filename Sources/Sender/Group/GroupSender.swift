package import Clock
import WireProtocol

/// A group with its ways to the rooms, without I/O: what the session says, how rooms are dialled and names looked up, how
/// fast buffers are filled, and the answers about the time. The programs and the simulation drive the same one.
package struct GroupSender<Address: Hashable & Sendable> {
  package private(set) var session: GroupSession
  private var dialler = RoomDialler<Address>()
  private var pacing = GroupPacing()
  private var responder: TimeResponder<Address>
  /// Places that the session has still to hear of.
  private var unreachable: [(place: RoomDialler<Address>.Place, reason: String)] = []
  private var outputs = OutputQueue<Output>()
  /// The senders of the newest ask of each room. Looked up, never iterated.
  private var askers: [RoomID: Asker] = [:]

  private struct Asker {
    var address: Address
    var keyID: UInt32
    /// Number of the ask.
    var sequence: UInt32
  }

  /// - Parameter succession: takes over the stream of a process that has ended; its clock identity is used instead of the
  ///   configuration's.
  package init(
    _ configuration: GroupSession.Configuration, playing playlist: Playlist,
    succession: StreamSuccession? = nil
  ) {
    session = GroupSession(configuration, playing: playlist, succession: succession)
    responder = TimeResponder(clockID: session.configuration.clockID)
  }

  /// Takes one input into account. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    switch input {
    case .roomAdded(let room, let name, let receiverID, let addresses, let host):
      dialler.add(room, at: addresses, host: host)
      session.handle(.roomAdded(room, name: name, receiverID: receiverID), at: now)
    case .roomFound(let room, let addresses):
      dialler.learned(room, addresses)
      session.handle(.roomSeen(room), at: now)
    case .roomTaken(let room): session.handle(.roomTaken(room), at: now)
    case .roomFreed(let room): session.handle(.roomFreed(room), at: now)
    case .roomRemoved(let room):
      session.handle(.roomRemoved(room), at: now)
      settle(at: now)
      dialler.remove(room)
      askers[room] = nil
    case .lookedUp(let room, let addresses, let failure):
      dialler.lookedUp(room, addresses, failure: failure, at: now)
    case .connected(let id, let peer, let proof):
      if let place = dialler.connected(id) {
        session.handle(.connected(place.room, place.channel, peer, proof: proof), at: now)
      }
    case .connectFailed(let id, let reason): dialler.failed(id, reason, at: now)
    case .received(let id, let bytes):
      if let place = dialler.place(of: id) {
        session.handle(.received(place.room, place.channel, bytes), at: now)
      }
    case .closed(let id, let reason):
      if let place = dialler.closed(id) {
        session.handle(.closed(place.room, place.channel, reason: reason), at: now)
      }
    case .resumedFromSuspend(let span):
      responder.resumedFromSuspend()
      session.handle(.resumedFromSuspend(after: span), at: now)
    case .produced(let batch): session.handle(.produced(batch), at: now)
    case .madeSmall(let batch): session.handle(.madeSmall(batch), at: now)
    case .kept(let location, let stretch): session.handle(.kept(location, stretch), at: now)
    case .command(let id, let command): session.handle(.command(id, command), at: now)
    case .turn(let queues, let storeLimit):
      session.storeLimit = storeLimit
      turn(queues, at: now)
    }
    settle(at: now)
  }

  private mutating func turn(_ queues: [MediaQueue], at now: LocalTime) {
    dialler.advance(to: now)
    pace(queues, at: now)
    for room in session.roomsAwaitingDrain {
      let connection = dialler.connection(to: room, .media)
      let queue = queues.first { $0.connection == connection }
      if (queue?.bytes ?? 0) <= Self.lowMark { session.handle(.drained(room), at: now) }
    }
    if let deadline = session.nextDeadline, deadline <= now { session.handle(.timeout, at: now) }
  }

  private mutating func pace(_ queues: [MediaQueue], at now: LocalTime) {
    probe(queues, at: now)
    let needs = queues.map { need(of: $0.connection, at: now) }
    let limits = pacing.limits(queues, needs, isProbing: session.isProbing, at: now)
    for limit in limits {
      switch limit {
      case .rate(let connection, let rate):
        outputs.append(.pace(connection, bytesPerSecond: UInt32(rate)))
      case .turn(let connection, let bytes): outputs.append(.setTurn(connection, bytes: bytes))
      }
    }
  }

  private func need(of connection: RoomConnectionID, at now: LocalTime) -> GroupPacing.Need {
    guard let room = dialler.place(of: connection)?.room else {
      return .init(rate: session.mediaByteRate, isAhead: false)
    }
    let lead = session.lead(of: room, at: now) ?? .zero
    let isSmall = session.getsSmall(room)
    // Such a room has music enough, and waits for its clock: its requests for the time pass between turns.
    let enough =
      isSmall && session.isPriming(room) ? WeakLink.musicForStart : MediaPacing.turnLead
    return .init(
      rate: isSmall ? SmallEncoding.byteRate : session.mediaByteRate, isAhead: lead >= enough)
  }

  private mutating func probe(_ queues: [MediaQueue], at now: LocalTime) {
    for queue in queues where session.isProbing {
      guard let path = queue.path, let room = dialler.place(of: queue.connection)?.room else {
        continue
      }
      session.handle(.measured(room, waiting: queue.bytes + path.unacknowledged), at: now)
    }
  }

  /// Carries what the session and the dialler want of each other to and fro. It ends: a room that could not be reached is
  /// not dialled again at the same instant.
  private mutating func settle(at now: LocalTime) {
    takeFromDialler()
    repeat {
      let lost = unreachable
      unreachable = []
      for (place, reason) in lost {
        session.handle(.closed(place.room, place.channel, reason: reason), at: now)
      }
      while let output = session.nextOutput() {
        perform(output, at: now)
        takeFromDialler()
      }
    } while !unreachable.isEmpty
  }

  private mutating func takeFromDialler() {
    while let output = dialler.nextOutput() {
      switch output {
      case .connect(let id, let address, let channel):
        outputs.append(.connect(id, address, for: channel))
      case .close(let id): outputs.append(.close(id))
      case .lookUp(let room, let name): outputs.append(.lookUp(room, name))
      case .unreachable(let place, let reason): unreachable.append((place, reason))
      }
    }
  }

  private mutating func perform(_ output: GroupSession.Output, at now: LocalTime) {
    switch output {
    case .connect(let room, let channel): dialler.dial(room, channel, at: now)
    case .send(let room, let channel, let bytes):
      guard let id = dialler.connection(to: room, channel) else { return }
      if channel == .media { pacing.sent() }
      outputs.append(.send(id, bytes))
    case .sendDatagram(let room, let bytes):
      if let asker = askers[room] { outputs.append(.sendDatagram(bytes, to: asker.address)) }
    case .close(let room, let channel): dialler.close(room, channel)
    case .produce(let order): outputs.append(.produce(order))
    case .makeSmall(let order): outputs.append(.makeSmall(order))
    case .hold(let latency): outputs.append(.hold(latency))
    case .keep(let record): outputs.append(.keep(record))
    case .outdated(let term): outputs.append(.outdated(by: term))
    case .reply(let id, let reply): outputs.append(.reply(id, reply))
    case .event(let event):
      note(event)
      outputs.append(.event(event))
    }
  }

  private mutating func note(_ event: SenderEvent) {
    switch event {
    case .room(let room, .connected): dialler.confirmed(room.id)
    case .room(_, .namedTwice(as: let twin)): dialler.remove(twin)
    default: break
    }
  }

  /// Returns what the driver must do next; nil if there is nothing left to do.
  package mutating func nextOutput() -> Output? { outputs.next() }

  /// When to send `.turn` if nothing else happens first.
  package var nextDeadline: LocalTime? {
    .earliest([session.nextDeadline, dialler.nextDeadline, pacing.nextDeadline])
  }

  // MARK: - What drivers look at

  /// A media connection with no more than this in its queue is sent more. Bytes.
  package static var lowMark: Int { 16 << 10 }

  /// Bytes of the packets that the group holds.
  package var heldBytes: Int { session.store.heldBytes }

  /// The media connections of the rooms that have one, in the order of the rooms.
  package var mediaConnections: [RoomConnectionID] { dialler.mediaConnections }

  /// True if the next `.turn` is to tell what the kernel knows of the paths.
  package func looksAtPaths(at now: LocalTime) -> Bool { pacing.looksAtPaths(at: now) }

  // MARK: - Clock

  /// See `TimeResponder.answer`.
  package mutating func answer(
    _ bytes: [UInt8], from peer: Address, of host: Address, receivedAt: LocalTime, now: LocalTime
  ) -> (bytes: [UInt8], sequence: UInt32)? {
    responder.answer(
      bytes, from: peer, of: host, receivedAt: session.clock.continuous(receivedAt),
      now: session.clock.continuous(now), key: session.clockKey)
  }

  /// Takes a datagram that asks for packets. False where it is not for this group: of another clock, of no session that it
  /// has, or one that somebody has sent again.
  package mutating func ask(_ bytes: [UInt8], from peer: Address, at now: LocalTime) -> Bool {
    var room: RoomID?
    let ask = try? LiveAsk.decode(bytes[...]) { ask in
      guard ask.clockID == responder.clockID, let found = session.room(ofKey: ask.keyID) else {
        return nil
      }
      room = found.room
      return found.key
    }
    guard let ask, let room else { return false }
    if let known = askers[room], known.keyID == ask.keyID, known.sequence >= ask.sequence {
      return false
    }
    askers[room] = Asker(address: peer, keyID: ask.keyID, sequence: ask.sequence)
    session.handle(.asked(room, ask), at: now)
    settle(at: now)
    return true
  }

  /// The kernel's stamp of an answer.
  package mutating func transmitted(to peer: Address, sequence: UInt32, at time: LocalTime) {
    responder.transmitted(to: peer, sequence: sequence, at: session.clock.continuous(time))
  }
}
