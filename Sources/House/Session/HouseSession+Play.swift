import Sender

/// Which group somebody means, and what is played or silenced there.
extension HouseSession {
  /// Finds a group by its name, its identity, or a room of it. Where nobody says which, all commands mean the same one.
  package func group(named name: String?) throws(Refusal) -> HouseGroup {
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
  package var meantGroup: HouseGroup? {
    let all = plan.groups.compactMap { groups[$0.id] }
    if let last = all.max(by: { $0.lastUse < $1.lastUse }), last.lastUse > 0 { return last }
    return all.first { !$0.isResting } ?? all.first
  }

  func find(_ name: String) -> HouseGroup? {
    let wanted = name.lowercased()
    let found =
      plan.groups.first { $0.id == name || self.name(ofGroup: $0.id).lowercased() == wanted }
      ?? plan.groups.first { $0.rooms.contains { self.name(ofRoom: $0).lowercased() == wanted } }
      // The configuration knows nothing of names that were chosen, and of pairs.
      ?? plan.groups.first { $0.rooms.contains { ownName(ofRoom: $0).lowercased() == wanted } }
    return found.flatMap { groups[$0.id] }
  }

  // MARK: - Playing something else

  func play(
    _ wanted: [Order.NewEntry], _ request: PlayRequest, in name: String?
  ) throws(Refusal) -> Done {
    // Wrong values are refused before anything is done.
    _ = try request.effects.applied(to: Effects())
    let rooms = request.rooms
    let group = try groupToPlay(in: rooms, named: name, takes: request.takes)
    noteUse(of: group)
    if request.takes {
      for room in plan.group(group.id)?.rooms ?? [] { connect(room, in: group.id, takes: true) }
    }
    if !request.effects.isEmpty { _ = try group.player.set(request.effects) }
    if let mode = request.repetition { _ = try group.player.set(mode) }
    var order = Array(wanted.indices)
    if request.shuffles { order.shuffle(using: &random) }
    let entries = order.map { wanted[$0] }
    let place = self.name(ofGroup: group.id)
    var done = Done(group: group.id, said: "waits in \(place) for: tutti add FILE")
    guard let first = entries.first else { return done }
    let added = try group.edit(.add(entries, at: .now)).added
    if request.shuffles, !added.isEmpty {
      group.unshuffled = zip(order, added).sorted { $0.0 < $1.0 }.map(\.1)
    }
    var title = ItemName.text(title: first.title, artist: nil, location: first.location)
    if entries.count > 1 { title += " and \(Player.count(entries.count - 1, "more item"))" }
    let others = (plan.group(group.id)?.rooms ?? []).filter { !request.takes && isOthers($0) }
    let but = others.isEmpty ? "" : "; \(busy(others).description)"
    done.said = "plays \(request.title ?? title) in \(place)\(but)"
    return done
  }

  /// The group of just these rooms, made where there is none; without rooms the usual one, or, in a new household, all.
  private func groupToPlay(
    in rooms: [String], named name: String?, takes: Bool
  ) throws(Refusal) -> HouseGroup {
    if let name, let group = find(name) {
      try check(rooms, of: group, takes: takes)
      if !rooms.isEmpty { carryOut(plan.setRooms(of: group.id, to: rooms)) }
      return group
    }
    if rooms.isEmpty, name == nil, let group = try? group(named: nil) {
      try check([], of: group, takes: takes)
      return group
    }
    if name == nil, let plan = plan.groups.first(where: { Set($0.rooms) == Set(rooms) }),
      !rooms.isEmpty, let group = groups[plan.id]
    {
      try check([], of: group, takes: takes)
      return group
    }
    let free = known.records.filter { $0.state != .away }.map(\.id)
      .filter { plan.group(ofRoom: $0) == nil }
    let chosen = rooms.isEmpty ? free : rooms
    guard !chosen.isEmpty else {
      throw .unavailable(
        "no receiver was found; start tutti-receiver in a room, or name one with --at host:port")
    }
    for room in chosen where !takes && isOthers(room) && plan.group(ofRoom: room) == nil {
      throw busy([room])
    }
    return try group(createGroup(chosen, name: name))
  }

  /// Refuses to play where nobody would hear it, because other senders have all rooms.
  /// - Parameter rooms: those that the group is to have; empty: those that it has.
  private func check(_ rooms: [String], of group: HouseGroup, takes: Bool) throws(Refusal) {
    let rooms = rooms.isEmpty ? plan.group(group.id)?.rooms ?? [] : rooms
    if !takes, !rooms.isEmpty, rooms.allSatisfy(isOthers) { throw busy(rooms) }
  }

  private func busy(_ rooms: [String]) -> Refusal {
    let names = names(ofRooms: rooms)
    return .unavailable(
      "\(names.joined(separator: ", ")) \(names.count == 1 ? "is" : "are") busy: somebody else is playing there; "
        + "take \(names.count == 1 ? "it" : "them") with --take")
  }

  /// True if another sender has the room, or both rooms of a pair.
  func isOthers(_ room: String) -> Bool { stereo.whole([room]).allSatisfy(isTaken) }

  // MARK: - Silence

  /// Ends the music of these rooms, of whatever group, or of all groups; returns what was done.
  func silence(_ wanted: [String]?) -> String? {
    noteMove()
    var done = silenceAlarms(wanted)
    for group in plan.groups {
      guard let house = groups[group.id] else { continue }
      let rooms = group.rooms.filter { wanted?.contains($0) ?? true }
      let place = name(ofGroup: group.id)
      if wanted == nil || !rooms.isEmpty && rooms.count == group.rooms.count {
        if !house.isResting { done.append("\(place): stopped") }
        _ = try? house.transport(.stop)
      } else {
        done += names(ofRooms: rooms).map { "\($0) leaves \(place)" }
        carryOut(rooms.compactMap { plan.leave($0) })
      }
    }
    return done.isEmpty ? nil : done.joined(separator: "\n")
  }

  // MARK: - Everywhere

  /// Stops all groups that play, and what rings; returns what was done. Groups that are paused keep their places.
  func stopEverywhere() throws(Refusal) -> String {
    noteMove()
    let ringing = silenceAlarms(nil).count
    let playing = groupsInOrder.filter(\.isMeantToPlay)
    for group in playing {
      _ = steer(group, .stop)
      try group.transport(.stop)
    }
    let parts = [(playing.count, "group"), (ringing, "alarm")].filter { $0.0 > 0 }
    guard !parts.isEmpty else { return Self.nothingPlays }
    let verb = playing.count + ringing == 1 ? "stops" : "stop"
    return parts.map { Player.count($0.0, $0.1) }.joined(separator: " and ") + " \(verb)"
  }

  /// Sets the sleep timers of all groups that play, or ends those of all groups: zero. Returns what was done.
  func sleepEverywhere(in seconds: Double) throws(Refusal) -> String {
    try Order.GroupChange.check(sleepInS: seconds)
    let isEnd = seconds == 0
    let meant = groupsInOrder.filter { isEnd ? $0.sleep.end != nil : $0.isMeantToPlay }
    for group in meant { _ = group.sleep(in: seconds, at: now) }
    guard !meant.isEmpty else { return isEnd ? "no sleep timer is on" : Self.nothingPlays }
    guard isEnd else {
      let pause = meant.count == 1 ? "pauses" : "pause"
      return "\(Player.count(meant.count, "group")) \(pause) in \(TimeText.format(seconds))"
    }
    return "\(Player.count(meant.count, "sleep timer")) \(meant.count == 1 ? "is" : "are") off"
  }

  private static var nothingPlays: String { "nothing plays" }
}

extension HouseGroup {
  /// True if it plays, or will by itself: once a room is back, or once an alarm has ended.
  fileprivate var isMeantToPlay: Bool { isPlaying(player.status) || lent?.wasPlaying ?? false }
}
