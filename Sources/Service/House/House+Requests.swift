import Clock
import Driver
import LinuxIO
import Sender
import WireProtocol

/// What surfaces ask for.
extension House {
  /// Longer than anybody calls a group.
  private static let nameLimit = 100

  /// The answer comes when what was done is on the disk. An edit that cannot be kept is not done.
  func perform(
    _ request: HouseRequest, _ answer: @escaping (Result<HouseAnswer, Refusal>) -> Void
  ) {
    whereDiskWorks(for: request.isEdit) { [unowned self] problem in
      if let problem { return answer(.failure(problem)) }
      performNow(request, answer)
    }
  }

  private func performNow(
    _ request: HouseRequest, _ answer: @escaping (Result<HouseAnswer, Refusal>) -> Void
  ) {
    do throws(Refusal) {
      let done = try carryOut(request)
      let state = publish()
      // The rest of the answer is as things are now, not as they are when the disk is done.
      let result = try done.answer(state)
      afterSaving { problem in
        if let problem, request.isEdit { return answer(.failure(problem)) }
        answer(.success(result))
      }
    } catch {
      publish()
      afterSaving { _ in answer(.failure(error)) }
    }
  }

  /// What was done, as far as it is known before the state is made.
  private enum Done {
    case group(String)
    case room(String)
    case queue(revision: UInt64, added: [Int])
    case nothing

    func answer(_ state: HouseState) throws(Refusal) -> HouseAnswer {
      switch self {
      case .group(let id):
        guard let group = state.groups.first(where: { $0.id == id }) else { return .done }
        return .group(group)
      case .room(let id):
        guard let room = state.rooms.first(where: { $0.id == id }) else {
          throw .noSuch("there is no such room")
        }
        return .room(room)
      case .queue(let revision, let added): return .queue(revision: revision, added: added)
      case .nothing: return .done
      }
    }
  }

  private func carryOut(_ request: HouseRequest) throws(Refusal) -> Done {
    switch request {
    case .createGroup(let rooms, let name): return .group(try createGroup(rooms, name: name))
    case .deleteGroup(let id):
      _ = try group(id)
      delete(id)
      return .nothing
    case .change(group: let id, let change):
      try set(change, of: id)
      return .group(id)
    case .transport(let id, let order):
      try used(group(id)).transport(order)
      noteMove()
      return .group(id)
    case .seek(let id, let seconds, let isRelative):
      try used(group(id)).seek(seconds, isRelative: isRelative)
      noteMove()
      return .group(id)
    case .join(let id, let room, let takes):
      try join([room], id, takes: takes)
      return .group(id)
    case .leave(let id, let room):
      guard plan.group(ofRoom: room)?.id == id else {
        throw .noSuch("\(name(ofRoom: room)) is not in this group")
      }
      carryOut([plan.leave(room)].compactMap { $0 })
      return .group(id)
    case .merge(let id, let other): return try merge(other, into: id)
    case .edit(let id, let edit, let expected):
      let group = try used(group(id))
      if let expected, expected != group.queueRevision {
        throw .outdated(revision: group.queueRevision)
      }
      let added = try group.edit(edit)
      if case .play = edit { return .group(id) }
      return .queue(revision: group.queueRevision, added: added)
    case .set(room: let id, let change):
      try set(change, of: id)
      return .room(id)
    case .identify(let room):
      try identify(room)
      return .nothing
    }
  }

  func group(_ id: String) throws(Refusal) -> HouseGroup {
    guard let group = groups[id] else { throw .noSuch("there is no such group any more") }
    return group
  }

  private func used(_ group: HouseGroup) -> HouseGroup {
    noteUse(of: group)
    return group
  }

  // MARK: - Groups

