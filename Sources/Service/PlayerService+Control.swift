import Clock
import Driver
import LinuxIO
package import Sender
import WireProtocol

/// What other terminals ask for, carried out, each with an answer. People say numbers and names, the session wants
/// identities; whatever is out of range is refused here.
extension PlayerService {
  package func answer(_ request: ControlRequest) throws(Refusal) -> ControlAnswer {
    if case .silence(let rooms) = request { return try silence(rooms) }
    let done = try perform(request)
    return ControlAnswer(
      done: done, queue: request.isAboutTheList ? queue : nil, status: statusReport)
  }

  package func reply(to call: ControlCall) -> ControlReply {
    do throws(Refusal) {
      // A player has one group; whoever names a room of it means that.
      if let group = call.group { _ = try room(group) }
      if case .add(let entries, _) = call.request { try Self.refuseInputs(entries) }
      return ControlReply(id: call.id, .done(answer: try answer(call.request)))
    } catch {
      return ControlReply(id: call.id, .refused(error: error))
    }
  }

  /// Only a daemon has inputs.
  private static func refuseInputs(_ entries: [PlaylistEntry]) throws(Refusal) {
    for entry in entries {
      guard case .input(let name) = LiveLocation(entry.location) else { continue }
      throw .invalid("there is no file called \(name), and inputs play through: tutti serve")
    }
  }

  /// Throws where the session refuses it.
  @discardableResult
  package func carryOut(_ command: PlayerCommand) throws(Refusal) -> CommandOutcome {
    switch driver.carryOut(command) {
    case .success(let outcome): return outcome
    case .failure(.finished): throw .unavailable(CommandRefusal.finished.description)
    case .failure(let refusal): throw .invalid(refusal.description)
    }
  }

  private func perform(_ request: ControlRequest) throws(Refusal) -> String? {
    switch request {
    case .status, .queue, .groups, .silence: return nil
    case .play:
      throw .unavailable(
        "another player is running with this state directory; stop it with: tutti stop")
    case .end: return try transport(.stop)
    case .access: throw .unavailable("this player has no page; start one with: tutti serve")
    case .pause, .resume, .stop, .next, .previous: return try transport(request)
    case .seek(let seconds, let isRelative): return try seek(seconds, isRelative: isRelative)
    case .set(let change): return try set(change)
    case .effects(let change): return try setEffects(change)
    case .add, .remove, .move, .jump, .clear, .shuffle, .repeat: return try edit(request)
    case .join(let room): return try join(room)
    case .leave(let names): return try leave(names)
    }
  }

  /// Its own rooms, or all of them; others are somebody else's.
  private func silence(_ names: [String]) throws(Refusal) -> ControlAnswer {
    let receivers = driver.receivers
    let own = names.filter { name in meant(by: name) != nil }
    let ids = Set(own.compactMap(meant))
    var done: String?
    if names.isEmpty || ids.count == status.rooms.count {
      done = try perform(.stop)
    } else if !own.isEmpty {
      let rooms = status.rooms.filter { ids.contains($0.id) }
      done = try leave(rooms.map(\.name))
    }
    var answer = ControlAnswer(done: done, queue: nil, status: statusReport)
    answer.silenced = .init(rooms: own, receivers: receivers)
    return answer
  }

  private func transport(_ request: ControlRequest) throws(Refusal) -> String? {
    let before = status
    switch request {
    case .pause:
      try carryOut(.pause)
      return before.state == .paused ? "is paused already" : "paused"
    case .resume:
      try carryOut(.resume)
      return before.state == .paused ? "plays on" : "plays already"
    case .stop:
      try carryOut(.stop)
      return "stopped"
    case .next:
      try carryOut(.next)
      return before.next == nil ? "that was the last item" : chosen
    case .previous:
      try carryOut(.previous)
      return chosen
    default: return nil
    }
  }

  /// What was chosen last: it sounds in an instant.
  var chosen: String? {
    guard let item = status.chosen else { return nil }
    let number = items.firstIndex { $0.id == item.id }.map { "\($0 + 1): " } ?? ""
    return number + name(of: item)
  }

  private func seek(_ seconds: Double, isRelative: Bool) throws(Refusal) -> String? {
    let span = MediaDuration(seconds: seconds)
    if !isRelative, let duration = status.duration, span >= duration, span > .zero {
      let length = TimeText.format(duration.seconds)
      throw .invalid("the item is \(length) long; the next one: tutti next")
    }
    try carryOut(isRelative ? .seekBy(span) : .seek(to: span))
    let after = status
    let place = after.target ?? (isRelative ? after.position : span)
    let length = after.duration.map { " of " + TimeText.format($0.seconds) } ?? ""
    return "to " + TimeText.format(place.seconds) + length
  }

