import Sender

extension HouseGroup {
  package struct Edited {
    /// The identities of what was added.
    package var added: [Int] = []
    /// A few words about what was done.
    package var said: String?
  }

  package func edit(_ edit: Order.QueueEdit) throws(Refusal) -> Edited {
    if isOver, edit.leavesResting { send(.halt) }
    switch edit {
    case .add(let entries, at: .now):
      return Edited(added: try replace(with: entries), said: Self.count(entries) + " added")
    case .add(let entries, at: .nowAndKeep):
      return Edited(added: try playNow(entries), said: Self.count(entries) + " added")
    case .add(let entries, let place):
      return Edited(added: try add(entries, at: place), said: Self.count(entries) + " added")
    case .clear: return Edited(said: clear())
    case .clearOthers: return Edited(said: try clearOthers())
    case .undo: return Edited(said: try bringBack())
    case .play(let id):
      try player.check(id)
      try play(QueuePlace(turnOf: id))
      return Edited(said: player.chosen)
    case .shuffle:
      try shuffleList()
      return Edited(said: "shuffled")
    case .unshuffle:
      try restoreOrder()
      return Edited(said: "in the order as before")
    case .remove(let ids): return Edited(said: try remove(ids))
    case .move(let id, let place): return Edited(said: try move(id, to: place))
    }
  }

  private static func count(_ things: some Collection) -> String {
    Player.count(things.count, "item")
  }

  /// True if it has come to the end of its list. It goes on by itself as soon as an entry follows the last one there.
  private var isOver: Bool { isResting && !player.port.session.isHalted }

  /// The entry that it goes on with while it plays nothing.
  private var currentAtRest: Int? { isResting ? restingPlace?.entry : nil }

  private func replace(with entries: [Entry]) throws(Refusal) -> [Int] {
    try checkRooms()
    undo = nil
    keepForUndo("replaced")
    unshuffled = nil
    send(.edit(.clear))
    let added = try insert(entries, .end)
    try begin(added, entries)
    return added
  }

  /// Plays the first of what was added.
  private func begin(_ added: [Int], _ entries: [Entry]) throws(Refusal) {
    guard let first = added.first else { return }
    guard let start = entries.first?.startS else { return try play(QueuePlace(turnOf: first)) }
    try play(QueuePlace(entry: first, seconds: start))
  }

  private func clear() -> String {
    let count = items.count
    keepForUndo("cleared")
    (restingPlace, unshuffled) = (nil, nil)
    send(.halt)
    send(.edit(.clear))
    return Player.count(count, "item") + " removed"
  }

  private func clearOthers() throws(Refusal) -> String {
    guard let current = goal(player.status)?.entry, player.playlist.contains(current) else {
      throw .unavailable("no item is chosen that could stay; empty the whole list, or choose one")
    }
    let others = items.map(\.id).filter { $0 != current }
    return others.isEmpty ? "nothing else is in the list" : try remove(others)
  }

  /// The entries that were queued behind the current one follow these.
  private func playNow(_ entries: [Entry]) throws(Refusal) -> [Int] {
    try checkRooms()
    let before = (undo, merge)
    undo = nil
    keepForUndo("added", count: entries.count)
    let current = goal(player.status).flatMap { player.playlist.item($0.entry)?.id }
    let added: [Int]
    do {
      added = try insert(entries, current.map { .after($0) } ?? .index(0))
    } catch {
      (undo, merge) = before
      throw error
    }
    try begin(added, entries)
    return added
  }

  /// Entries that are added to an empty list begin, unless something else plays, or they are to wait.
  private func add(_ entries: [Entry], at place: Order.Place) throws(Refusal) -> [Int] {
    let begins = items.isEmpty && isResting && hasRooms && place != .waiting
    let added = try insert(entries, try player.place(place, current: currentAtRest))
    if begins { try begin(added, entries) }
    undo = nil
    return added
  }

  func insert(_ entries: [Entry], _ place: PlaylistEdit.Place) throws(Refusal) -> [Int] {
    if items.isEmpty { unshuffled = nil }
    let ids = try player.insert(entries, place)
    // Now their neighbours tell where they belong in the order before the shuffle. Later these may be gone.
    if let order = unshuffled {
      unshuffled = ShuffledList.restored(items.map(\.id), to: order)
    }
    for (id, entry) in zip(ids, entries) { player.details[id] = entry }
    forgetDetails()
    return ids
  }

