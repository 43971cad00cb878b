/// Computes what a listener must hear in a simple way: with a list, and every single frame of the stream. It knows
/// nothing of segments, packets and generations.
package struct PlaylistModel {
  package struct Entry {
    package var id: Int
    package var length: Int
    package var isRemoved = false
  }

  /// A frame of an item.
  package struct Frame: Hashable, Sendable {
    package var item: Int
    package var frame: Int
  }

  package enum Repetition: String, Sendable {
    case off
    case one
    case all
  }

  package private(set) var entries: [Entry] = []
  package var repetition = Repetition.off
  /// The planned frames, by stream frame; nil in silence.
  package private(set) var plan: [Frame?] = []
  /// The place of the last choice. Earlier places do not matter any more.
  private var chosen = 0
  /// The item after which the list continues if the plan was cut off in an unwanted item; otherwise the list's last
  /// item.
  private var predecessor: Int?
  private var nextID = 0
  /// The length of plans if the list repeats, in frames: more than is produced.
  private static let horizon = 50_000
  private var isEndless = false

  package init() {}

  package var present: [Entry] { entries.filter { !$0.isRemoved } }

  package func entry(_ id: Int) -> Entry? { entries.first { $0.id == id } }

  /// Returns the item that plays at a stream frame, or was chosen to play next; in silence, the item before it. Nil
  /// if everything has been played.
  package func current(at playhead: Int) -> Entry? {
    place(at: playhead).flatMap { plan[$0] }.flatMap { entry($0.item) }
  }

  private func place(at playhead: Int) -> Int? {
    let place = max(playhead, chosen)
    return place < plan.count ? plan[...place].lastIndex { $0 != nil } : nil
  }

  /// Number of frames up to the last one that sounds.
  package var soundingCount: Int { (plan.lastIndex { $0 != nil } ?? -1) + 1 }

  package func isSilent(at frame: Int) -> Bool { frame < plan.count && plan[frame] == nil }
}

// MARK: - The list

extension PlaylistModel {
  package mutating func insert(_ lengths: [Int], before index: Int) {
    let places = entries.indices.filter { !entries[$0].isRemoved }
    let place = places.indices.contains(index) ? places[index] : entries.count
    insert(lengths, at: place)
  }

  package mutating func insert(_ lengths: [Int], after id: Int) {
    insert(lengths, at: (entries.firstIndex { $0.id == id } ?? -1) + 1)
  }

  private mutating func insert(_ lengths: [Int], at place: Int) {
    entries.insert(
      contentsOf: lengths.enumerated().map { Entry(id: nextID + $0.offset, length: $0.element) },
      at: place)
    nextID += lengths.count
  }

  package mutating func remove(_ id: Int) {
    for index in entries.indices where entries[index].id == id { entries[index].isRemoved = true }
  }

  package mutating func move(_ id: Int, before index: Int) {
    guard let from = entries.firstIndex(where: { $0.id == id }) else { return }
    let old = entries
    let entry = entries.remove(at: from)
    let places = entries.indices.filter { !entries[$0].isRemoved }
    entries.insert(entry, at: places.indices.contains(index) ? places[index] : entries.count)
    if present.map(\.id) == old.filter({ !$0.isRemoved }).map(\.id) { entries = old }
  }

  package mutating func removeAll() { for entry in entries { remove(entry.id) } }

  /// Takes over the order of a shuffle, which is random by nature.
  package mutating func reorder(_ ids: [Int]) {
    guard present.map(\.id) != ids else { return }
    entries = entries.filter(\.isRemoved) + ids.compactMap { id in entries.first { $0.id == id } }
  }

  /// Returns the item after `id` in the list, even if that repeats.
  package func neighbour(after id: Int) -> Entry? {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
    return entries[(index + 1)...].first { !$0.isRemoved }
      ?? (repetition == .all ? present.first : nil)
  }

  package func neighbour(before id: Int) -> Entry? {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
    return entries[..<index].last { !$0.isRemoved }
      ?? (repetition == .all ? present.last : nil)
  }

  private func successor(of id: Int) -> Entry? {
    if repetition == .one, let entry = entry(id), !entry.isRemoved { return entry }
    return neighbour(after: id)
  }
}

// MARK: - The stream

extension PlaylistModel {
  /// Continues by the list. `playhead` sounds, and from `commit` on everything can still be changed. Returns the
  /// first frame that differs from the plan; nil if there is none.
  package mutating func carryOn(playhead: Int, commit: Int) -> Int? {
    guard max(playhead, chosen) < plan.count else { return append(at: max(plan.count, commit)) }
    guard let place = place(at: playhead), let current = plan[place],
      let entry = entry(current.item)
    else { return nil }
    if entry.isRemoved {
      cut(at: max(playhead, chosen, commit))
      chosen = plan.count
      play(from: neighbour(after: entry.id), after: entry.id)
      return chosen
    }
    let (old, wasEndless) = (plan, isEndless)
    // If the next item could not begin in time, an edit does not make it begin earlier.
    let end = place + entry.length - current.frame
    cut(at: old.indices.contains(end) ? old[end...].firstIndex { $0 != nil } ?? end : end)
    play(from: successor(of: entry.id))
    guard let mismatch = firstDifference(from: old, wasEndless) else { return nil }
    guard mismatch < commit else { return mismatch }
    let next = mismatch < plan.count ? plan[mismatch]?.item : nil
    let before = plan.prefix(mismatch).last { $0 != nil }??.item
    plan = old
    cut(at: commit)
    // Only at the old end is nothing cut off.
    if mismatch < old.count { chosen = commit }
    play(from: next.flatMap { self.entry($0) }, after: before)
    return commit
  }

  /// A listener's choice: from `commit` on, the item plays from its frame `frame`.
  package mutating func jump(to id: Int, at frame: Int = 0, commit: Int) {
    cut(at: commit)
    chosen = commit
    play(from: entry(id), at: frame)
  }

  /// Plays nothing from `commit` on, until something is inserted after `id`.
  package mutating func halt(after id: Int, commit: Int) {
    cut(at: commit)
    chosen = commit
    play(from: nil, after: id)
  }

  private mutating func append(at time: Int) -> Int? {
    let last = predecessor ?? plan.last { $0 != nil }??.item
    let next = last.map { successor(of: $0) } ?? present.first
    guard next != nil else { return nil }
    cut(at: time)
    play(from: next)
    return time
  }

  private func firstDifference(from old: [Frame?], _ wasEndless: Bool) -> Int? {
    let count = min(old.count, plan.count)
    if let place = (chosen..<max(chosen, count)).first(where: { plan[$0] != old[$0] }) {
      return place
    }
    return old.count == plan.count || wasEndless && isEndless ? nil : count
  }

  private mutating func cut(at frame: Int) {
    plan.removeLast(max(0, plan.count - frame))
    while plan.count < frame { plan.append(nil) }
  }

  private mutating func play(from entry: Entry?, at frame: Int = 0, after last: Int? = nil) {
    predecessor = entry == nil ? last : nil
    var next = entry
    var first = frame
    let limit = plan.count + Self.horizon
    while let entry = next, plan.count < limit {
      for frame in min(first, entry.length)..<entry.length {
        plan.append(Frame(item: entry.id, frame: frame))
      }
      first = 0
      next = successor(of: entry.id)
    }
    isEndless = next != nil
  }
}
