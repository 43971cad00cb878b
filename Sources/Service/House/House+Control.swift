import Clock
import Driver
import LinuxIO
import Sender

/// What terminals ask a daemon for, in numbers and names as they ask a player. What a player answers itself, the group's
/// does; what is different in a household is done here: it never ends, and every edit is kept.
extension House {
  /// The reply comes when what was done is on the disk. An edit that cannot be kept is not done.
  package func answer(_ call: ControlCall, _ reply: @escaping (ControlReply) -> Void) {
    withTitles(ofFilesIn: call.request) { [unowned self] in
      whereDiskWorks(for: call.request.isEdit) { [unowned self] problem in
        if let problem { return reply(call.refused(problem)) }
        answerNow(call, reply)
        titles.known = [:]
      }
    }
  }

  private func answerNow(_ call: ControlCall, _ reply: @escaping (ControlReply) -> Void) {
    do throws(Refusal) {
      let answer: ControlAnswer
      if let ofAll = try ofHouse(call.request) {
        answer = ofAll
      } else {
        answer = try ofGroup(call)
      }
      let outcome = ControlReply(id: call.id, .done(answer: answer))
      guard call.request.changesSomething else { return reply(outcome) }
      afterSaving { problem in
        if let problem, call.request.isEdit { return reply(call.refused(problem)) }
        reply(outcome)
      }
    } catch {
      reply(ControlReply(id: call.id, .refused(error: error)))
    }
  }

  /// What is about all groups; nil for other requests.
  private func ofHouse(_ request: ControlRequest) throws(Refusal) -> ControlAnswer? {
    switch request {
    case .groups: return ControlAnswer(groups: groupLines)
    case .set(let change) where !change.rooms.isEmpty && meantGroup == nil:
      return ControlAnswer(done: try set(change))
    case .silence(let rooms):
      noteMove()
      return try silence(rooms)
    default: return nil
    }
  }

  private func ofGroup(_ call: ControlCall) throws(Refusal) -> ControlAnswer {
    let (group, done) = try carryOut(call)
    publish()
    var answer = ControlAnswer(
      done: done, queue: call.request.isAboutTheList ? queue(of: group) : nil,
      status: statusReport(of: group), group: name(ofGroup: group.id))
    if case .status = call.request { answer.groups = groupLines }
    return answer
  }

  private func carryOut(_ call: ControlCall) throws(Refusal) -> (HouseGroup, String?) {
    if case .play(let request) = call.request { return try play(request, in: call.group) }
    let group = try self.group(named: call.group)
    let place = name(ofGroup: group.id)
    if call.request.changesSomething { noteUse(of: group) }
    if call.request.isMove { noteMove() }
    let done = try carryOut(call.request, in: group)
    return (group, call.request.namesRooms ? done : done.map { "\(place): \($0)" })
  }

  /// By its name, its identity, or a room of it. Where nobody says which, all commands mean the same one.
  private func group(named name: String?) throws(Refusal) -> HouseGroup {
    if let name {
      guard let group = find(name) else {
        let names = plan.groups.map { self.name(ofGroup: $0.id) }.joined(separator: ", ")
        throw .invalid(
          "there is no group called \(name)" + (names.isEmpty ? "" : ", but: \(names)"))
      }
      return group
    }
    guard let group = meantGroup else {
      throw .unavailable("nothing is playing; begin with: tutti play FILE")
    }
    return group
  }

  /// The one that was used last, from whatever surface; after a start, one that plays. A command does not change by what
  /// it does which group the next one means.
  private var meantGroup: HouseGroup? {
    let all = plan.groups.compactMap { groups[$0.id] }
    if let last = all.max(by: { $0.lastUse < $1.lastUse }), last.lastUse > 0 { return last }
    return all.first { !$0.isResting } ?? all.first
  }

  private var groupLines: [ControlAnswer.GroupLine] {
    let meant = meantGroup?.id
    return makeState().groups.map { group in
      .init(
        name: group.name, state: group.state, title: group.item?.title,
        artist: group.item?.artist, rooms: group.roomIds.map(name(ofRoom:)),
        volume: group.volume, isMeant: group.id == meant)
    }
  }

  // MARK: - Silence

  /// Ends the music of these rooms, of whatever group, and of all groups where none is named. Rooms that are in no group, or
  /// that other senders have, are left to who asks.
  private func silence(_ names: [String]) throws(Refusal) -> ControlAnswer {
    let receivers = plan.groups.compactMap { groups[$0.id] }.flatMap(\.driver.receivers)
    var (own, done): ([String], [String]) = ([], [])
    for group in plan.groups {
      guard let house = groups[group.id] else { continue }
      let meant = names.filter { name in group.rooms.contains { isMeant($0, by: name) } }
      own += meant
      let rooms = group.rooms.filter { room in meant.contains { isMeant(room, by: $0) } }
      let place = name(ofGroup: group.id)
      if names.isEmpty || !rooms.isEmpty && rooms.count == group.rooms.count {
        if !house.isResting { done.append("\(place): stopped") }
        _ = try? house.transport(.stop)
      } else {
        done += rooms.map { "\(name(ofRoom: $0)) leaves \(place)" }
        for room in rooms { carryOut([plan.leave(room)].compactMap { $0 }) }
      }
    }
    publish()
    var answer = ControlAnswer(done: done.isEmpty ? nil : done.joined(separator: "\n"))
    answer.silenced = .init(rooms: own, receivers: receivers)
    return answer
  }

