import Clock
import Driver
package import House
import LinuxIO
import Sender

/// Answers terminals: their names and numbers become identities, orders are carried out as everybody's
/// are, and the answer is what a terminal shows.
extension House {
  package func answer(_ call: ControlCall, _ reply: @escaping (ControlReply) -> Void) {
    withTitles(ofFilesIn: call.request) { [unowned self] in
      for record in call.rooms ?? [] { host.know(record) }
      do throws(Refusal) {
        try answer(call) { result in reply(ControlReply(call.id, result)) }
      } catch {
        reply(ControlReply(call.id, .failure(error)))
      }
      titles.known = [:]
    }
  }

  private func answer(
    _ call: ControlCall, _ reply: @escaping (Result<ControlAnswer, Refusal>) -> Void
  ) throws(Refusal) {
    switch call.request {
    case .status:
      var answer = view(of: try group(named: call.group))
      answer.groups = groupLines
      reply(.success(answer))
    case .groups: reply(.success(ControlAnswer(groups: groupLines)))
    case .queue: reply(.success(view(of: try group(named: call.group), hasQueue: true)))
    case .order(let said):
      let order = try said.resolved(by: HouseNames(house: self, meant: call.group))
      perform(order) { [unowned self] result in
        reply(result.map { show($0, order, in: call.group) })
      }
    case .play(let request):
      let names = HouseNames(house: self, meant: call.group)
      let entries = try request.entries.map { entry throws(Refusal) in
        try names.input(Order.NewEntry(entry))
      }
      perform(isEdit: true) { [unowned self] result in
        reply(result.map { show($0, hasQueue: true, in: call.group) })
      } _: { [unowned self] () throws(Refusal) in
        try play(entries, request, in: call.group)
      }
    case .silence(let names):
      var silenced: ControlAnswer.Silenced?
      perform(isEdit: false) { result in
        reply(result.map { ControlAnswer(done: $0.said, silenced: silenced) })
      } _: { [unowned self] () throws(Refusal) in
        let (said, rooms) = silence(names)
        silenced = rooms
        return Done(said: said)
      }
    case .save, .end, .access, .pairing, .library:
      throw .unavailable("only a daemon with a page can do that")
    }
  }

  private func show(_ answer: Answer, _ order: Order, in name: String?) -> ControlAnswer {
    var shown = show(answer, hasQueue: order.isAboutTheList, in: name)
    guard !order.namesRooms, let place = shown.group else { return shown }
    shown.done = shown.done.map { "\(place): \($0)" }
    return shown
  }

  private func show(
    _ answer: Answer, hasQueue: Bool, in name: String?
  ) -> ControlAnswer {
    let group = answer.group.flatMap { groups[$0.id] } ?? (try? group(named: name))
    var shown = group.map { view(of: $0, hasQueue: hasQueue) } ?? ControlAnswer()
    shown.done = answer.said
    return shown
  }

  private func view(of group: HouseGroup, hasQueue: Bool = false) -> ControlAnswer {
    ControlAnswer(
      queue: hasQueue ? queue(of: group) : nil, status: statusReport(of: group),
      group: name(ofGroup: group.id))
  }

  package func groupID(named name: String?) throws(Refusal) -> String {
    try group(named: name).id
  }

  /// By its name, its identity, or a room of it. Where nobody says which, all commands mean the same one.
  fileprivate func group(named name: String?) throws(Refusal) -> HouseGroup {
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
  private func silence(_ names: [String]) -> (said: String?, ControlAnswer.Silenced) {
    noteMove()
    let receivers = plan.groups.flatMap { drivers[$0.id]?.receivers ?? [] }
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
        carryOut(rooms.compactMap { plan.leave($0) })
      }
    }
    return (
      done.isEmpty ? nil : done.joined(separator: "\n"), .init(rooms: own, receivers: receivers)
    )
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

  // MARK: - Playing something else

  private func play(
    _ wanted: [Order.NewEntry], _ request: PlayRequest, in name: String?
  ) throws(Refusal) -> Done {
    if let option = request.foregroundOptions.first {
      throw .invalid(
        option
          + (option == "--codec"
            ? " is set where the daemon starts: tutti serve --codec; "
            : " does not work through the daemon; leave it out, ")
          + "or play in this terminal with a --state-dir of its own")
    }
    // Wrong values are refused before anything is done.
    _ = try request.effects.applied(to: Effects())
    var rooms: [String] = []
    for name in request.rooms { rooms.append(try host.directory.only(name).id) }
    for address in request.addresses { rooms.append(try id(ofAddress: address)) }
    let group = try groupToPlay(in: rooms, named: name, takes: request.takes)
    noteUse(of: group)
    if request.takes {
      for room in plan.group(group.id)?.rooms ?? [] { connect(room, in: group.id, takes: true) }
    }
    if !request.effects.isEmpty { _ = try group.player.set(request.effects) }
    if let mode = request.repetition { _ = try group.player.set(mode) }
    let entries = request.shuffles ? wanted.shuffled() : wanted
    let place = self.name(ofGroup: group.id)
    var done = Done(group: group.id, said: "waits in \(place) for: tutti add FILE")
    guard let first = entries.first else { return done }
    _ = try group.edit(.add(entries, at: .now))
    let title = ItemName.text(title: first.title, artist: nil, location: first.location)
    let more =
      entries.count > 1 ? " and \(Player.count(entries.count - 1, "more item"))" : ""
    done.said = "plays \(title)\(more) in \(place)"
    return done
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

  private func id(ofAddress text: String) throws(Refusal) -> String {
    let (host, port) = try RoomWish.address(text)
    return RoomWish.text(host: host, port: port)
  }

  fileprivate func room(named name: String, in group: String?) throws(Refusal) -> String {
    let ids = group.flatMap { plan.group($0)?.rooms } ?? roomIDs
    if let id = ids.first(where: { isMeant($0, by: name) }) { return id }
    let names = ids.map(self.name(ofRoom:)).joined(separator: ", ")
    throw .unavailable("there is no room called \(name) here, but: \(names)")
  }
}

/// What a terminal calls the household's groups, rooms and entries.
private struct HouseNames: OrderNames {
  let house: House
  /// The group that is meant where none is named.
  let meant: String?

  func group(_ name: String) throws(Refusal) -> String {
    try house.group(named: name == Order.meantGroup ? meant : name).id
  }

  func room(_ name: String, in group: String?) throws(Refusal) -> String {
    try house.room(named: name, in: group)
  }

  /// One that was just found has told its identity, one that is named by its address is reached by that.
  func newRoom(_ name: String) throws(Refusal) -> String { name }

  func entry(_ number: Int, in group: String) throws(Refusal) -> Int {
    try house.group(group).player.item(number).id
  }

  func input(_ entry: Order.NewEntry) throws(Refusal) -> Order.NewEntry {
    try house.input(entry)
  }
}

extension ControlReply {
  fileprivate init(_ id: UInt64, _ result: Result<ControlAnswer, Refusal>) {
    switch result {
    case .success(let answer): self.init(id: id, .done(answer: answer))
    case .failure(let refusal): self.init(id: id, .refused(error: refusal))
    }
  }
}
