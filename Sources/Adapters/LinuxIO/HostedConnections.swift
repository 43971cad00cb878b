package import Clock
package import WireProtocol

/// Connections of a sender to rooms in its own process: the counterpart of `PeerConnections`, which uses sockets. Used
/// on the sender's thread.
package final class HostedConnections<Name: Hashable & Sendable> {
  package enum Event {
    case peer(PeerConnections<Name>.Event)
    /// A time request from the address of a room.
    case timeRequest([UInt8], from: SocketAddress, at: LocalTime)
    case ask([UInt8], from: SocketAddress, at: LocalTime)
    /// A room has taken bytes that were sent.
    case drained
  }

  private struct Line: Hashable {
    var room: UInt64
    var number: Int
  }

  private let senderID: Identifier
  private let waker: Waker
  private var rooms: [UInt64: HostedRoom] = [:]
  private var lines: [Name: Line] = [:]
  private var names: [Line: Name] = [:]
  private var lastRoom: UInt64 = 0
  private var lastLine = 0
  /// Events that `take` has not returned yet.
  private var events: [Event] = []

  /// - Parameter waker: wakes the sender's thread.
  package init(senderID: Identifier, waker: Waker) {
    self.senderID = senderID
    self.waker = waker
  }

  /// Returns the address by which a room can be connected to, until it is removed.
  package func address(of room: HostedRoom) -> SocketAddress {
    if let (number, _) = rooms.first(where: { $0.value === room }) { return .inProcess(number) }
    lastRoom += 1
    rooms[lastRoom] = room
    return .inProcess(lastRoom)
  }

  /// Removes a room, and ends its connections.
  package func remove(_ room: HostedRoom) {
    guard let number = rooms.first(where: { $0.value === room })?.key else { return }
    rooms[number] = nil
    for (line, name) in names where line.room == number {
      room.closeFromSender(line.number)
      end(line)
      tell(.closed(name, reason: "the room is not here any more"))
    }
  }

  private func tell(_ event: PeerConnections<Name>.Event) {
    events.append(.peer(event))
    waker.wake()
  }

  /// Connects to a room; `connected` or `failed` follows. Returns false for an address on the network.
  package func connect(to address: SocketAddress, as name: Name) -> Bool {
    guard case .inProcess(let number) = address else { return false }
    guard let room = rooms[number], let clockKey = try? SystemRandom.bytes(16),
      let binding = try? SystemRandom.bytes(32)
    else {
      tell(.failed(name, reason: "the room is not here any more"))
      return true
    }
    lastLine += 1
    let line = Line(room: number, number: lastLine)
    (lines[name], names[line]) = (line, name)
    room.connect(lastLine, SecuredPeer(id: senderID, clockKey: clockKey, binding: binding))
    let peer = SecuredPeer(id: room.id, clockKey: clockKey, binding: binding)
    tell(.connected(name, peer))
    return true
  }

  /// Sends bytes. Returns false if the connection does not lead to a room in this process.
  package func send(_ bytes: [UInt8], to name: Name) -> Bool {
    guard let line = lines[name] else { return false }
    if rooms[line.room]?.post(bytes, on: line.number) != true {
      end(line)
      tell(.closed(name, reason: "the room takes no data"))
    }
    return true
  }

  /// Closes a connection, for which no more events follow. Returns false if it does not lead to a room in this process.
  package func close(_ name: Name) -> Bool {
    guard let line = lines[name] else { return false }
    rooms[line.room]?.closeFromSender(line.number)
    end(line)
    return true
  }

  /// Sends a datagram, and returns the time at which it left; nil for an address on the network.
  package func send(datagram bytes: [UInt8], to address: SocketAddress) -> LocalTime? {
    guard case .inProcess(let number) = address else { return nil }
    return rooms[number]?.post(datagram: bytes)
  }

  /// Number of bytes that the room has not taken; nil for a connection that does not lead to a room in this process.
  package func queuedBytes(to name: Name) -> Int? {
    lines[name].map { rooms[$0.room]?.queuedBytes ?? 0 }
  }

  /// Returns the events since the last call, in order for each room.
  package func take() -> [Event] {
    var taken = events
    events = []
    for (number, room) in rooms.sorted(by: { $0.key < $1.key }) {
      taken += room.takeFromRoom().compactMap { event($0, of: number) }
    }
    return taken
  }

  private func event(_ message: HostedRoom.ToSender, of room: UInt64) -> Event? {
    switch message {
    case .received(let number, let bytes):
      names[Line(room: room, number: number)].map { .peer(.received($0, bytes)) }
    case .closed(let number, let reason):
      end(Line(room: room, number: number)).map { .peer(.closed($0, reason: reason)) }
    case .timeRequest(let bytes, let time): .timeRequest(bytes, from: .inProcess(room), at: time)
    case .ask(let bytes, let time): .ask(bytes, from: .inProcess(room), at: time)
    case .drained: .drained
    }
  }

  @discardableResult
  private func end(_ line: Line) -> Name? {
    let name = names.removeValue(forKey: line)
    if let name { lines[name] = nil }
    return name
  }
}
