import Clock
import Driver
package import House
import Sender

/// The answers of a player in the foreground to other terminals. It has one group, which ends with
/// it.
extension PlayerService: OrderNames {
  package func reply(to call: ControlCall) -> ControlReply {
    do throws(Refusal) {
      if let group = call.group { _ = try room(group) }
      return ControlReply(id: call.id, .done(answer: try answer(call.request, call.rooms ?? [])))
    } catch {
      return ControlReply(id: call.id, .refused(error: error))
    }
  }

  func answer(
    _ request: ControlRequest, _ records: [RoomRecord] = []
  ) throws(Refusal) -> ControlAnswer {
    var answer = ControlAnswer()
    switch request {
    case .status, .groups: break
    case .queue: answer.queue = player.queue
    case .order(let order):
      for record in records { driver.host.know(record) }
      answer.done = try perform(try order.resolved(by: self))
      if order.isAboutTheList { answer.queue = player.queue }
    case .silence(let rooms): (answer.done, answer.silenced) = try silence(rooms)
    case .play:
      throw .unavailable(
        "another player is running with this state directory; stop it with: tutti stop")
    case .end: answer.done = try player.transport(.stop)
    case .save, .announce: throw Self.onlyHouse
    case .access: throw .unavailable("this player has no page; start one with: tutti serve")
    case .pairing: throw .unavailable("only a daemon pairs rooms for others")
    case .library: throw .unavailable("this player has no library; start one with: tutti serve")
    }
    answer.status = statusReport
    return answer
  }

  private func perform(_ order: Order) throws(Refusal) -> String? {
    switch order {
    case .transport(_, let transport): return try player.transport(transport)
    case .seek(_, let seconds, let isRelative):
      return try player.seek(seconds, isRelative: isRelative)
    case .edit(_, let edit, _): return try perform(edit)
    case .set(let rooms, let change):
      return try player.set(
        change, in: rooms.map { name throws(Refusal) in .room(try room(name).id) })
    case .join(_, let room, _): return try join(room)
    case .leave(_, let rooms): return try leave(rooms)
    case .change(_, let change):
      guard change.name == nil, change.roomIds == nil, change.sleepInS == nil else {
        throw Self.onlyHouse
      }
      let said = [
        try change.effects.map { effects throws(Refusal) in try player.set(effects) },
        try change.repeat.map { repetition throws(Refusal) in try player.set(repetition) },
        change.rooms.isEmpty ? nil : try player.set(change.rooms),
      ]
      return said.compactMap(\.self).joined(separator: "\n")
    case .createGroup, .deleteGroup, .merge, .identify: throw Self.onlyHouse
    }
  }

  private static let onlyHouse = Refusal.unavailable(
    "a player in a terminal cannot do that; a daemon can: tutti serve")

  private func perform(_ edit: Order.QueueEdit) throws(Refusal) -> String? {
    switch edit {
    case .add(_, at: .now), .undo: throw Self.onlyHouse
    case .add(let entries, let place):
      _ = try player.insert(entries, try player.place(place))
      return Player.count(entries.count, "item") + " added"
    case .clear:
      let count = items.count
      try player.carryOut(.edit(.clear))
      return Player.count(count, "item") + " removed"
    case .shuffle:
      try player.shuffleList()
      return "shuffled"
    case .remove(let ids):
      try player.carryOut(.edit(.remove(ids)))
      return Player.count(Set(ids).count, "item") + " removed"
    case .move(let id, let place): return try player.move(id, to: place)
    case .play(let id):
      try player.carryOut(.jump(to: id))
      return player.chosen
    }
  }

  /// Silences the named rooms, or all if none is named. Names of rooms that are not the player's are
  /// left out of the answer.
  private func silence(
    _ names: [String]
  ) throws(Refusal) -> (done: String?, ControlAnswer.Silenced) {
    let receivers = driver.receivers
    let own = names.filter { name in meant(by: name) != nil }
    let ids = Set(own.compactMap(meant))
    var done: String?
    if names.isEmpty || ids.count == status.rooms.count {
      done = try player.transport(.stop)
    } else if !own.isEmpty {
      let rooms = status.rooms.filter { ids.contains($0.id) }
      done = try leave(rooms.map(\.name))
    }
    return (done, .init(rooms: own, receivers: receivers))
  }

  // MARK: - Names

  package func group(_ name: String) throws(Refusal) -> String { name }

  package func room(_ name: String, in group: String?) throws(Refusal) -> String {
    try room(name).name
  }

  package func newRoom(_ name: String) throws(Refusal) -> String { name }

  package func entry(_ number: Int, in group: String) throws(Refusal) -> Int {
    try player.item(number).id
  }

  /// Throws if the entry is an input, because only a daemon has inputs.
  package func input(_ entry: Order.NewEntry) throws(Refusal) -> Order.NewEntry {
    guard case .input(let name) = LiveLocation(entry.location) else { return entry }
    throw .invalid("there is no file called \(name), and inputs play through: tutti serve")
  }
}

extension GroupDriver: GroupPlayer {}

extension Player {
  /// The list as terminals see it.
  var queue: [QueueEntry] {
    let status = status
    return items.enumerated().map { index, item in
      let opened = opened(item, status)
      return QueueEntry(
        number: index + 1, id: item.id, item: item.location,
        current: item.id == status.item?.item.id, title: opened?.metadata.title ?? item.title,
        artist: opened?.metadata.artist, durationS: opened?.duration?.seconds.rounded(to: 9))
    }
  }
}
