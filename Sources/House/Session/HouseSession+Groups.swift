import Clock
import Sender

/// Makes, changes and ends groups, and sets rooms.
extension HouseSession {
  // MARK: - Groups

  func createGroup(_ rooms: [String], name: String?) throws(Refusal) -> String {
    for room in rooms { try check(room: room) }
    let name = try name.flatMap { name throws(Refusal) in try HouseName.checked(name) }
    if name == nil, let id = plan.abandoned(by: rooms), let group = groups[id] {
      noteUse(of: group)
      carryOut(plan.setRooms(of: id, to: rooms))
      return id
    }
    guard let (id, moves) = plan.create(name: name, rooms: rooms) else {
      throw .unavailable("there are \(HousePlan.groupLimit) groups already; delete one")
    }
    do {
      try open(HouseRecord.Group(id: id, name: name))
    } catch {
      _ = plan.delete(id)
      throw error
    }
    if let group = groups[id] { noteUse(of: group) }
    carryOut(moves)
    return id
  }

  func delete(_ id: String) {
    let moves = plan.delete(id)
    for move in moves { groups[id]?.remove(move.room) }
    close(id)
  }

  /// A room that another sender plays in is left alone, unless somebody `takes` it.
  @discardableResult
  func join(_ room: String, _ id: String, takes: Bool) throws(Refusal) -> String {
    let group = try group(id)
    try check(room: room)
    let rooms = stereo.whole([room])
    guard takes || !isOthers(room) else {
      throw .unavailable(
        "\(name(ofRoom: room)) is playing something of another sender; take it to play here")
    }
    noteUse(of: group)
    let moves = rooms.compactMap { plan.join($0, id) }
    guard !moves.isEmpty else {
      for room in rooms where takes { connect(room, in: id, takes: true) }
      return "plays in \(name(ofRoom: room)) already"
    }
    let said = "\(name(ofRoom: room)) joins \(name(ofGroup: id))"
    carryOut(moves, takes: takes)
    return said
  }

  func leave(_ rooms: [String], _ id: String) throws(Refusal) -> String {
    for room in rooms where plan.group(ofRoom: room)?.id != id {
      throw .noSuch("\(name(ofRoom: room)) is not in this group")
    }
    noteUse(of: try group(id))
    let said = names(ofRooms: rooms).map { "\($0) leaves" }.joined(separator: "\n")
    carryOut(rooms.compactMap { plan.leave($0) })
    return said
  }

  /// Nothing is done where one of the values cannot be had, except where the session refuses it.
  func set(_ change: Order.GroupChange, of id: String) throws(Refusal) -> String {
    let group = try group(id)
    try group.check(change)
    let name = try change.name.flatMap { name throws(Refusal) in try HouseName.checked(name) }
    for room in change.roomIds ?? [] { try check(room: room) }
    if !change.isEmpty { noteUse(of: group) }
    if change.name != nil { plan.rename(id, to: name) }
    let moved = change.roomIds.map { move(group, to: $0) }
    let said = [moved ?? "", try group.set(change, at: now)]
    owe(change.rooms, to: group.rooms.keys.sorted())
    return said.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// It plays in these rooms and no others. Those that leave sound until one that comes does.
  func move(_ group: HouseGroup, to rooms: [String]) -> String {
    let moves = plan.setRooms(of: group.id, to: rooms)
    let coming = moves.filter { $0.to == group.id }
    let leaving = moves.filter { $0.from == group.id }
    // Music that loses all its rooms at once would stop.
    carryOut(coming)
    let awaited = coming.map(\.room).filter(mayCome)
    if group.player.status.state == .playing, !awaited.isEmpty {
      group.handOver(from: leaving.map(\.room), to: awaited, at: now)
    } else {
      carryOut(leaving)
    }
    return rooms.isEmpty
      ? "no room is in this group" : "in " + names(ofRooms: rooms).joined(separator: ", ")
  }

  /// A room that nothing has announced may be there: its player tries it.
  private func mayCome(_ room: String) -> Bool {
    switch state(ofRoom: room) {
    case .free, .joining, .playing: true
    case .away: playerRoom(room, nil)?.connection == .connecting
    case .taken, .notPaired, .noDevice: false
    }
  }

  // MARK: - Rooms

  /// Each in whatever group it is, or in none.
  func set(_ change: RoomChange, of rooms: [String]) throws(Refusal) -> Done {
    for room in rooms { try check(room: room) }
    _ = try change.commands(for: .all)
    var said: [String] = []
    let shown = stereo.shown(rooms)
    for room in shown {
      if let pair = stereo.pair(of: room) {
        said.append(try set(change, of: pair))
      } else {
        said.append(try set(change, of: room))
      }
    }
    return Done(room: shown.first, said: said.joined(separator: "\n"))
  }

  func set(_ change: RoomChange, of room: String) throws(Refusal) -> String {
    if let ring = ring(in: room) { return try set(change, of: room, in: ring) }
    let said = try setNow(change, of: room)
    if plan.group(ofRoom: room) != nil { owe(change, to: [room]) }
    return said
  }

  func setNow(_ change: RoomChange, of room: String) throws(Refusal) -> String {
    guard let group = plan.group(ofRoom: room).flatMap({ groups[$0.id] }) else {
      return try set(change, ofFree: room)
    }
    guard let number = group.rooms[room]?.number, group.isConnected(room) else {
      throw .unavailable(
        "\(name(ofRoom: room)) is not connected, so that nothing can be set there")
    }
    return try group.player.set(change, in: [.room(number)])
  }

  /// Sets a room that plays nothing.
  private func set(_ change: RoomChange, ofFree room: String) throws(Refusal) -> String {
    var wanted = change
    if change.volumeLimit != nil, let room = halfShown(room), room.isVolumeLimitFixed == true {
      throw .invalid(CommandRefusal.volumeLimitIsFixed(room.name).description)
    }
    if change.sound?.usesFIR == true, let room = halfShown(room), room.sound?.hasFIR == false {
      throw .invalid(CommandRefusal.hasNoFIR(room.name).description)
    }
    if change.isStep, let step = change.volume {
      guard let volume = halfShown(room)?.volume else {
        throw .unavailable(
          "how loud \(name(ofRoom: room)) is not known while nothing plays there; give a volume without + or -"
        )
      }
      let range = RoomChange.volumes
      wanted.volume = min(max(volume + step, range.lowerBound), range.upperBound)
      wanted.isStep = false
    }
    wanted.volume = wanted.volume.map { min($0, night.volumeCap) }
    try tell(wanted, to: room)
    // It is told later, maybe by another process.
    if !wanted.level.isEmpty {
      alarms.debts[room, default: RoomChange()].merge(wanted.level)
    }
    return shown(room)?.settingsSentence ?? "\(name(ofRoom: room)): set"
  }

  /// As surfaces see it.
  func shown(_ room: String) -> HouseState.Room? {
    shownRooms.first { $0.id == stereo.shown([room]).first }
  }

  /// A room by itself, also if it is one of a stereo pair.
  func halfShown(_ room: String) -> HouseState.Room? {
    self.room(id: room, groups.mapValues(\.player.status), at: now)
  }
}
