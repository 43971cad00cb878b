import Clock
import Receiver
import Sender

/// Packets and connections between the sender and the rooms.
extension SimulatedGroup {
  // MARK: - Datagrams

  func sendDatagram(
    _ bytes: [UInt8], toRoom: Bool, _ room: Int, at time: TrueTime,
    event: ([UInt8], TrueTime) -> Event
  ) {
    digest.add(bytes)
    guard !rooms[room].isCutOff else { return }
    let link = toRoom ? rooms[room].down : rooms[room].up
    if link.value.isLost() { return }
    var delay = link.value.delay(at: time)
    if link.value.isReordered() {
      delay = delay + Nanoseconds(seconds: link.value.random(in: 0...0.03))
    }
    schedule(event(bytes, time + delay), at: time + delay)
    guard link.value.isDuplicated() else { return }
    let later = time + delay + Nanoseconds(seconds: link.value.random(in: 0...0.005))
    schedule(event(bytes, later), at: later)
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
    let late = link.value.delay(at: now) + link.value.retransmissionDelay()
    stream.lastArrival = max(departure + late, stream.lastArrival)
    if toRoom { connection.down = stream } else { connection.up = stream }
    schedule(.arrived(connection, toRoom: toRoom, payload), at: stream.lastArrival)
  }

  func arrived(
    _ payload: SimulatedConnection.Payload, on connection: SimulatedConnection, toRoom: Bool
  ) {
    let room = rooms[connection.room]
    let holdsBack = toRoom ? !connection.down.held.isEmpty : !connection.up.held.isEmpty
    if room.isCutOff || holdsBack {
      if toRoom { connection.down.held.append(payload) } else { connection.up.held.append(payload) }
      if !room.holding.contains(where: { $0 === connection }) { room.holding.append(connection) }
      return
    }
    if toRoom {
      connection.down.undelivered -= payload.count
      deliverToRoom(payload, connection)
    } else {
      connection.up.undelivered -= payload.count
      deliverToSender(payload, connection)
    }
  }

  /// After a repair, retransmissions bring what was held, as soon as the next one is due.
  func release(_ room: Int) {
    guard !rooms[room].isCutOff else { return }
    let holding = rooms[room].holding
    rooms[room].holding = []
    for connection in holding {
      let wait = rooms[room].down.value.random(in: 0.05...0.8)
      let time = now + Nanoseconds(seconds: wait)
      let (down, up) = (connection.down.held, connection.up.held)
      connection.down.held = []
      connection.up.held = []
      connection.down.lastArrival = max(connection.down.lastArrival, time)
      connection.up.lastArrival = max(connection.up.lastArrival, time)
      for payload in down { queue.insert(.arrived(connection, toRoom: true, payload), at: time) }
      for payload in up { queue.insert(.arrived(connection, toRoom: false, payload), at: time) }
    }
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
    if connection.channel == .media, sender?.session.roomsAwaitingDrain.isEmpty == false {
      serveSender([])
    }
  }

  private func deliverToSender(
    _ payload: SimulatedConnection.Payload, _ connection: SimulatedConnection
  ) {
    guard connection.senderHolds,
      rooms[connection.room].connections[connection.channel] === connection
    else { return }
    let id = RoomID(connection.room + 1)
    switch payload {
    case .bytes(let bytes): serveSender([.received(id, connection.channel, bytes)])
    case .flushEnd, .anchorEnd: break
    case .end(let reason):
      rooms[connection.room].connections[connection.channel] = nil
      connection.senderHolds = false
      serveSender([.closed(id, connection.channel, reason: reason)])
    }
  }

  // MARK: - Connecting

  func dial(_ room: Int, _ channel: Channel) {
    connectionCount += 1
    rooms[room].dials[channel] = connectionCount
    schedule(.dialed(room: room, channel, dial: connectionCount, attempt: 0), at: now)
  }

  /// The first packet of a connection goes out; where it gets no answer, again after 1, 2 and 4 seconds.
  func dialed(_ room: Int, _ channel: Channel, dial: Int, attempt: Int) {
    guard rooms[room].dials[channel] == dial else { return }
    if rooms[room].isCutOff || rooms[room].down.value.isLost() {
      guard attempt < 3 else { return }
      let later = now + .seconds(1 << Int64(attempt))
      return schedule(.dialed(room: room, channel, dial: dial, attempt: attempt + 1), at: later)
    }
    let there = now + rooms[room].down.value.delay(at: now)
    let back = there + rooms[room].up.value.delay(at: now)
    guard rooms[room].session != nil else {
      return schedule(.dialFailed(room: room, channel, dial: dial), at: back)
    }
    let connection = SimulatedConnection(id: dial, room: room, channel: channel)
    connection.down.lastArrival = there
    connection.up.lastArrival = back
    schedule(.accepted(connection), at: there)
    schedule(.established(connection, dial: dial), at: back)
  }

  func accepted(_ connection: SimulatedConnection) {
    let room = rooms[connection.room]
    guard room.session != nil else { return end(connection, fromRoom: true, "reset") }
    room.accepted.removeAll { !$0.receiverHolds }
    room.accepted.append(connection)
    serve(connection.room, [.accepted(ConnectionID(connection.id), peer: "sender")])
  }

  func established(_ connection: SimulatedConnection, dial: Int) {
    let room = rooms[connection.room]
    guard room.dials[connection.channel] == dial, sender != nil else {
      return end(connection, fromRoom: false, "not wanted any more")
    }
    room.dials[connection.channel] = nil
    room.connections[connection.channel] = connection
    serveSender([.connected(RoomID(connection.room + 1), connection.channel)])
  }

  func dialFailed(_ room: Int, _ channel: Channel, dial: Int) {
    guard rooms[room].dials[channel] == dial else { return }
    rooms[room].dials[channel] = nil
    serveSender([.closed(RoomID(room + 1), channel, reason: "connection refused")])
  }
}
