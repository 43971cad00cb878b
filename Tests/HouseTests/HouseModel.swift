import Clock
import Sender

@testable import House

/// An independent model of a household: its groups, their lists and music, and what the disk has of them.
struct HouseModel: Equatable {
  enum Music: Equatable {
    case resting, playing, paused
    /// Paused because no room can hear it.
    case waiting

    var isMeantToPlay: Bool { self == .playing || self == .waiting }
  }

  struct Undo: Equatable {
    var ids: [Int]
    /// The music after the undo; nil if it continues as it is.
    var music: Music?
    var order: [Int]?
  }

  /// Rooms that came from another group, and can go back while the list stays as it is.
  struct Merge: Equatable {
    var other: String
    var rooms: [String]
    var plays: Bool
  }

  /// The music that an input has interrupted that began by itself.
  struct Visit: Equatable {
    var entry: Int
    var isNew: Bool
    var before: Int?
    var wasPlaying: Bool
  }

  struct Group: Equatable {
    let id: String
    var name: String?
    var rooms: [String] = []
    var lastRoom: String?
    var ids: [Int] = []
    var nextEntry = 0
    var undo: Undo? { didSet { merge = nil } }
    var merge: Merge?
    /// The list before it was shuffled, with what was added since and without what was removed.
    var order: [Int]?
    /// As `order` before entries were added at a place that only the household knows.
    private var orderBefore: [Int]?
    var music = Music.resting
    var repetition = Playlist.Repetition.off
    var sleep: LocalTime?
    /// True if a room has made it sound since it began.
    var hasSounded = false
    /// Since when no room hears it.
    var unheardSince: LocalTime?
    /// Entries that are the input.
    var inputs: Set<Int> = []
    var visit: Visit?

    var isAbandoned: Bool { rooms.isEmpty && name == nil }

    init(id: String, name: String?) { (self.id, self.name) = (id, name) }

    /// New entries stand in the old order where their neighbours do.
    mutating func insert(_ new: [Int], at index: Int) {
      if ids.isEmpty { order = nil }
      orderBefore = order
      ids.insert(contentsOf: new, at: index)
      order = order.map { Self.sorted(ids, as: $0) }
    }

    /// The household alone knows where entries stand that it has shuffled, or has put behind none.
    mutating func adopt(_ ids: [Int]) {
      guard self.ids.sorted() == ids.sorted() else { return }
      self.ids = ids
      order = orderBefore.map { Self.sorted(ids, as: $0) } ?? order
      orderBefore = nil
    }

    mutating func forgetPlacing() { orderBefore = nil }

    /// Each new entry goes where the one before it goes; those at the end stay there.
    static func sorted(_ ids: [Int], as order: [Int]) -> [Int] {
      var sorted = order.filter(ids.contains)
      let end = ids.lastIndex(where: order.contains).map { $0 + 1 } ?? 0
      for place in ids.indices where !order.contains(ids[place]) {
        let before = place < end ? place == 0 ? -1 : sorted.firstIndex(of: ids[place - 1]) : nil
        sorted.insert(ids[place], at: before.map { $0 + 1 } ?? sorted.count)
      }
      return sorted
    }
  }

  private(set) var groups: [Group] = []
  private(set) var lastNumber = 0
  /// Groups in the order of their uses.
  private(set) var uses: [String] = []
  var pairs: [Pair] = []

  func group(_ id: String) -> Group? { groups.first { $0.id == id } }
  func group(ofRoom room: String) -> Group? { groups.first { $0.rooms.contains(room) } }
  var meant: String? { uses.last }

  mutating func with(_ id: String, _ body: (inout Group) -> Void) {
    if let index = groups.firstIndex(where: { $0.id == id }) { body(&groups[index]) }
  }

  mutating func use(_ id: String) {
    uses.removeAll { $0 == id }
    uses.append(id)
  }

  // MARK: - Rooms and groups