  func createGroup(_ rooms: [String], name: String?) throws(Refusal) -> String {
    for room in rooms { try check(room: room) }
    let name = try checked(name)
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

  private func merge(_ other: String, into id: String) throws(Refusal) -> Done {
    _ = (try group(id), try group(other))
    guard other != id else { throw .invalid("a group cannot be merged with itself") }
    carryOut(plan.merge(other, into: id))
    close(other)
    return .group(id)
  }

  /// Rooms that another sender plays in are left alone, unless somebody `takes` them.
  func join(_ rooms: [String], _ id: String, takes: Bool) throws(Refusal) {
    let group = try group(id)
    for room in rooms {
      try check(room: room)
      guard takes || !isTaken(room) else {
        throw .unavailable(
          "\(name(ofRoom: room)) is playing something of another sender; take it to play here")
      }
    }
    noteUse(of: group)
    for room in rooms {
      if let move = plan.join(room, id) {
        carryOut([move], takes: takes)
      } else if takes {
        connect(room, in: id, takes: true)
      }
    }
  }

  private func set(
    _ change: HouseRequest.GroupChange, of id: String
  ) throws(Refusal) {
    let group = try group(id)
    let repetition = try change.repeat.map { text throws(Refusal) in
      guard let repetition = Playlist.Repetition(rawValue: text) else {
        throw Refusal.invalid("repeat is off, one or all")
      }
      return repetition
    }
    let effects = try change.effects.map { (effects) throws(Refusal) in try Effects(effects) }
    if let volume = change.volume, !(0...100).contains(volume) {
      throw .invalid("volume is 0 to 100")
    }
    if let seconds = change.sleepInS, !(0...86_400).contains(seconds) {
      throw .invalid("the sleep timer is 0 to 86400 seconds")
    }
    let name = try checked(change.name)
    for room in change.roomIds ?? [] { try check(room: room) }
    // From here on nothing is refused, except by the session.
    noteUse(of: group)
    if change.name != nil { plan.rename(id, to: name) }
    if let rooms = change.roomIds { carryOut(plan.setRooms(of: id, to: rooms)) }
    if let effects { try group.player.carryOut(.effects(effects)) }
    if let repetition { try group.player.carryOut(.edit(.setRepetition(repetition))) }
    if let muted = change.muted { try group.player.carryOut(.mute(.all, muted)) }
    if let volume = change.volume { group.setVolume(volume) }
    if let seconds = change.sleepInS {
      group.sleepTime =
        seconds == 0 ? nil : HostClock.now + Nanoseconds(Int64(seconds * 1_000_000_000))
    }
  }

  /// Nil for an empty one: then the group is called by its rooms.
  private func checked(_ name: String?) throws(Refusal) -> String? {
    guard let name else { return nil }
    guard name.count <= Self.nameLimit, name.utf8.count <= 4 * Self.nameLimit else {
      throw .invalid("a group's name has at most \(Self.nameLimit) characters")
    }
    let shown = ItemMetadata.shown(FileName.shown(name))
    return shown.allSatisfy(\.isWhitespace) ? nil : shown
  }

  // MARK: - Rooms

  func set(
    _ change: HouseRequest.RoomSettingsChange, of room: String
  ) throws(Refusal) {
    try check(room: room)
    let wanted = RoomChange(
      isMuted: change.muted, delayMs: change.delayMs, channels: change.channels,
      volume: change.volume)
    let name = name(ofRoom: room)
    guard let id = plan.group(ofRoom: room)?.id, let group = groups[id] else {
      _ = try wanted.commands(for: .all)
      return try tell(change, to: room)
    }
    guard let number = group.rooms[room], group.isLive(number) else {
      throw .unavailable("\(name) is switched off or out of reach; switch it on, then set it")
    }
    for command in try wanted.commands(for: .room(number)) { try group.player.carryOut(command) }
  }
}

extension HouseGroup {
  /// Those that have said how loud they are, by their identities in the household.
  func volumes(_ status: GroupStatus) -> [String: Double] {
    let known = Dictionary(status.rooms.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    return rooms.compactMapValues { id in
      known[id]?.settings.map { Double($0.volume) / 10 }
    }
  }

  func setVolume(_ level: Double) {
    let now = volumes(player.status)
    for (room, volume) in volume.move(to: level, now) {
      guard let id = rooms[room] else { continue }
      _ = driver.carryOut(.volume(.room(id), UInt16((volume * 10).rounded())))
    }
  }

  func isLive(_ room: RoomID) -> Bool {
    player.status.rooms.contains { $0.id == room && $0.settings != nil }
  }
}
