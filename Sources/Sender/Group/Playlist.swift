import Clock

/// The list of items to play, in order. Items have identities that are never used again, so one file may stand twice,
/// and enqueued items can be compared with the list however it was edited.
package struct Playlist {
  /// Items at most: more than anybody collects, and few enough to walk through for every edit.
  package static let limit = 65_536

  package enum Repetition: String, CaseIterable, Codable, Sendable {
    case off
    /// The current item, over and over.
    case one
    /// From the last item to the first.
    case all
  }

  /// With those in `removed`, which keep their place while something still plays or waits that must know what follows
  /// it.
  private var all: [PlayItem] = []
  private var removed: Set<Int> = []
  package private(set) var repetition = Repetition.off
  /// The identity of the next item that is added.
  package private(set) var nextID = 0
  /// The last item, if it plays only where no other can be had: then again and again. "Next" never leads to it.
  private(set) var fallback: PlayItem?

  package init(
    _ new: [PlaylistEntry] = [], repetition: Repetition = .off,
    otherwise entry: PlaylistEntry? = nil
  ) {
    self.repetition = repetition
    insert(new, .end)
    guard let entry else { return }
    insert([entry], .end)
    fallback = all.last
  }

  /// A list as it was, with the identities of its items, of which each occurs once. Those of later items are `nextID`
  /// and above.
  package init(restoring items: [PlayItem], nextID: Int, repetition: Repetition) {
    all = Array(items.prefix(Self.limit))
    self.nextID = items.reduce(nextID) { max($0, $1.id + 1) }
    self.repetition = repetition
  }

  /// Copies nothing where nothing has just been removed.
  package var items: [PlayItem] { removed.isEmpty ? all : all.filter(isPresent) }
  package var count: Int { all.count - removed.count }
  package var first: PlayItem? { all.first(where: isPresent) }

  package func contains(_ id: Int) -> Bool { item(id) != nil }

  package func item(_ id: Int) -> PlayItem? {
    removed.contains(id) ? nil : all.first { $0.id == id }
  }

  private func isPresent(_ item: PlayItem) -> Bool { !removed.contains(item.id) }
}

// MARK: - What follows

extension Playlist {
  /// Returns the item that plays after `item` has ended, even if `item` was removed; nil at the end of the list.
  func successor(of item: PlayItem) -> PlayItem? {
    if repetition == .one, contains(item.id) { return item }
    if item == fallback { return item }
    return neighbour(after: item)
  }

  /// Returns the item that plays after `item`, or first, if the items in `passed` cannot be played.
  func successor(of item: PlayItem?, passing passed: Set<Int>) -> PlayItem? {
    var next = item.map { successor(of: $0) } ?? first
    for _ in 0...passed.count {
      guard let candidate = next, passed.contains(candidate.id) else { return next }
      next = successor(of: candidate)
    }
    return fallback
  }

  /// Where "next" goes: an item that repeats is left.
  func neighbour(after item: PlayItem) -> PlayItem? {
    guard let index = index(of: item.id) else { return nil }
    let next = all[(index + 1)...].first { isPresent($0) && $0 != fallback }
    return next ?? (repetition == .all ? first : nil)
  }

  /// Where "previous" goes.
  func neighbour(before item: PlayItem) -> PlayItem? {
    guard let index = index(of: item.id) else { return nil }
    let previous = all[..<index].last(where: isPresent)
    return previous ?? (repetition == .all ? all.last(where: isPresent) : nil)
  }

  /// Locations of the items that play before and after it.
  func neighbours(of item: PlayItem) -> [String] {
    [neighbour(before: item), neighbour(after: item)].compactMap { $0?.location }
  }

  private func index(of id: Int) -> Int? { all.firstIndex { $0.id == id } }
}

// MARK: - Edits