  mutating func create(_ some: [String], name: String?) -> String {
    let rooms = whole(some)
    if name == nil,
      let waiting = groups.last(where: { group in
        group.isAbandoned && group.lastRoom.map(rooms.contains) ?? false
      })
    {
      use(waiting.id)
      setRooms(of: waiting.id, to: rooms)
      return waiting.id
    }
    lastNumber += 1
    let id = "g\(lastNumber)"
    groups.append(Group(id: id, name: name))
    use(id)
    setRooms(of: id, to: rooms)
    return id
  }

  mutating func delete(_ id: String) {
    groups.removeAll { $0.id == id }
    uses.removeAll { $0 == id }
  }

  mutating func setRooms(of id: String, to some: [String]) {
    let rooms = whole(some)
    for room in rooms { move(room, to: id) }
    for room in group(id)?.rooms ?? [] where !rooms.contains(room) { take(room) }
    with(id) { group in group.rooms = rooms }
    forgetAbandoned()
  }

  mutating func join(_ rooms: [String], _ id: String) {
    let coming = whole(rooms).filter { group(ofRoom: $0)?.id != id }
    for room in coming { move(room, to: id) }
    if !coming.isEmpty { forgetAbandoned() }
  }

  mutating func leave(_ rooms: [String]) {
    for room in whole(rooms) { take(room) }
    forgetAbandoned()
  }

  mutating func merge(_ other: String, into id: String) {
    let rooms = group(other)?.rooms ?? []
    if !rooms.isEmpty {
      let plays = group(other)?.music.isMeantToPlay ?? false
      with(id) { $0.merge = Merge(other: other, rooms: rooms, plays: plays) }
    }
    for room in rooms { move(room, to: id) }
    forgetAbandoned()
  }

  func standingMerge(of id: String) -> Merge? {
    guard let group = group(id), let merge = group.merge,
      self.group(merge.other)?.rooms.isEmpty ?? false, Set(merge.rooms).isSubset(of: group.rooms)
    else { return nil }
    return merge
  }

  mutating func part(_ merge: Merge, from id: String) {
    with(id) { $0.merge = nil }
    setRooms(of: merge.other, to: merge.rooms)
    if merge.plays { with(merge.other) { if !$0.ids.isEmpty { $0.music = .playing } } }
  }

  private mutating func move(_ room: String, to id: String) {
    guard group(ofRoom: room)?.id != id else { return }
    take(room)
    with(id) { $0.rooms.append(room) }
  }

  /// Music that nobody can hear does not run on.
  private mutating func take(_ room: String) {
    guard let id = group(ofRoom: room)?.id else { return }
    with(id) { group in
      group.rooms.removeAll { $0 == room }
      group.lastRoom = group.rooms.isEmpty ? room : nil
      if group.rooms.isEmpty { group.music = .resting }
    }
  }

  mutating func forgetAbandoned() {
    let abandoned = groups.filter(\.isAbandoned)
    let merged = Set(groups.compactMap { standingMerge(of: $0.id)?.other })
    let useful = abandoned.filter {
      merged.contains($0.id) || $0.lastRoom != nil && (!$0.ids.isEmpty || $0.undo != nil)
    }
    for group in abandoned where !useful.suffix(8).contains(group) { delete(group.id) }
  }

  // MARK: - Time

  /// - Parameter isHeard: true if a room of the group plays it.
  mutating func pass(_ id: String, to now: LocalTime, isHeard: Bool, grace: Nanoseconds) {
    with(id) { group in
      if let sleep = group.sleep, sleep <= now {
        group.sleep = nil
        if group.music != .resting { group.music = .paused }
      }
      guard group.music != .resting, !group.rooms.isEmpty else {
        (group.hasSounded, group.unheardSince) = (false, nil)
        return
      }
      if isHeard {
        (group.hasSounded, group.unheardSince) = (true, nil)
        if group.music == .waiting { group.music = .playing }
      } else if group.music == .playing, group.hasSounded {
        let since = group.unheardSince ?? now
        group.unheardSince = since
        if now >= since + grace { (group.music, group.unheardSince) = (.waiting, nil) }
      } else {
        group.unheardSince = nil
      }
    }
  }

