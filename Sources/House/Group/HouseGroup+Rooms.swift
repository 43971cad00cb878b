package import Sender
import WireProtocol

/// The ties between a group's player and a room.
package enum RoomMembership: Hashable, Sendable {
  case joined(RoomID)
  /// Another sender has taken it.
  case lost(RoomID)
  /// It asks for its PIN first.
  case unpaired(RoomID)

  package var number: RoomID {
    switch self {
    case .joined(let id), .lost(let id), .unpaired(let id): id
    }
  }
}

extension HouseGroup {
  /// Changes what the player has of a room that is known by its number.
  func set(_ membership: RoomMembership) {
    if let id = rooms.first(where: { $0.value.number == membership.number })?.key {
      rooms[id] = membership
    }
  }

  /// Identities of the receivers that its player has a session with.
  package var receivers: [String] { player.port.session.receivers.map(\.hex) }

  /// Rooms that another sender has taken, in a fixed order.
  package var lost: [String] {
    rooms.filter { if case .lost = $0.value { true } else { false } }.keys.sorted()
  }

  package func isUnpaired(_ room: String) -> Bool {
    if case .unpaired = rooms[room] { true } else { false }
  }

  /// Returns false if the room did not ask for its PIN.
  package func wasPaired(_ room: String) -> Bool {
    guard case .unpaired(let number) = rooms[room] else { return false }
    rooms[room] = .joined(number)
    return true
  }

  /// The room as its player sees it; nil if the player does not have it.
  package func playerRoom(_ room: String, _ status: GroupStatus) -> GroupStatus.Room? {
    guard let number = rooms[room]?.number else { return nil }
    return status.rooms.first { $0.id == number }
  }

  /// True if another sender has the room.
  func isOccupied(_ room: String) -> Bool {
    playerRoom(room, player.status)?.trouble?.isOccupied ?? false
  }

  package func isConnected(_ room: String) -> Bool {
    playerRoom(room, player.status)?.settings != nil
  }

  package func add(_ record: RoomRecord, takes: Bool) {
    let number = player.port.addRoom(record, takesOver: takes)
    if !isUnpaired(record.id) { rooms[record.id] = .joined(number) }
  }

  package func add(host: String, port: UInt16, as room: String, takes: Bool) {
    rooms[room] = .joined(player.port.addRoom(host: host, port: port, takesOver: takes))
  }

  /// Asks for a room that another sender had taken, but does not take it.
  package func takeBack(_ room: String) {
    guard case .lost(let number) = rooms[room] else { return }
    rooms[room] = .joined(number)
    player.port.noteFree(number)
  }

  /// Nobody else says of rooms that discovery does not know that they are free.
  func takeBackUnseen() {
    for room in lost where !announced.contains(room) && !borrowed.contains(room) {
      takeBack(room)
    }
  }

  package func remove(_ room: String) {
    borrowed.remove(room)
    guard let number = rooms.removeValue(forKey: room)?.number else { return }
    let status = player.status
    // Music that nobody can hear does not run on.
    if rooms.isEmpty, !isResting(status) {
      restingPlace = goal(status)
      send(.halt)
    }
    player.port.removeRoom(number)
  }
}