  private func shuffleList() throws(Refusal) {
    let (before, ids) = ((undo, merge), items.map(\.id))
    keepForUndo("shuffled", movesPlace: false)
    do {
      try player.shuffleList()
      if let current = currentAtRest { send(.edit(.move(current, .index(0)))) }
    } catch {
      (undo, merge) = before
      throw error
    }
    if !ids.isEmpty { unshuffled = unshuffled ?? ids }
  }

  private func restoreOrder() throws(Refusal) {
    guard let order = unshuffled else { throw .unavailable("the list is not shuffled") }
    keepForUndo("unshuffled", movesPlace: false)
    unshuffled = nil
    let items = items
    let found = Dictionary(items.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let ids = ShuffledList.restored(items.map(\.id), to: order)
    send(.edit(.restore(ids.compactMap { found[$0] })))
  }

  private func move(_ id: Int, to place: Order.Place) throws(Refusal) -> String {
    let (before, ids) = ((undo, merge), items.map(\.id))
    keepForUndo("moved", count: 1, movesPlace: false)
    do {
      let said = try player.move(id, to: place, current: currentAtRest)
      if items.map(\.id) == ids { (undo, merge) = before }
      return said
    } catch {
      (undo, merge) = before
      throw error
    }
  }

  private func remove(_ ids: [Int]) throws(Refusal) -> String {
    for id in ids { try player.check(id) }
    let gone = Set(ids)
    let current = goal(player.status)?.entry
    keepForUndo(
      "removed", count: gone.count, movesPlace: current.map(gone.contains) ?? false)
    let items = items
    if let resting = restingPlace?.entry, gone.contains(resting) {
      restingPlace = items.drop { $0.id != resting }.first { !gone.contains($0.id) }
        .map { QueuePlace(turnOf: $0.id) }
    }
    send(.edit(.remove(ids)))
    return Player.count(gone.count, "item") + " removed"
  }

  private func keepForUndo(_ done: String, count: Int? = nil, movesPlace: Bool = true) {
    let (status, items) = (player.status, items)
    guard !items.isEmpty else { return }
    let place = movesPlace ? QueueUndo.Place(goal(status), wasPlaying: isPlaying(status)) : nil
    undo = QueueUndo(done, count ?? items.count, queueToStore, unshuffled: unshuffled, place)
  }

  func bringBack() throws(Refusal) -> String {
    guard let undo else { throw .unavailable("there is nothing to undo") }
    self.undo = nil
    let known = Dictionary(items.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    send(.edit(.restore(undo.queue.entries.map { known[$0.id] ?? $0.details.item($0.id) })))
    unshuffled = undo.unshuffled
    // With the ranks that they had, few rows of a long queue are written.
    if items.map(\.id) == undo.queue.ids { queue = (queueRevision, undo.queue) }
    forgetDetails()
    // Where only the order of the others has changed, what plays goes on.
    if let place = undo.place, place.wasPlaying, !rooms.isEmpty {
      try play(place.queue)
    } else if let place = undo.place {
      send(.halt)
      restingPlace = place.queue
    }
    return "undone: \(undo.sentence)"
  }

  /// Takes what is known of files, by their places, of which nothing was said when they were added.
  package func describe(_ files: [String: Entry]) {
    var known: [Int: Entry] = [:]
    for item in items {
      guard var entry = files[item.location], player.details[item.id]?.isBare ?? true else {
        continue
      }
      entry.title = player.details[item.id]?.title ?? entry.title
      entry.reach = item.reach
      known[item.id] = entry
    }
    guard !known.isEmpty else { return }
    player.details.merge(known) { $1 }
    queue.record.describe(known)
    undo?.queue.describe(known)
    noteDescription()
  }

  func narrow(among addresses: Set<String>) -> Set<String> {
    let undone = undo?.queue.entries.map { ($0.details.location, $0.details.reach) } ?? []
    let all = items.map { ($0.location, $0.reach) } + undone
    return Set(all.filter { $1 == .internet && addresses.contains($0) }.map(\.0))
  }

  /// Those of entries that an undo would bring back are kept.
  func forgetDetails() {
    guard player.details.count > 2 * max(items.count, 100) else { return }
    let kept = Set(items.map(\.id) + (undo?.queue.ids ?? []))
    player.details = player.details.filter { kept.contains($0.key) }
  }
}

extension Order.QueueEdit {
  /// True if a list that has come to its end is to stay there.
  fileprivate var leavesResting: Bool {
    switch self {
    case .add(_, at: .waiting), .shuffle, .unshuffle, .move: true
    case .add, .clear, .clearOthers, .undo, .remove, .play: false
    }
  }
}