  /// Whether somebody who writes this means the room: its name, with or without a part of its identity, or its address.
  private func isMeant(_ room: String, by text: String) -> Bool {
    room == text || name(ofRoom: room).lowercased() == text.lowercased()
      || host.directory.records(meantBy: text).contains { $0.id == room }
  }

  func find(_ name: String) -> HouseGroup? {
    let wanted = name.lowercased()
    let found =
      plan.groups.first { $0.id == name || self.name(ofGroup: $0.id).lowercased() == wanted }
      ?? plan.groups.first { $0.rooms.contains { self.name(ofRoom: $0).lowercased() == wanted } }
    return found.flatMap { groups[$0.id] }
  }

  private func carryOut(_ request: ControlRequest, in group: HouseGroup) throws(Refusal) -> String? {
    let player = group.player
    switch request {
    case .play, .silence, .groups, .access, .end: return nil
    case .status, .queue, .effects, .repeat: return try player.answer(request).done
    case .pause: return try group.transport(.pause)
    case .resume: return try group.transport(.play)
    case .stop: return try group.transport(.stop)
    case .next: return try group.transport(.next)
    case .previous: return try group.transport(.previous)
    case .move(let number, let to):
      let item = try player.item(number)
      _ = try group.edit(.move(item.id, to: .number(to)))
      return "\(player.name(of: item)) is number \(to)"
    case .seek:
      guard group.isResting else { return try player.answer(request).done }
      throw .unavailable("nothing plays; begin with: tutti resume")
    case .set(let change): return try set(change, in: group)
    case .add(let entries, let number): return try add(named(entries), at: number, in: group)
    case .remove(let numbers):
      var ids: [Int] = []
      for number in numbers { ids.append(try player.item(number).id) }
      for id in Set(ids) { _ = try group.edit(.remove(id)) }
      return PlayerService.count(Set(ids).count, "item") + " removed"
    case .jump(let number):
      let item = try player.item(number)
      _ = try group.edit(.play(item.id))
      return "\(number): \(player.name(of: item))"
    case .clear:
      let count = group.items.count
      _ = try group.edit(.clear)
      return PlayerService.count(count, "item") + " removed"
    case .shuffle:
      _ = try group.edit(.shuffle)
      return "shuffled"
    case .join(let room):
      let id = try self.id(of: room)
      if plan.group(ofRoom: id)?.id == group.id { return "plays in \(name(ofRoom: id)) already" }
      try join([id], group.id, takes: false)
      return "\(name(ofRoom: id)) joins \(name(ofGroup: group.id))"
    case .leave(let names):
      let ids = try names.map { name throws(Refusal) in try room(named: name, in: group) }
      for id in ids { carryOut([plan.leave(id)].compactMap { $0 }) }
      return ids.map { "\(name(ofRoom: $0)) leaves" }.joined(separator: "\n")
    }
  }

  private func add(
    _ entries: [PlaylistEntry], at number: Int?, in group: HouseGroup
  ) throws(Refusal) -> String? {
    let place = number.map { $0 == 0 ? HouseRequest.Place.next : .number($0) }
    _ = try group.edit(.add(entries.map(new), at: place ?? .end))
    return PlayerService.count(entries.count, "item") + " added"
  }

  /// Rooms that are named, each in whatever group it is, or in none.
  private func set(_ change: RoomChange) throws(Refusal) -> String {
    try change.rooms.map { name throws(Refusal) in
      var one = change
      one.rooms = [name]
      let id = try room(named: name, in: nil)
      guard let owner = plan.group(ofRoom: id).flatMap({ groups[$0.id] }) else {
        return try set(one, ofFree: id)
      }
      return try owner.player.answer(.set(change: one)).done ?? ""
    }.joined(separator: "\n")
  }

  /// Of a room that plays nothing.
  private func set(_ change: RoomChange, ofFree room: String) throws(Refusal) -> String {
    _ = try change.commands(for: .all)
    var wanted = HouseRequest.RoomSettingsChange()
    (wanted.volume, wanted.muted) = (change.volume, change.isMuted)
    (wanted.delayMs, wanted.channels) = (change.delayMs, change.channels)
    if change.isStep, let step = change.volume {
      guard let volume = shown(room)?.volume else {
        throw .unavailable(
          "how loud \(name(ofRoom: room)) is, is not known while it plays nothing; give a volume without + or -"
        )
      }
      wanted.volume = min(max(volume + step, 0), 100)
    }
    try tell(wanted, to: room)
    return shown(room)?.settingsSentence ?? "\(name(ofRoom: room)): set"
  }