/// A change of what is to be played. Items are named by their identities; those that do not exist are passed over.
package enum PlaylistEdit: Hashable, Sendable {
  case insert([PlaylistEntry], Place)
  case remove([Int])
  /// Others take an item's place.
  case replace(Int, with: [PlaylistEntry])
  case move(Int, Place)
  case clear
  /// These items in this order and no others: as they were before a clear, with their identities.
  case restore([PlayItem])
  /// All other items, behind the current one, in an order that `seed` alone decides.
  case shuffle(seed: UInt64)
  case setRepetition(Playlist.Repetition)

  package enum Place: Hashable, Sendable {
    case end
    /// Before the item that stands at this index, from 0; beyond the last: at the end.
    case index(Int)
    case after(Int)
    /// After the current item.
    case next
  }
}

extension Playlist {
  /// `current` is the item that plays. False where nothing changed.
  mutating func apply(_ edit: PlaylistEdit, current: PlayItem?) -> Bool {
    let before = self
    let items = before.items
    switch edit {
    case .insert(let new, let place): insert(new, place, current: current)
    case .remove(let ids): for id in ids { remove(id) }
    case .replace(let id, let new):
      guard contains(id) else { return false }
      // In a full list, the one must go before the others come. Its place stays known.
      remove(id)
      insert(new, .after(id), current: current)
    case .move(let id, let place): move(id, place, current: current)
    case .clear: removed.formUnion(all.lazy.map(\.id))
    case .restore(let items): restore(items)
    case .shuffle(let seed): shuffle(seed: seed, current: current)
    case .setRepetition(let repetition): self.repetition = repetition
    }
    let hasChanged = self.items != items || repetition != before.repetition
    // Removed items do not move either: else the same list could be followed by something else.
    if !hasChanged { self = before }
    return hasChanged
  }

  private mutating func insert(
    _ new: [PlaylistEntry], _ place: PlaylistEdit.Place, current: PlayItem? = nil
  ) {
    let added = new.prefix(max(0, Self.limit - count)).enumerated().map { offset, entry in
      PlayItem(
        id: nextID + offset, location: entry.location, title: entry.title, reach: entry.reach)
    }
    nextID += added.count
    all.insert(contentsOf: added, at: entryIndex(of: place, current: current))
  }

  private mutating func remove(_ id: Int) {
    if contains(id) { removed.insert(id) }
  }

  private mutating func restore(_ items: [PlayItem]) {
    var seen: Set<Int> = []
    let restored = items.filter { $0.id < nextID && seen.insert($0.id).inserted }
    all.removeAll { seen.contains($0.id) }
    removed = Set(all.lazy.map(\.id))
    all += restored.prefix(Self.limit)
  }

  private mutating func move(_ id: Int, _ place: PlaylistEdit.Place, current: PlayItem?) {
    guard contains(id), let index = index(of: id) else { return }
    if case .after(id) = place { return }
    if case .next = place, current?.id == id { return }
    let item = all.remove(at: index)
    all.insert(item, at: entryIndex(of: place, current: current))
  }

  private func entryIndex(of place: PlaylistEdit.Place, current: PlayItem?) -> Int {
    switch place {
    case .end: return all.count
    case .index(let number):
      if removed.isEmpty { return min(max(number, 0), all.count) }
      let present = all.indices.filter { isPresent(all[$0]) }
      return present.indices.contains(number) ? present[number] : number < 0 ? 0 : all.count
    case .after(let id): return index(of: id).map { $0 + 1 } ?? all.count
    case .next: return current.flatMap { index(of: $0.id) }.map { $0 + 1 } ?? 0
    }
  }

  private mutating func shuffle(seed: UInt64, current: PlayItem?) {
    var rest = all.filter { $0.id != current?.id }
    var random = SplitMix64(seed: seed)
    for last in stride(from: rest.count - 1, to: 0, by: -1) {
      rest.swapAt(last, Int(random.next() % UInt64(last + 1)))
    }
    all = all.filter { $0.id == current?.id } + rest
  }

  /// Removed items that nobody asks about any more need no place.
  mutating func forgetRemoved(except isNeeded: (Int) -> Bool) {
    let forgotten = removed.filter { !isNeeded($0) }
    guard !forgotten.isEmpty else { return }
    all.removeAll { forgotten.contains($0.id) }
    removed.subtract(forgotten)
  }
}
