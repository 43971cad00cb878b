import Clock
import Receiver
import Sender
import WireProtocol

/// Packets and connections between the sender and the rooms.
extension SimulatedGroup {
  // MARK: - Datagrams

  func sendDatagram(
    _ bytes: [UInt8], toRoom: Bool, _ room: Int, _ daemon: Int, at time: TrueTime,
    event: ([UInt8], TrueTime) -> Event
  ) {
    digest.add(bytes)
    guard !isCutOff(room, from: daemon) else { return }
    let link = toRoom ? rooms[room].down : rooms[room].up
    if link.value.isLost(at: time) { return }
    let arrival = link.value.arrival(ofDatagram: bytes.count, at: time)
    schedule(event(bytes, arrival), at: arrival)
    guard link.value.isDuplicated() else { return }
    let later = arrival + Nanoseconds(seconds: link.value.random(in: 0...0.005))
    schedule(event(bytes, later), at: later)
  }

  /// True if nothing passes between the room and the daemon.
  func isCutOff(_ room: Int, from daemon: Int) -> Bool {
    rooms[room].isCutOff || daemons[daemon].isCutOff(from: room)
  }

  func isCutOff(_ connection: SimulatedConnection) -> Bool {
    isCutOff(connection.room, from: connection.daemon)
  }

  // MARK: - Streams

  func transmit(_ bytes: [UInt8], on connection: SimulatedConnection, toRoom: Bool) {
    let link = toRoom ? rooms[connection.room].down : rooms[connection.room].up
    var start = 0
    while start < bytes.count {
      let count = link.value.segmentLength(atMost: bytes.count - start)
      let piece =
        start == 0 && count == bytes.count ? bytes : Array(bytes[start..<start + count])
      transmit(.bytes(piece), on: connection, toRoom: toRoom)
      start += count
    }
  }

  /// Sends the bytes of the sender's program that its limits allow now, and the rest later.
  func push(_ bytes: [UInt8], on connection: SimulatedConnection) {
    connection.outgoing.append(bytes)
    released(connection)
  }

  func released(_ connection: SimulatedConnection) {
    if let look = connection.outgoing.nextLook, look <= now { connection.outgoing.nextLook = nil }
    let link = rooms[connection.room].down
    // A queue with a bound takes single segments.
    let limit = connection.hasBoundedQueue ? 1448 : .max
    while !connection.hasBoundedQueue || link.value.nextSpace(at: now) == nil,
      let piece = connection.outgoing.next(at: now, atMost: limit)
    {
      transmit(piece, on: connection, toRoom: true)
    }
    guard connection.outgoing.nextLook == nil, var next = connection.outgoing.nextDeparture else {
      return
    }
    if let space = link.value.nextSpace(at: now) { next = max(next, space) }
    connection.outgoing.nextLook = next
    schedule(.released(connection), at: next)
  }

  /// Ends the sender's side of a connection, after its bytes have left.
  func letGo(_ connection: SimulatedConnection, _ reason: String) {
    guard connection.isEstablished else {
      connection.senderHolds = false
      return
    }
    connection.outgoing.endLimits()
    connection.hasBoundedQueue = false
    released(connection)
    end(connection, fromRoom: false, reason)
  }

  func end(_ connection: SimulatedConnection, fromRoom: Bool, _ reason: String) {
    if fromRoom { connection.receiverHolds = false } else { connection.senderHolds = false }
    transmit(.end(reason: reason), on: connection, toRoom: !fromRoom)
  }

  func transmit(
    _ payload: SimulatedConnection.Payload, on connection: SimulatedConnection, toRoom: Bool
  ) {
    let link = toRoom ? rooms[connection.room].down : rooms[connection.room].up
    var stream = toRoom ? connection.down : connection.up
    guard !stream.isEnded else { return }
    if case .end = payload { stream.isEnded = true }
    stream.undelivered += payload.count
    let departure = link.value.departure(of: payload.count, at: now)
    let delay = link.value.delay(at: now)
    let arrival = link.value.inOrder(departure + delay)
    stream.lastArrival = max(
      arrival + link.value.retransmissionDelay(at: departure), stream.lastArrival)
    if toRoom {
      connection.down = stream
      let back = rooms[connection.room].quality.path.up.delay
      connection.path.left(
        payload.count, roundTrip: departure - now + delay + back,
        isLimited: connection.unacknowledged < SimulatedConnection.kernelBuffer / 2, at: now)
    } else {
      connection.up = stream
    }
    schedule(.arrived(connection, toRoom: toRoom, payload), at: stream.lastArrival)
  }

  func arrived(
    _ payload: SimulatedConnection.Payload, on connection: SimulatedConnection, toRoom: Bool
  ) {
    let room = rooms[connection.room]
    let holdsBack = toRoom ? !connection.down.held.isEmpty : !connection.up.held.isEmpty
    if isCutOff(connection) || holdsBack {
      if toRoom { connection.down.held.append(payload) } else { connection.up.held.append(payload) }
      if !room.holding.contains(where: { $0 === connection }) { room.holding.append(connection) }
      return
    }
    if toRoom {
      connection.down.undelivered -= payload.count
      connection.path.arrived(at: now)
      deliverToRoom(payload, connection)
    } else {
      connection.up.undelivered -= payload.count
      deliverToSender(payload, connection)
    }
  }

  /// Releases held payloads after a repair: retransmissions bring them as soon as the next one is due. What a slow link
  /// brings before that waits behind them.
  func release(_ room: Int) {
    guard !rooms[room].isCutOff else { return }
    let holding = rooms[room].holding
    rooms[room].holding = []
    for connection in holding {
      let wait = rooms[room].down.value.random(in: 0.05...0.8)
      let time = now + Nanoseconds(seconds: wait)
      connection.down.lastArrival = max(connection.down.lastArrival, time)
      connection.up.lastArrival = max(connection.up.lastArrival, time)
      for toRoom in [true, false] {
        queue.insert(.action { $0.retransmitted(connection, toRoom: toRoom) }, at: time)
      }
    }
  }

