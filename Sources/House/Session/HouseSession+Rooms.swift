import Sender
import WireProtocol

/// Which rooms there are, and how they come to their groups. A room that discovery has shown is called by its receiver's
/// identity, one that was named by its address by that.
extension HouseSession {
  /// All that are known: announced, remembered, or in a group.
  package var roomIDs: [String] {
    known.records.map(\.id)
      + plan.groups.flatMap(\.rooms).filter { !known.ids.contains($0) }
  }

  /// As the household calls it, or the stereo pair that it is in, else as it calls itself.
  package func name(ofRoom room: String) -> String {
    stereo.pair(of: room).map(name(of:)) ?? nameByItself(room)
  }

  /// As the household calls it, also while it is in a stereo pair.
  func nameByItself(_ room: String) -> String {
    setUp.chosen.name(ofRoom: room) ?? ownName(ofRoom: room)
  }

  /// Those that surfaces see: each stereo pair once.
  package var shownRoomIDs: [String] { stereo.shown(roomIDs) }

  /// Each stereo pair once.
  package func names(ofRooms rooms: [String]) -> [String] {
    stereo.shown(rooms).map(name(ofRoom:))
  }

  func ownName(ofRoom room: String) -> String {
    // A room that was added by its address says its name when it is reached.
    let group = group(ofRoom: room)
    let own = group?.rooms[room].flatMap { group?.player.port.session.name(of: $0.number) }
    let saved = rooms[room]?.saved?.name
    return known.record(room)?.name ?? (own == room ? saved : own) ?? saved ?? room
  }

  /// Rooms that discovery has found are tried for their groups.
  func discovered(_ known: KnownRooms) {
    desk.hasNews = true
    take(known)
    for group in plan.groups {
      for room in group.rooms
      where groups[group.id]?.rooms[room] == nil && rooms[room]?.sign == nil {
        connect(room, in: group.id, takes: false)
      }
    }
  }

  /// Rooms that were paired meanwhile are tried at once.
  func paired(_ known: KnownRooms) {
    take(known)
    for group in plan.groups {
      // Who pairs with a room that is known by its address does not say which it is.
      for room in group.rooms where known.paired.contains(room) || !known.ids.contains(room) {
        if groups[group.id]?.wasPaired(room) ?? false {
          connect(room, in: group.id, takes: false)
        }
      }
    }
    publish()
  }

  private func take(_ known: KnownRooms) {
    self.known = known
    for group in groups.values { noteSurroundings(of: group) }
  }

  /// Rooms that other senders had taken, and that are free, play for their groups again; but none begins to sound by itself.
  func takeBackFreed() {
    for group in groupsInOrder where group.isResting {
      for room in group.lost
      where known.record(room)?.state == .free && ring(in: room) == nil
        && alarms.leftAlone[room] == nil
      {
        group.takeBack(room)
      }
    }
  }

  package func name(ofGroup id: String) -> String {
    guard let group = plan.group(id) else { return id }
    return group.name ?? HousePlan.name(ofRooms: names(ofRooms: group.rooms))
  }

  func carryOut(_ moves: [HousePlan.Move], takes: Bool = false) {
    for move in moves { carryOut(move, takes: takes) }
    endAbandoned()
  }

  func carryOut(_ move: HousePlan.Move, takes: Bool) {
    var takes = takes
    if let from = move.from.flatMap({ groups[$0] }) {
      // From one group of ours to another it goes without asking, but not if a stranger has it.
      takes = takes || !from.isOccupied(move.room)
      from.remove(move.room)
    }
    if let to = move.to { connect(move.room, in: to, takes: takes) }
  }

  /// A queue waits for the room that has left it last, also while the daemon is not there. Without either, it has no use,
  /// unless an undo would part it from another again.
  func endAbandoned() {
    let abandoned = plan.groups.filter(\.isAbandoned)
    let merged = Set(groups.keys.compactMap { standingMerge(of: $0)?.other })
    let queues = abandoned.filter { group in
      if merged.contains(group.id) { return true }
      guard group.lastRoom != nil, let house = groups[group.id] else { return false }
      return !house.items.isEmpty || house.undo != nil
    }
    let kept = queues.suffix(HouseSession.abandonedLimit)
    for group in abandoned where !kept.contains(group) {
      _ = plan.delete(group.id)
      close(group.id)
    }
  }

  /// Queues that are kept for rooms that have left them.
  package static let abandonedLimit = 8

  /// A room that sounds only until another one does is wanted for something else.
  func letGo(_ room: String) {
    for group in groupsInOrder { group.letGo(room) }
  }

  /// One that was never seen is awaited.
  func connect(_ room: String, in group: String, takes: Bool) {
    // An alarm gives it back when it is over.
    guard let group = groups[group], ring(in: room) == nil,
      takes || alarms.leftAlone[room] == nil
    else { return }
    alarms.leftAlone[room] = nil
    group.keep(room)
    letGo(room)
    // A room changes between players of one sender without being taken.
    rooms[room]?.visit?.leave(at: now)
    if let record = known.record(room) { return group.add(record, takes: takes) }
    guard let (host, port) = try? RoomWish.address(room), Self.isAddress(room) else { return }
    group.add(host: host, port: port, as: room, takes: takes)
  }

  /// The identity of its receiver; nil for a room that is known by its address and was not reached yet.
  package func receiver(of room: String) -> String? {
    if known.ids.contains(room) { return room }
    let group = group(ofRoom: room)
    return group?.rooms[room].flatMap { group?.player.port.session.receiver(of: $0.number) }?.hex
  }

  package static func isAddress(_ room: String) -> Bool { room.contains(":") }

  func check(room: String) throws(Refusal) {
    if Self.isAddress(room), (try? RoomWish.address(room)) != nil { return }
    guard roomIDs.contains(room) || stereo.pair(of: room) != nil else {
      throw .noSuch("there is no such room; it may have been renewed: look at the list of rooms")
    }
  }
}
