import Driver
import House
import LinuxIO
import Pairing
import Sender
import WireProtocol

import enum House.Refusal

/// Which rooms there are, and how they come to their groups. A room that discovery has shown is called by its receiver's
/// identity, one that was named by its address by that.
extension House {
  func record(_ room: String) -> RoomRecord? { host.directory.records.first { $0.id == room } }

  /// All that are known: announced, remembered, or in a group.
  var roomIDs: [String] {
    let known = host.directory.records.map(\.id)
    let others = plan.groups.flatMap(\.rooms).filter { !known.contains($0) }
    return known + others
  }

  func name(ofRoom room: String) -> String {
    // A room that was added by its address says its name when it is reached.
    let group = plan.group(ofRoom: room).flatMap { groups[$0.id] }
    let own = group?.rooms[room].flatMap { group?.player.port.session.name(of: $0.number) }
    return record(room)?.name ?? (own == room ? savedRooms[room]?.name : own)
      ?? savedRooms[room]?.name ?? room
  }

  /// Whether its PIN is needed before it plays for this household.
  func needsPairing(_ room: String) -> Bool {
    if let group = plan.group(ofRoom: room).flatMap({ groups[$0.id] }) {
      if group.isUnpaired(room) { return true }
      if group.isConnected(room) { return false }
    }
    return record(room)?.access == .paired && !host.directory.isPaired(room)
      && !ownRooms.contains(room)
  }

  /// Rooms that were paired meanwhile are tried at once.
  func trust(_ pairings: Pairings) {
    host.trust(pairings)
    for group in plan.groups {
      // Who pairs with a room that is known by its address does not say which it is.
      for room in group.rooms where host.directory.isPaired(room) || record(room) == nil {
        if groups[group.id]?.wasPaired(room) ?? false {
          connect(room, in: group.id, takes: false)
        }
      }
    }
    publish()
  }

  /// Rooms that other senders had taken, and that are free, play for their groups again; but none begins to sound by itself.
  func takeBackFreed() {
    for group in groups.values where group.isResting {
      for room in group.lost where record(room)?.state == .free { group.takeBack(room) }
    }
  }

  func name(ofGroup id: String) -> String {
    guard let group = plan.group(id) else { return id }
    return group.name ?? HousePlan.name(ofRooms: group.rooms.map(name(ofRoom:)))
  }

  func carryOut(_ moves: [HousePlan.Move], takes: Bool = false) {
    for move in moves {
      if let from = move.from { groups[from]?.remove(move.room) }
      if let to = move.to {
        // From one group of ours to another it goes without asking.
        connect(move.room, in: to, takes: takes || move.from != nil)
      }
    }
    endAbandoned()
  }

  /// A queue waits for the room that has left it last, also while the daemon is not there. Without either, it has no use.
  func endAbandoned() {
    let abandoned = plan.groups.filter(\.isAbandoned)
    let queues = abandoned.filter { group in
      guard group.lastRoom != nil, let house = groups[group.id] else { return false }
      return !house.items.isEmpty || house.undo != nil
    }
    let kept = queues.suffix(Self.abandonedLimit)
    for group in abandoned where !kept.contains(group) {
      _ = plan.delete(group.id)
      close(group.id)
    }
  }

  /// Queues that are kept for rooms that have left them.
  static let abandonedLimit = 8

  /// One that was never seen is awaited.
  func connect(_ room: String, in group: String, takes: Bool) {
    guard let group = groups[group] else { return }
    let visit = roomVisits[room]
    visit?.leave(at: HostClock.now)
    let takes = takes || visit != nil
    if let record = record(room) { return group.add(record, takes: takes) }
    guard let (host, port) = try? RoomWish.address(room), Self.isAddress(room) else { return }
    group.add(host: host, port: port, as: room, takes: takes)
  }

  func pairingRoom(_ room: String) throws(Refusal) -> PairingRoom {
    let name = name(ofRoom: room)
    if let record = record(room) { return PairingRoom(name: name, place: .record(record)) }
    guard roomIDs.contains(room), let (host, port) = try? RoomWish.address(room) else {
      throw .noSuch("there is no such room; it may have been renewed: look at the list of rooms")
    }
    return PairingRoom(
      name: name, place: .address(host: host, port: port), receiver: receiver(of: room))
  }

  /// The identity of its receiver; nil for a room that is known by its address and was not reached yet.
  func receiver(of room: String) -> String? {
    if let record = record(room) { return record.id }
    let group = plan.group(ofRoom: room).flatMap { groups[$0.id] }
    return group?.rooms[room].flatMap { group?.player.port.session.receiver(of: $0.number) }?.hex
  }

  private static func isAddress(_ room: String) -> Bool { room.contains(":") }

  func check(room: String) throws(Refusal) {
    guard roomIDs.contains(room) || Self.isAddress(room) else {
      throw .noSuch("there is no such room; it may have been renewed: look at the list of rooms")
    }
  }
}