  private func shown(_ room: String) -> HouseState.Room? {
    makeState().rooms.first { $0.id == room }
  }

  /// A volume for no room in particular is the group's.
  private func set(_ change: RoomChange, in group: HouseGroup) throws(Refusal) -> String? {
    guard change.rooms.isEmpty else { return try set(change) }
    var rest = change
    if let volume = change.volume {
      let now = group.volume.level(of: group.volumes(group.player.status))
      _ = try change.commands(for: .all)
      group.setVolume(change.isStep ? now + volume : volume)
      rest.volume = nil
    }
    return try group.player.answer(.set(change: rest)).done
  }

  // MARK: - Playing something else

  private func play(
    _ request: PlayRequest, in name: String?
  ) throws(Refusal) -> (HouseGroup, String?) {
    if let option = request.foregroundOptions.first {
      throw .invalid(
        option
          + (option == "--codec"
            ? " is set where the daemon starts: tutti serve --codec; "
            : " does not work through the daemon; leave it out, ")
          + "or play in this terminal with a --state-dir of its own")
    }
    // Wrong values are refused before anything is done.
    let wanted = try named(request.entries)
    _ = try request.effects.applied(to: Effects())
    var rooms: [String] = []
    for name in request.rooms { rooms.append(try host.directory.only(name).id) }
    for address in request.addresses { rooms.append(try id(ofAddress: address)) }
    let group = try groupToPlay(in: rooms, named: name, takes: request.takes)
    noteUse(of: group)
    if request.takes {
      for room in plan.group(group.id)?.rooms ?? [] { connect(room, in: group.id, takes: true) }
    }
    if !request.effects.isEmpty { _ = try group.player.answer(.effects(change: request.effects)) }
    if let mode = request.repetition { _ = try group.player.answer(.repeat(mode: mode)) }
    let entries = request.shuffles ? wanted.shuffled() : wanted
    let place = self.name(ofGroup: group.id)
    guard let first = entries.first else { return (group, "waits in \(place) for: tutti add FILE") }
    _ = try group.edit(.add(entries.map(new), at: .now))
    let title = ItemName.text(title: new(first).title, artist: nil, location: first.location)
    let more =
      entries.count > 1 ? " and \(PlayerService.count(entries.count - 1, "more item"))" : ""
    return (group, "plays \(title)\(more) in \(place)")
  }

  /// The group of just these rooms, made where there is none; without rooms the usual one, or, in a new household, all.
  private func groupToPlay(
    in rooms: [String], named name: String?, takes: Bool
  ) throws(Refusal) -> HouseGroup {
    if let name, let group = find(name) {
      if !rooms.isEmpty { carryOut(plan.setRooms(of: group.id, to: rooms)) }
      return group
    }
    if rooms.isEmpty, name == nil, let group = try? group(named: nil) { return group }
    if name == nil, let plan = plan.groups.first(where: { Set($0.rooms) == Set(rooms) }),
      !rooms.isEmpty, let group = groups[plan.id]
    {
      return group
    }
    let free = host.directory.present.map(\.id).filter { plan.group(ofRoom: $0) == nil }
    let chosen = rooms.isEmpty ? free : rooms
    guard !chosen.isEmpty else {
      throw .unavailable(
        "no receiver was found; start tutti-receiver in a room, or name one with --at host:port")
    }
    for room in chosen where !takes && isTaken(room) && plan.group(ofRoom: room) == nil {
      throw .unavailable(
        "\(self.name(ofRoom: room)) is busy: somebody else is playing there; take it with --take")
    }
    return try group(createGroup(chosen, name: name))
  }

  private func id(of room: NewRoom) throws(Refusal) -> String {
    switch room {
    case .record(let record):
      host.know(record)
      return record.id
    case .address(let host, let port): return RoomWish.text(host: host, port: port)
    }
  }

  private func id(ofAddress text: String) throws(Refusal) -> String {
    let (host, port) = try RoomWish.address(text)
    return RoomWish.text(host: host, port: port)
  }

  private func room(named name: String, in group: HouseGroup?) throws(Refusal) -> String {
    let ids = group.flatMap { plan.group($0.id)?.rooms } ?? roomIDs
    if let id = ids.first(where: { isMeant($0, by: name) }) {
      return id
    }
    let names = ids.map(self.name(ofRoom:)).joined(separator: ", ")
    throw .unavailable("there is no room called \(name) here, but: \(names)")
  }
}

extension ControlCall {
  fileprivate func refused(_ problem: Refusal) -> ControlReply {
    ControlReply(id: id, .refused(error: problem))
  }
}