  // MARK: - Orders to a group. They return false if they must be refused.

  mutating func transport(_ id: String, _ transport: Order.Transport) -> Bool {
    use(id)
    var isDone = true
    with(id) { group in
      group.unheardSince = nil
      if group.music == .waiting { group.music = .paused }
      switch (transport, group.music) {
      case (.play, .resting): isDone = group.play()
      case (.play, _): group.music = .playing
      case (.pause, .playing): group.music = .paused
      case (.stop, _): group.music = .resting
      case (.pause, _), (.next, _), (.previous, _): break
      // No station plays.
      case (.live, _): isDone = false
      }
    }
    return isDone
  }

  /// - Parameter current: the entry that plays, or would be next.
  mutating func edit(_ id: String, _ edit: Order.QueueEdit, current: Int?) -> Bool {
    use(id)
    var isDone = false
    with(id) { isDone = $0.edit(edit, current: current) }
    return isDone
  }

  // MARK: - An input that begins by itself

  /// - Parameter current: the entry that plays, or to which the group was sent.
  mutating func begin(_ id: String, current: Int?) {
    use(id)
    with(id) { group in
      let known = group.ids.first(where: group.inputs.contains)
      let wasPlaying = group.music.isMeantToPlay
      if let known, known == current, wasPlaying { return }
      let entry = known ?? group.nextEntry
      if known == nil {
        group.nextEntry += 1
        group.inputs.insert(entry)
        group.insert([entry], at: current.flatMap(group.ids.firstIndex).map { $0 + 1 } ?? 0)
      }
      group.visit = Visit(
        entry: entry, isNew: known == nil, before: current, wasPlaying: wasPlaying)
      group.music = .playing
    }
  }

  /// - Parameter current: as of `begin`.
  mutating func end(_ id: String, current: Int?) {
    with(id) { group in
      guard let visit = group.visit else { return }
      group.visit = nil
      if current == visit.entry {
        let goesOn = visit.before.map(group.ids.contains) ?? false
        let plays = visit.wasPlaying && group.music.isMeantToPlay && goesOn
        group.music = plays ? .playing : .resting
      }
      if visit.isNew { group.ids.removeAll { $0 == visit.entry } }
    }
  }

  // MARK: - The disk

  /// What was not kept never was.
  mutating func revert(to kept: HouseModel) {
    let before = self
    (groups, uses) = (kept.groups, before.uses.filter { kept.group($0) != nil })
    pairs = kept.pairs
    for index in groups.indices {
      var group = groups[index]
      let now = before.group(group.id)
      (group.sleep, group.visit) = (now?.sleep, now?.visit)
      group.inputs.formUnion(now?.inputs ?? [])
      group.nextEntry = now?.nextEntry ?? group.nextEntry
      group.music = now?.music ?? .resting
      (group.hasSounded, group.unheardSince) = (now?.hasSounded ?? false, now?.unheardSince)
      groups[index] = group
    }
  }

  /// The process is killed, and begins with this. Returns true if music is to play on.
  func playsOn(at now: LocalTime) -> Bool {
    groups.contains { $0.music.isMeantToPlay && !$0.isAsleep(at: now) }
  }

  mutating func restart(playing: Bool, at now: LocalTime) {
    uses = []
    for index in groups.indices {
      var group = groups[index]
      let isAsleep = group.isAsleep(at: now)
      let plays =
        playing && !isAsleep && group.music.isMeantToPlay && !group.ids.isEmpty
        && !group.rooms.isEmpty
      if isAsleep { group.sleep = nil }
      group.visit = nil
      group.music = plays ? .playing : .resting
      (group.hasSounded, group.unheardSince) = (false, nil)
      groups[index] = group
    }
    forgetAbandoned()
  }
}

extension HouseModel.Group {
  typealias Undo = HouseModel.Undo