  /// Delivers what one direction of a connection holds, once the machine at its end does not stand still.
  private func retransmitted(_ connection: SimulatedConnection, toRoom: Bool) {
    let room = rooms[connection.room]
    let sending = daemons[connection.daemon].host.value
    let until = toRoom ? room.host.frozenUntil : sending.frozenUntil
    guard until <= now else {
      return queue.insert(.action { $0.retransmitted(connection, toRoom: toRoom) }, at: until)
    }
    let held = toRoom ? connection.down.held : connection.up.held
    if toRoom { connection.down.held = [] } else { connection.up.held = [] }
    // If the network is down again, they are held again.
    for payload in held { arrived(payload, on: connection, toRoom: toRoom) }
  }

  private func deliverToRoom(
    _ payload: SimulatedConnection.Payload, _ connection: SimulatedConnection
  ) {
    guard connection.receiverHolds else { return }
    switch payload {
    case .bytes(let bytes): serve(connection.room, [.received(ConnectionID(connection.id), bytes)])
    case .flushEnd(let generation):
      let effect = now + rooms[connection.room].quality.card.traits.commitHorizon
      microphone.flushReached(connection.room, generation: generation, effect: effect)
    case .anchorEnd(let anchor):
      let effect = now + rooms[connection.room].quality.card.traits.commitHorizon
      microphone.anchorReached(connection.room, anchor, effect: effect)
    case .end:
      connection.receiverHolds = false
      serve(connection.room, [.closed(ConnectionID(connection.id))])
    }
    let daemon = daemons[connection.daemon]
    if connection.channel == .media, daemon.sender?.session.roomsAwaitingDrain.isEmpty == false {
      serveSender([], of: daemon.number)
    }
  }

  private func deliverToSender(
    _ payload: SimulatedConnection.Payload, _ connection: SimulatedConnection
  ) {
    let daemon = connection.daemon
    guard connection.senderHolds, let sender = daemons[daemon].sender,
      sender.connections.contains(where: { $0 === connection })
    else { return }
    daemons[daemon].heardRoom = now
    switch payload {
    case .bytes(let bytes): serveSender([.received(connection.senderID, bytes)], of: daemon)
    case .flushEnd, .anchorEnd: break
    case .end(let reason):
      connection.senderHolds = false
      sender.connections.removeAll { $0 === connection }
      serveSender([.closed(connection.senderID, reason: reason)], of: daemon)
    }
  }

  // MARK: - Connecting

  func dial(
    _ id: RoomConnectionID, address: String, _ channel: Channel, from sender: SimulatedSender
  ) {
    // Nothing answers at other addresses.
    guard let room = Int(address), rooms.indices.contains(room) else { return }
    connectionCount += 1
    let connection = SimulatedConnection(
      id: connectionCount, senderID: id, room: room, channel: channel,
      daemon: sender.daemon.number, term: sender.term)
    bound(connection)
    sender.connections.append(connection)
    schedule(.dialed(connection, attempt: 0), at: now)
  }

  /// The other channel has little under way, which always finds its way into the queue.
  func bound(_ connection: SimulatedConnection) {
    connection.hasBoundedQueue =
      connection.channel == .media && rooms[connection.room].down.value.quality.queue != nil
  }

  /// Sends the first packet of a connection; without an answer, again after 1, 2 and 4 seconds.
  func dialed(_ connection: SimulatedConnection, attempt: Int) {
    guard connection.senderHolds else { return }
    let room = rooms[connection.room]
    if isCutOff(connection) || room.down.value.isLost(at: now) {
      guard attempt < 3 else { return }
      let later = now + .seconds(1 << Int64(attempt))
      return schedule(.dialed(connection, attempt: attempt + 1), at: later)
    }
    let there = now + room.down.value.delay(at: now)
    let back = there + room.up.value.delay(at: now)
    guard room.session != nil else { return schedule(.dialFailed(connection), at: back) }
    connection.down.lastArrival = there
    connection.up.lastArrival = back
    schedule(.accepted(connection), at: there)
    schedule(.established(connection), at: back)
  }

  func accepted(_ connection: SimulatedConnection) {
    let room = rooms[connection.room]
    guard room.session != nil else { return end(connection, fromRoom: true, "reset") }
    room.accepted.removeAll { !$0.receiverHolds }
    room.accepted.append(connection)
    let id = ConnectionID(connection.id)
    serve(
      connection.room,
      [
        .accepted(id, peer: "sender"),
        .secured(id, .simulated(.simulatedSender, connection: connection.id)),
      ])
  }

  func established(_ connection: SimulatedConnection) {
    connection.isEstablished = true
    guard connection.senderHolds, daemons[connection.daemon].sender != nil else {
      return end(connection, fromRoom: false, "not wanted any more")
    }
    let receiver = Identifier.simulated(receiver: connection.room)
    let peer = SecuredPeer.simulated(receiver, connection: connection.id)
    serveSender([.connected(connection.senderID, peer)], of: connection.daemon)
  }

  func dialFailed(_ connection: SimulatedConnection) {
    guard connection.senderHolds, let sender = daemons[connection.daemon].sender else { return }
    connection.senderHolds = false
    sender.connections.removeAll { $0 === connection }
    let failed = GroupSender<String>.Input.connectFailed(
      connection.senderID, reason: "connection refused")
    serveSender([failed], of: connection.daemon)
  }
}