  private func set(_ change: RoomChange) throws(Refusal) -> String {
    var selections: [RoomSelection] = change.rooms.isEmpty ? [.all] : []
    for name in change.rooms { selections.append(.room(try room(name).id)) }
    var change = change
    if change.rooms.isEmpty, change.isStep, let step = change.volume {
      _ = try change.commands(for: .all)
      try changeVolume(by: step)
      change.volume = nil
    }
    for rooms in selections {
      for command in try change.commands(for: rooms) { try carryOut(command) }
    }
    let set = statusReport.rooms.enumerated().filter { index, _ in
      selections.contains { $0.contains(status.rooms[index].id) }
    }
    let sentences = set.map { $0.element.settingsSentence ?? "\($0.element.name): not connected" }
    return sentences.joined(separator: "\n")
  }

  /// Of all rooms: as many steps back as ahead leave each as loud as it was.
  package func changeVolume(by step: Double) throws(Refusal) {
    let set = status.rooms.compactMap { room in
      room.settings.map { (room.id, Double($0.volume) / 10) }
    }
    let names = Dictionary(set.map { ("\($0.0.number)", $0.0) }, uniquingKeysWith: { $1 })
    let now = Dictionary(set.map { ("\($0.0.number)", $0.1) }, uniquingKeysWith: { $1 })
    for (name, level) in volume.move(to: volume.level(of: now) + step, now) {
      guard let room = names[name] else { continue }
      try carryOut(.volume(.room(room), UInt16((level * 10).rounded())))
    }
  }

  private func setEffects(_ change: EffectsChange) throws(Refusal) -> String {
    if !change.isEmpty { try carryOut(.effects(try change.applied(to: status.effects))) }
    let sentence = statusReport.effects.longSentence
    return sentence.isEmpty ? "no effects" : sentence
  }

  // MARK: - The list

  private func edit(_ request: ControlRequest) throws(Refusal) -> String? {
    let before = items
    switch request {
    case .add(let entries, let number):
      try carryOut(.edit(.insert(entries, try place(number, last: items.count + 1))))
      return Self.count(entries.count, "item") + " added"
    case .remove(let numbers):
      var ids: [Int] = []
      for number in numbers { ids.append(try item(number).id) }
      try carryOut(.edit(.remove(ids)))
      return Self.count(Set(numbers).count, "item") + " removed"
    case .move(let number, let to):
      try carryOut(.edit(.move(try item(number).id, try place(to, last: items.count))))
      return "\(name(of: before[number - 1])) is number \(to)"
    case .jump(let number):
      try carryOut(.jump(to: try item(number).id))
      return chosen
    case .clear:
      try carryOut(.edit(.clear))
      return Self.count(before.count, "item") + " removed"
    case .shuffle:
      try shuffle()
      return "shuffled"
    case .repeat(let mode):
      guard let repetition = Playlist.Repetition(rawValue: mode) else {
        throw .invalid("repeat is off, one or all")
      }
      try carryOut(.edit(.setRepetition(repetition)))
      return ["off": "repeats nothing", "one": "repeats this item", "all": "repeats the list"][mode]
    default: return nil
    }
  }

  package func shuffle() throws(Refusal) {
    let seed: UInt64
    do {
      seed = try SystemRandom.number()
    } catch {
      throw Refusal(error)
    }
    try carryOut(.edit(.shuffle(seed: seed)))
  }

  func item(_ number: Int) throws(Refusal) -> PlayItem {
    let items = items
    guard (1...max(items.count, 1)).contains(number), !items.isEmpty else {
      let range = items.isEmpty ? "it is empty" : "it has 1 to \(items.count)"
      throw .invalid("there is no number \(number) in the list: \(range)")
    }
    return items[number - 1]
  }

  private func place(_ number: Int?, last: Int) throws(Refusal) -> PlaylistEdit.Place {
    guard let number else { return .end }
    if number == 0 { return .next }
    guard (1...max(last, 1)).contains(number) else {
      throw .invalid("there is no number \(number) to be had in the list: 1 to \(last)")
    }
    return .index(number - 1)
  }

  static func count(_ number: Int, _ thing: String) -> String {
    "\(number) \(thing)\(number == 1 ? "" : "s")"
  }

  /// The list as other terminals see it.
  var queue: [QueueEntry] {
    let status = status
    return items.enumerated().map { index, item in
      let opened = opened(item, status)
      return QueueEntry(
        number: index + 1, id: item.id, item: item.location,
        current: item.id == status.item?.item.id, title: opened?.title ?? item.title,
        artist: opened?.artist, durationS: opened?.duration?.seconds.rounded(to: 9))
    }
  }
}