  /// True if its sleep timer has ended.
  fileprivate func isAsleep(at now: LocalTime) -> Bool { sleep.map { $0 <= now } ?? false }

  fileprivate mutating func play() -> Bool {
    guard !rooms.isEmpty, !ids.isEmpty else { return false }
    music = .playing
    return true
  }

  private var undoMusic: HouseModel.Music { music.isMeantToPlay ? .playing : .resting }

  fileprivate mutating func edit(_ edit: Order.QueueEdit, current: Int?) -> Bool {
    forgetPlacing()
    switch edit {
    case .add(let entries, at: .now):
      guard !rooms.isEmpty else { return false }
      undo = ids.isEmpty ? nil : Undo(ids: ids, music: undoMusic, order: order)
      (ids, order) = (add(entries.count), nil)
      music = .playing
    case .add(let entries, at: .nowAndKeep):
      guard !rooms.isEmpty else { return false }
      undo = ids.isEmpty ? nil : Undo(ids: ids, music: undoMusic, order: order)
      let place = current.flatMap(ids.firstIndex).map { $0 + 1 } ?? 0
      insert(add(entries.count), at: place)
      music = .playing
    case .add(let entries, let place):
      guard let index = index(of: place, last: ids.count + 1, current: current) else {
        return false
      }
      if ids.isEmpty, music == .resting, !rooms.isEmpty { music = .playing }
      insert(add(entries.count), at: index)
      undo = nil
    case .clear:
      if !ids.isEmpty { undo = Undo(ids: ids, music: undoMusic, order: order) }
      (ids, music, order) = ([], .resting, nil)
    case .clearOthers:
      guard let current, ids.contains(current) else { return false }
      if ids.count > 1 { undo = Undo(ids: ids, music: nil, order: order) }
      ids = [current]
    case .undo:
      guard let undo else { return false }
      (ids, order, self.undo) = (undo.ids, undo.order, nil)
      if let music = undo.music { self.music = rooms.isEmpty ? .resting : music }
    case .shuffle:
      guard !ids.isEmpty else { break }
      undo = Undo(ids: ids, music: nil, order: order)
      order = order ?? ids
    case .unshuffle:
      guard let order else { return false }
      if !ids.isEmpty { undo = Undo(ids: ids, music: nil, order: order) }
      (ids, self.order) = (Self.sorted(ids, as: order), nil)
    case .remove(let gone):
      guard Set(gone).isSubset(of: ids) else { return false }
      let endsMusic = current.map(gone.contains) ?? false
      undo = Undo(ids: ids, music: endsMusic ? undoMusic : nil, order: order)
      ids.removeAll(where: gone.contains)
    case .move(let id, let place): return move(id, to: place, current: current)
    case .play(let id):
      guard ids.contains(id) else { return false }
      return play()
    }
    return true
  }

  private mutating func move(_ id: Int, to place: Order.Place, current: Int?) -> Bool {
    guard ids.contains(id) else { return false }
    // The entry is there already.
    if place == .before(id) || place == .next && current == id { return true }
    let before = ids
    ids.removeAll { $0 == id }
    guard let index = index(of: place, last: ids.count + 1, current: current) else {
      ids = before
      return false
    }
    ids.insert(id, at: index)
    if ids != before { undo = Undo(ids: before, music: nil, order: order) }
    return true
  }

  private mutating func add(_ count: Int) -> [Int] {
    defer { nextEntry += count }
    return Array(nextEntry..<nextEntry + count)
  }

  /// Returns the index in the list without a moved entry; nil if there is no such place.
  private func index(of place: Order.Place, last: Int, current: Int?) -> Int? {
    switch place {
    case .now, .end, .waiting: ids.count
    case .next, .nowAndKeep: current.flatMap(ids.firstIndex).map { $0 + 1 } ?? 0
    case .before(let id): ids.firstIndex(of: id)
    case .number(let number): (1...last).contains(number) ? number - 1 : nil
    }
  }
}
