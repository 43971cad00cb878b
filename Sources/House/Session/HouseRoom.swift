import Clock
package import Sender
package import WireProtocol

/// Receivers as discovery and pairings know them.
package struct KnownRooms: Hashable, Sendable {
  package var records: [RoomRecord] { didSet { ids = Set(records.map(\.id)) } }
  /// Identities of receivers that this machine is paired with.
  package var paired: Set<String>
  /// Identities of this user's receivers on this machine, which need no pairing.
  package var own: Set<String>
  private(set) var ids: Set<String>

  package init(_ records: [RoomRecord] = [], paired: Set<String> = [], own: Set<String> = []) {
    (self.records, self.paired, self.own) = (records, paired, own)
    ids = Set(records.map(\.id))
  }

  func record(_ room: String) -> RoomRecord? { records.first { $0.id == room } }
}

/// The memory that a household has of a room, and its work there while the room plays in no group.
struct HouseRoom {
  /// For so long a room may still be announced as busy with the player that has left it.
  static let farewell = Nanoseconds.seconds(3)

  /// The settings that were heard last.
  var saved: HouseRecord.Room?
  /// When it was last there.
  var seen: LocalTime?
  /// When a group's or an alarm's player was last connected with it.
  var held: LocalTime?
  /// Tells it how loud it is to be.
  var visit: RoomVisit?
  /// Shows people which room it is.
  var sign: RoomSign?

  var isForgettable: Bool { saved == nil && visit == nil && sign == nil }

  /// True in the moment in which others may not know yet that a player of ours has left it.
  func wasHeld(at now: LocalTime) -> Bool { held.map { now < $0 + Self.farewell } ?? false }
}

/// Where a room is, and what belongs to that.
package enum RoomState: Hashable, Sendable {
  /// It is there, and in no group.
  case free
  /// Its group's player tries to reach it.
  case joining
  /// It is connected with its group's player.
  case playing(RoomStatus)
  /// It does not answer, or nobody has seen it.
  case away(detail: String?, RoomReason?)
  /// Another sender has it.
  case taken(detail: String?, RoomReason?)
  /// It is there, and asks for its PIN first.
  case notPaired
  /// It is connected, and has no sound card.
  case noDevice(RoomStatus)
}

extension HouseSession {
  /// The room as its group's player sees it.
  func playerRoom(_ room: String, _ statuses: [String: GroupStatus]?) -> GroupStatus.Room? {
    if let ring = ring(in: room) { return ring.room(room, ring.player.status) }
    guard let group = group(ofRoom: room) else { return nil }
    return group.playerRoom(room, statuses?[group.id] ?? group.player.status)
  }

  func group(ofRoom room: String) -> HouseGroup? {
    plan.group(ofRoom: room).flatMap { groups[$0.id] }
  }

  /// - Parameter statuses: of the groups, if they were asked for already.
  package func state(
    ofRoom room: String, _ statuses: [String: GroupStatus]? = nil
  ) -> RoomState {
    let (link, record) = (playerRoom(room, statuses), known.record(room))
    let isAnnounced = record.map { $0.state != .away } ?? false
    let isThere = isAnnounced || link?.status != nil
    if isThere, needsPairing(room, link) { return .notPaired }
    switch link?.connection {
    case .connected(let status):
      return status.state == .noDevice ? .noDevice(status) : .playing(status)
    case .connecting: return isAnnounced ? .joining : .away(detail: nil, nil)
    case .away(let detail):
      let reason = link?.trouble.map { RoomReason($0) }
      let isOccupied = link?.trouble?.isOccupied ?? false
      // A player that was told so once does not try the room again, and hears nothing of it any more.
      if isOccupied, record?.state == .away { return .away(detail: nil, nil) }
      return isOccupied ? .taken(detail: detail, reason) : .away(detail: detail, reason)
    case nil: return state(ofUnjoined: room, record)
    }
  }

  /// Describes a room that no player has, except for a moment.
  private func state(ofUnjoined room: String, _ record: RoomRecord?) -> RoomState {
    switch record?.state {
    case .away, nil: return .away(detail: nil, nil)
    case .free: return .free
    case .busy:
      let isOurs =
        group(ofRoom: room) != nil && alarms.leftAlone[room] == nil || rooms[room]?.visit != nil
        || rooms[room]?.sign != nil || announcements.contains { $0.visits(room) }
        || ring(in: room) != nil || alarms.left.contains(room) || wasHeld(room)
        || groups.values.contains { $0.isLeaving(room) }
      return isOurs ? .free : .taken(detail: nil, RoomReason(.busy))
    }
  }

  /// True if another sender has it now. One that is free again is still lost to its group.
  func isTaken(_ room: String) -> Bool {
    guard case .taken = state(ofRoom: room) else { return false }
    return known.record(room)?.state != .free
  }

  /// True if its PIN is needed before it plays for this household.
  func needsPairing(_ room: String) -> Bool { needsPairing(room, playerRoom(room, nil)) }

  private func needsPairing(_ room: String, _ link: GroupStatus.Room?) -> Bool {
    if group(ofRoom: room)?.isUnpaired(room) == true { return true }
    if link?.settings != nil { return false }
    return known.record(room)?.access == .paired && !known.paired.contains(room)
      && !known.own.contains(room)
  }

  // MARK: - What is remembered

  func keep(_ room: HouseRecord.Room) {
    let isKnown = rooms[room.id]?.saved != nil
    guard isKnown || rooms.values.count(where: { $0.saved != nil }) < RoomRecord.limit else {
      return
    }
    rooms[room.id, default: HouseRoom()].saved = room
  }

  private func wasHeld(_ room: String) -> Bool { rooms[room]?.wasHeld(at: now) ?? false }

  func noteHeld(_ room: String) { rooms[room, default: HouseRoom()].held = now }

  func noteSeen(_ room: String) {
    rooms[room, default: HouseRoom()].seen = now
    // Rooms that nobody knows any more were seen long ago.
    guard rooms.count > 2 * RoomRecord.limit else { return }
    rooms = rooms.filter { !$0.value.isForgettable || known.ids.contains($0.key) }
  }
}

extension GroupStatus.Room {
  var status: RoomStatus? { if case .connected(let status) = connection { status } else { nil } }
}
