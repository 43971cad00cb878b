@testable import Sender

/// What a listener must hear, worked out the simple way: a list, and every single frame that the stream is made of.
struct PlaylistModel {
  struct Entry {
    var id: Int
    var length: Int
    var isRemoved = false
  }

  private(set) var entries: [Entry] = []
  var repetition = Playlist.Repetition.off
  /// By stream frame; nil in silence.
  private(set) var plan: [Float?] = []
  /// Which item each frame of the plan belongs to, and where items begin.
  private var owners: [(id: Int, frame: Int)?] = []
  /// The place of the last choice: what comes before it does not matter any more.
  private var chosen = 0
  /// After what the list goes on where the plan was cut off in something that is not wanted; else its last item.
  private var predecessor: Int?
  private var nextID = 0
  /// Where the list repeats, plans reach so much farther, which is more than is produced.
  private static let horizon = 50_000
  private var isEndless = false

  var present: [Entry] { entries.filter { !$0.isRemoved } }

  /// The item that sounds at a stream frame, or the last one before it.
  func owner(at frame: Int) -> Int? {
    let place = max(frame, chosen)
    return owners.prefix(place + 1).last { $0 != nil }??.id
  }

  /// Frames up to the last one that sounds.
  var soundingCount: Int { (plan.lastIndex { $0 != nil } ?? -1) + 1 }

  func isSilent(at frame: Int) -> Bool { frame < plan.count && plan[frame] == nil }

  // MARK: - The list

  mutating func insert(_ lengths: [Int], before index: Int) {
    let places = entries.indices.filter { !entries[$0].isRemoved }
    let place = places.indices.contains(index) ? places[index] : entries.count
    insert(lengths, at: place)
  }

  mutating func insert(_ lengths: [Int], after id: Int) {
    insert(lengths, at: (entries.firstIndex { $0.id == id } ?? -1) + 1)
  }

  private mutating func insert(_ lengths: [Int], at place: Int) {
    entries.insert(
      contentsOf: lengths.enumerated().map { Entry(id: nextID + $0.offset, length: $0.element) },
      at: place)
    nextID += lengths.count
  }

  mutating func remove(_ id: Int) {
    for index in entries.indices where entries[index].id == id { entries[index].isRemoved = true }
  }

  mutating func move(_ id: Int, before index: Int) {
    guard let from = entries.firstIndex(where: { $0.id == id }) else { return }
    let old = entries
    let entry = entries.remove(at: from)
    let places = entries.indices.filter { !entries[$0].isRemoved }
    entries.insert(entry, at: places.indices.contains(index) ? places[index] : entries.count)
    if present.map(\.id) == old.filter({ !$0.isRemoved }).map(\.id) { entries = old }
  }

  mutating func removeAll() { for entry in entries { remove(entry.id) } }

  /// Takes over the order of a shuffle, which is random by nature.
  mutating func reorder(_ ids: [Int]) {
    guard present.map(\.id) != ids else { return }
    entries = entries.filter(\.isRemoved) + ids.compactMap { id in entries.first { $0.id == id } }
  }

  private func successor(of id: Int, leavesRepeated: Bool = false) -> Entry? {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
    if repetition == .one, !leavesRepeated, !entries[index].isRemoved { return entries[index] }
    let next = entries[(index + 1)...].first { !$0.isRemoved }
    return next ?? (repetition == .all ? present.first : nil)
  }

  // MARK: - The stream

  /// Plays on by the list. `playhead` sounds, and from `commit` on everything can still be changed. Answers the first
  /// frame that is not as it was planned; nil if all is.
  mutating func carryOn(playhead: Int, commit: Int) -> Int? {
    let place = max(playhead, chosen)
    guard place < plan.count else { return append(at: max(plan.count, commit)) }
    guard let current = owners[place], let entry = entries.first(where: { $0.id == current.id })
    else { return nil }
    let (old, oldOwners, wasEndless) = (plan, owners, isEndless)
    if entry.isRemoved {
      cut(at: max(place, commit))
      chosen = plan.count
      play(from: successor(of: entry.id, leavesRepeated: true), after: entry.id)
      return chosen
    }
    cut(at: place + entry.length - current.frame)
    play(from: successor(of: entry.id))
    guard let mismatch = firstDifference(from: old, wasEndless) else { return nil }
    guard mismatch < commit else { return mismatch }
    let next = mismatch < plan.count ? owners[mismatch]?.id : nil
    let before = owners.prefix(mismatch).last { $0 != nil }??.id
    (plan, owners) = (old, oldOwners)
    cut(at: commit)
    // What was the end is the only place where nothing is cut off.
    if mismatch < old.count { chosen = commit }
    play(from: entries.first { $0.id == next }, after: before)
    return commit
  }

  mutating func jump(to id: Int, commit: Int) {
    cut(at: commit)
    chosen = commit
    play(from: entries.first { $0.id == id })
  }

  private mutating func append(at time: Int) -> Int? {
    let last = predecessor ?? owners.last { $0 != nil }??.id
    let next = last.map { successor(of: $0) } ?? present.first
    guard next != nil else { return nil }
    cut(at: time)
    play(from: next)
    return time
  }

  private func firstDifference(from old: [Float?], _ wasEndless: Bool) -> Int? {
    let count = min(old.count, plan.count)
    if let place = (chosen..<max(chosen, count)).first(where: { plan[$0] != old[$0] }) {
      return place
    }
    return old.count == plan.count || wasEndless && isEndless ? nil : count
  }

  private mutating func cut(at frame: Int) {
    plan.removeLast(max(0, plan.count - frame))
    owners.removeLast(max(0, owners.count - frame))
    while plan.count < frame {
      plan.append(nil)
      owners.append(nil)
    }
  }

  private mutating func play(from entry: Entry?, after last: Int? = nil) {
    predecessor = entry == nil ? last : nil
    var next = entry
    let limit = plan.count + Self.horizon
    while let entry = next, plan.count < limit {
      for frame in 0..<entry.length {
        plan.append(ItemSample.value(item: entry.id, frame: frame))
        owners.append((entry.id, frame))
      }
      next = successor(of: entry.id)
    }
    isEndless = next != nil
  }
}
