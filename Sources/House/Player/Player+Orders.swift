import Clock
package import Sender

extension Player {
  /// Throws if the session refuses the command.
  @discardableResult
  package func carryOut(_ command: PlayerCommand) throws(Refusal) -> CommandOutcome {
    switch port.carryOut(command) {
    case .success(let outcome): return outcome
    case .failure(.finished): throw .unavailable(CommandRefusal.finished.description)
    case .failure(let refusal): throw .invalid(refusal.description)
    }
  }

  package func transport(_ transport: Order.Transport) throws(Refusal) -> String? {
    let before = status
    switch transport {
    case .play:
      try carryOut(.resume)
      return before.state == .paused ? "plays on" : "plays already"
    case .pause:
      try carryOut(.pause)
      return before.state == .paused ? "is paused already" : "paused"
    case .stop:
      try carryOut(.stop)
      return "stopped"
    case .next:
      try carryOut(.next)
      return before.next == nil ? "that was the last item" : chosen
    case .previous:
      try carryOut(.previous)
      return chosen
    case .live:
      try carryOut(.live)
      return "live again"
    }
  }

  /// The name of the item that was chosen last, which sounds in an instant.
  package var chosen: String? {
    guard let item = status.chosen else { return nil }
    let number = items.firstIndex { $0.id == item.id }.map { "\($0 + 1): " } ?? ""
    return number + name(of: item)
  }

  package func seek(_ seconds: Double, isRelative: Bool) throws(Refusal) -> String {
    let span = MediaDuration(seconds: seconds)
    if !isRelative { try Self.check(span.seconds, within: status.duration?.seconds) }
    try carryOut(isRelative ? .seekBy(span) : .seek(to: span))
    let after = status
    let place = after.target ?? (isRelative ? after.position : span)
    return Self.place(place.seconds, of: after.duration?.seconds)
  }

  /// Throws if a place that somebody names, in seconds, is beyond the end of its item.
  static func check(_ place: Double, within length: Double?) throws(Refusal) {
    guard let length, place >= length, place > 0 else { return }
    throw .invalid("the item is only \(TimeText.format(length)) long")
  }

  /// Such as `to 1:30 of 3:00`.
  static func place(_ seconds: Double, of length: Double?) -> String {
    "to " + TimeText.format(seconds) + (length.map { " of " + TimeText.format($0) } ?? "")
  }

  /// Changes the settings of all rooms. The volume is that of all together.
  package func set(_ change: RoomChange) throws(Refusal) -> String {
    _ = try change.commands(for: .all)
    var rest = change
    if change.volumeLimit != nil {
      _ = try set(RoomChange(volumeLimit: change.volumeLimit), in: [.all])
      rest.volumeLimit = nil
    }
    if let volume = change.volume {
      try setVolume(volume, isStep: change.isStep)
      (rest.volume, rest.isStep) = (nil, false)
    }
    return try set(rest, in: [.all])
  }

  package func set(_ change: RoomChange, in selections: [RoomSelection]) throws(Refusal) -> String {
    for rooms in selections {
      for command in try change.commands(for: rooms) { try carryOut(command) }
    }
    let set = status.rooms.filter { room in selections.contains { $0.contains(room.id) } }
    let sentences = set.map { room in
      StatusReport.Room(room).settingsSentence ?? "\(room.name): not connected"
    }
    return sentences.joined(separator: "\n")
  }

  package func set(_ change: EffectsChange) throws(Refusal) -> String {
    if !change.isEmpty { try carryOut(.effects(try change.applied(to: status.effects))) }
    let sentence = EffectsReport(status.effects).longSentence
    return sentence.isEmpty ? "no effects" : sentence
  }

  package func set(_ repetition: Playlist.Repetition) throws(Refusal) -> String {
    try carryOut(.edit(.setRepetition(repetition)))
    return switch repetition {
    case .off: "repeats nothing"
    case .one: "repeats this item"
    case .all: "repeats the list"
    }
  }

  // MARK: - The list

  package func insert(
    _ entries: [Order.NewEntry], _ place: PlaylistEdit.Place
  ) throws(Refusal) -> [Int] {
    guard case .added(let ids) = try carryOut(.edit(.insert(entries.map(\.listed), place))) else {
      return []
    }
    return Array(ids)
  }

  /// - Parameters:
  ///   - moved: an entry that is about to move there: places are counted in the list without it.
  ///   - current: the entry to play next, if nothing plays.
  package func place(
    _ place: Order.Place, without moved: Int? = nil, current: Int? = nil
  ) throws(Refusal) -> PlaylistEdit.Place {
    switch place {
    case .now, .end, .waiting: return .end
    case .next, .nowAndKeep: return current.map { .after($0) } ?? .next
    case .before(let id):
      try check(id)
      let items = items
      let index = items.firstIndex { $0.id == id } ?? items.count
      return .index(items[..<index].contains { $0.id == moved } ? index - 1 : index)
    case .number(let number):
      let last = items.count + (moved == nil ? 1 : 0)
      guard (1...max(last, 1)).contains(number) else {
        throw .invalid("there is no place \(number) in the list; its places are 1 to \(last)")
      }
      return .index(number - 1)
    }
  }

  package func check(_ id: Int) throws(Refusal) {
    guard playlist.contains(id) else {
      throw .noSuch("that entry is not in the queue any more")
    }
  }

  /// Moves an entry, and returns a sentence with its new number.
  package func move(_ id: Int, to place: Order.Place, current: Int? = nil) throws(Refusal) -> String
  {
    try check(id)
    if place != .before(id) {
      let place = try self.place(place, without: id, current: current)
      try carryOut(.edit(.move(id, place)))
    }
    let items = items
    guard let index = items.firstIndex(where: { $0.id == id }) else { return "moved" }
    return "\(name(of: items[index])) is number \(index + 1)"
  }

  package func shuffleList() throws(Refusal) {
    try carryOut(.edit(.shuffle(seed: random.next())))
  }

  package func item(_ number: Int) throws(Refusal) -> PlayItem {
    let items = items
    guard (1...max(items.count, 1)).contains(number), !items.isEmpty else {
      let range = items.isEmpty ? "it is empty" : "it has 1 to \(items.count)"
      throw .invalid("there is no number \(number) in the list: \(range)")
    }
    return items[number - 1]
  }

  package static func count(_ number: Int, _ thing: String) -> String {
    "\(number) \(thing)\(number == 1 ? "" : "s")"
  }
}
