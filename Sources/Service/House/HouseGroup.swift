import Clock
import Driver
import House
import LinuxIO
import Sender
import WireProtocol

import enum House.Refusal

/// A group of a household: a player that never ends by itself, what is known of its entries, and where it goes on while
/// it plays nothing. For the loop's thread.
final class HouseGroup {
  typealias Entry = Order.NewEntry

  let id: String
  let player: PlayerService
  /// Grows with every edit of the list.
  private(set) var queueRevision: UInt64
  private(set) var undo: QueueUndo?
  /// What was said of entries when they were added.
  private(set) var details: [Int: Entry]
  var volume = GroupVolume()
  /// When the sleep timer ends the music.
  var sleepTime: LocalTime?
  /// What the rooms are called here that the player has, by their identities in the household.
  private(set) var rooms: [String: RoomID] = [:]
  /// Rooms that another sender has taken.
  private(set) var lost: Set<String> = []
  /// Rooms that ask for their PIN first.
  private(set) var unpaired: Set<String> = []
  /// What inputs that began by themselves have interrupted, by their names.
  var visits: [String: InputVisit] = [:]
  /// Grows with every use: the group that was used last is meant where none is named.
  var lastUse: UInt64 = 0
  /// Where it goes on while it plays nothing; nil is the first entry.
  var restingPlace: QueuePlace?
  /// Whether it plays in a room, be it away.
  var hasRooms: () -> Bool = { true }
  private var absence = RoomAbsence()
  /// As it was at `queueRevision` or before.
  private var queue: (revision: UInt64, record: QueueRecord)

  init(
    _ record: HouseRecord.Group, on host: GroupHost, _ settings: House.Settings,
    _ inputs: LiveInputs
  ) throws(Refusal) {
    id = record.id
    queueRevision = record.revision
    restingPlace = record.place
    queue = (record.revision, record.queue)
    details = Dictionary(
      record.queue.entries.map { ($0.id, $0.details) }, uniquingKeysWith: { $1 })
    do {
      player = try PlayerService(
        host: host,
        settings: .init(
          senderName: settings.name, endsWithPlaylist: false, rooms: nil, directory: nil),
        playlist: record.playlist,
        sources: try PlaybackSources(settings.encoding, inputs: inputs))
    } catch {
      throw .unavailable("the group cannot be made: \(error)")
    }
    player.known = { [unowned self] in details[$0] }
    carryOut(.halt)
    if record.effects.problem == nil { carryOut(.effects(record.effects)) }
  }

  var driver: GroupDriver { player.driver }
  var items: [PlayItem] { player.items }
  /// Whether its rooms were told that it ends.
  var hasEnded: Bool { driver.session.isFinished }
  /// Whether it plays nothing, and nothing is on its way.
  var isResting: Bool { isResting(player.status) }

  func isResting(_ status: GroupStatus) -> Bool {
    driver.session.isHalted || status.state == .stopped || status.state == .finished
  }

  /// What happened to the player.
  func note(_ change: GroupEvent.Change) {
    switch change {
    case .playlistChanged: queueRevision += 1
    case .stopped: if !driver.session.isHalted { restingPlace = nil }
    case .room(let room, .replaced):
      if let id = rooms.first(where: { $0.value == room.id })?.key { lost.insert(id) }
    case .room(let room, .notPaired):
      if let id = rooms.first(where: { $0.value == room.id })?.key { unpaired.insert(id) }
    case .room(let room, .connected):
      if let id = rooms.first(where: { $0.value == room.id })?.key {
        lost.remove(id)
        unpaired.remove(id)
      }
    default: break
    }
  }

  /// False where it did not ask for its PIN.
  func wasPaired(_ room: String) -> Bool { unpaired.remove(room) != nil }

  /// The session refuses none of these.
  func carryOut(_ command: PlayerCommand) { driver.carryOut(command) }

  // MARK: - Where it is

  /// What it plays, or goes on with.
  func place(_ status: GroupStatus) -> QueuePlace? {
    if !isResting(status), let item = status.item {
      return QueuePlace(entry: item.item.id, seconds: status.position.seconds.rounded(to: 3))
    }
    guard !isResting(status), let chosen = status.chosen, chosen.id != restingPlace?.entry else {
      return restingPlace
    }
    return QueuePlace(entry: chosen.id, seconds: 0)
  }

  /// Where it is to go on after a restart: where somebody has sent it, though that does not sound yet.
  private func goal(_ status: GroupStatus) -> QueuePlace? {
    guard !isResting(status), let chosen = status.chosen, let target = status.target else {
      return place(status)
    }
    return QueuePlace(entry: chosen.id, seconds: target.seconds.rounded(to: 3))
  }

  /// Whether it is to play on after a restart.
  func isPlaying(_ status: GroupStatus) -> Bool {
    !isResting(status) && (status.state != .paused || absence.hasPaused)
  }

  // MARK: - Transport

  /// What the orders of a group do besides what they do to its player: returns what was done, in a few words.
  @discardableResult
  func transport(_ order: Order.Transport) throws(Refusal) -> String? {
    absence.userDecided()
    let isResting = isResting
    switch order {
    case .play where isResting:
      try play(restingPlace)
      return "plays on"
    case .pause where isResting: return "is stopped"
    case .stop: return stop()
    case .next where isResting: return moveRest(by: 1)
    case .previous where isResting: return moveRest(by: -1)
    case .play, .pause, .next, .previous: return try player.transport(order)
    }
  }

  private func stop() -> String {
    restingPlace = place(player.status).map { QueuePlace(entry: $0.entry, seconds: 0) }
    carryOut(.halt)
    return "stopped"
  }

  func seek(_ seconds: Double, isRelative: Bool) throws(Refusal) -> String {
    guard seconds.isFinite else { throw .invalid("a position is a number of seconds") }
    if isResting {
      guard var place = restingPlace ?? items.first.map({ .init(entry: $0.id, seconds: 0) }) else {
        throw .unavailable("nothing plays; choose something first")
      }
      place.seconds = max(0, isRelative ? place.seconds + seconds : seconds)
      restingPlace = place
      return "to " + TimeText.format(place.seconds)
    }
    return try player.seek(seconds, isRelative: isRelative)
  }

  /// From this place of the list; nil, or one that is not there any more, is its beginning.
  func play(_ place: QueuePlace?) throws(Refusal) {
    try checkRooms()
    let items = items
    guard let first = items.first else {
      throw .unavailable("there is nothing in the queue; add something first")
    }
    let found = place.flatMap { place in items.contains { $0.id == place.entry } ? place : nil }
    let start = found ?? QueuePlace(entry: first.id, seconds: 0)
    restingPlace = start
    // Of rooms that discovery does not show nobody else says that they are free.
    for room in lost where !driver.host.directory.records.contains(where: { $0.id == room }) {
      takeBack(room)
    }
    try player.carryOut(.jump(to: start.entry, at: MediaDuration(seconds: start.seconds)))
    if player.status.state == .paused { carryOut(.resume) }
  }

  /// Music that nobody can hear does not run.
  private func checkRooms() throws(Refusal) {
    guard hasRooms() else {
      throw .unavailable("no room is in this group; add one, then play")
    }
  }

  /// Returns what is to play then.
  private func moveRest(by steps: Int) -> String? {
    let ids = items.map(\.id)
    let repeats = driver.session.playlist.repetition == .all
    let place = restingPlace ?? ids.first.map { QueuePlace(entry: $0, seconds: 0) }
    restingPlace = place?.moved(by: steps, in: ids, repeats: repeats) ?? restingPlace
    return restingPlace.flatMap { driver.session.playlist.item($0.entry) }.map(player.name(of:))
  }

  // MARK: - Settings

  /// In all its rooms; returns what they are set to then, a line for each.
  func set(_ change: RoomChange) throws(Refusal) -> String {
    var rest = change
    if let volume = change.volume {
      let now = self.volume.level(of: volumes(player.status))
      setVolume(change.isStep ? now + volume : volume)
      (rest.volume, rest.isStep) = (nil, false)
    }
    return try player.set(rest, in: [.all])
  }

  /// Those that have said how loud they are, by their identities in the household.
  func volumes(_ status: GroupStatus) -> [String: Double] {
    let known = Dictionary(status.rooms.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    return rooms.compactMapValues { id in
      known[id]?.settings.map { Double($0.volume) / 10 }
    }
  }

  private func setVolume(_ level: Double) {
    for (room, volume) in volume.move(to: level, volumes(player.status)) {
      guard let id = rooms[room] else { continue }
      carryOut(.volume(.room(id), UInt16((volume * 10).rounded())))
    }
  }

  /// Zero ends the timer.
  func sleep(in seconds: Double, at now: LocalTime) -> String {
    sleepTime = seconds == 0 ? nil : now + Nanoseconds(Int64(seconds * 1_000_000_000))
    return seconds == 0
      ? "the sleep timer is off" : "music pauses in \(TimeText.format(seconds))"
  }

  // MARK: - Rooms

  func isLive(_ room: RoomID) -> Bool {
    player.status.rooms.contains { $0.id == room && $0.settings != nil }
  }

  func add(_ record: RoomRecord, takes: Bool) {
    lost.remove(record.id)
    rooms[record.id] = driver.addRoom(record, takesOver: takes)
  }

  func add(host: String, port: UInt16, as room: String, takes: Bool) throws(Refusal) {
    lost.remove(room)
    do {
      rooms[room] = try driver.addRoom(host: host, port: port, takesOver: takes)
    } catch {
      throw .unavailable("\(error)")
    }
  }

  /// Asks for a room that another sender had taken, but does not take it.
  func takeBack(_ room: String) {
    lost.remove(room)
    if let id = rooms[room] { driver.noteFree(id) }
  }

  func remove(_ room: String) {
    lost.remove(room)
    unpaired.remove(room)
    guard let id = rooms.removeValue(forKey: room) else { return }
    let status = player.status
    // Music that nobody can hear does not run on.
    if rooms.isEmpty, !isResting(status) {
      restingPlace = goal(status)
      carryOut(.halt)
    }
    driver.removeRoom(id)
  }

  /// Pauses once no room can hear the music any more, and goes on when one is back.
  func look(at now: LocalTime) { look(at: now, player.status) }

  func look(at now: LocalTime, _ status: GroupStatus) {
    let isResting = isResting(status)
    if let time = sleepTime, time <= now {
      sleepTime = nil
      absence.userDecided()
      if !isResting { carryOut(.pause) }
    }
    guard !isResting, !rooms.isEmpty else { return absence.userDecided() }
    switch absence.order(status, at: now) {
    case .pause: carryOut(.pause)
    case .resume: carryOut(.resume)
    case nil: break
    }
  }

  var nextDeadline: LocalTime? { [sleepTime, absence.deadline].compactMap { $0 }.min() }

  // MARK: - Queue

  struct Edited {
    /// The identities of what was added.
    var added: [Int] = []
    /// In a few words.
    var said: String?
  }

  func edit(_ edit: Order.QueueEdit) throws(Refusal) -> Edited {
    switch edit {
    case .add(let entries, at: .now):
      return Edited(added: try replace(with: entries), said: Self.count(entries) + " added")
    case .add(let entries, let place):
      return Edited(added: try add(entries, at: place), said: Self.count(entries) + " added")
    case .clear: return Edited(said: clear())
    case .undo: return Edited(said: try bringBack())
    case .play(let id):
      try player.check(id)
      try play(QueuePlace(entry: id, seconds: 0))
      return Edited(said: player.chosen)
    case .shuffle:
      try shuffle()
      return Edited(said: "shuffled")
    case .remove(let ids): return Edited(said: try remove(ids))
    case .move(let id, let place):
      let said = try player.move(id, to: place, current: currentAtRest)
      undo = nil
      return Edited(said: said)
    }
  }

  private static func count(_ things: some Collection) -> String {
    PlayerService.count(things.count, "item")
  }

  /// What it goes on with while it plays nothing.
  private var currentAtRest: Int? { isResting ? restingPlace?.entry : nil }

  private func replace(with entries: [Entry]) throws(Refusal) -> [Int] {
    try checkRooms()
    undo = nil
    keepForUndo("replaced")
    carryOut(.edit(.clear))
    let added = try insert(entries, .end)
    if let first = added.first { try play(QueuePlace(entry: first, seconds: 0)) }
    return added
  }

  private func clear() -> String {
    let count = items.count
    keepForUndo("cleared")
    restingPlace = nil
    carryOut(.halt)
    carryOut(.edit(.clear))
    return PlayerService.count(count, "item") + " removed"
  }

  /// What is added to an empty list begins, unless something else plays.
  private func add(_ entries: [Entry], at place: Order.Place) throws(Refusal) -> [Int] {
    let begins = items.isEmpty && isResting && !rooms.isEmpty
    let added = try insert(entries, try player.place(place, current: currentAtRest))
    if begins, let first = added.first { try play(QueuePlace(entry: first, seconds: 0)) }
    undo = nil
    return added
  }

  func insert(_ entries: [Entry], _ place: PlaylistEdit.Place) throws(Refusal) -> [Int] {
    let ids = try player.insert(entries, place)
    for (id, entry) in zip(ids, entries) { details[id] = entry }
    forgetDetails()
    return ids
  }

  private func shuffle() throws(Refusal) {
    let before = undo
    keepForUndo("shuffled", movesPlace: false)
    do {
      try player.shuffle()
    } catch {
      undo = before
      throw error
    }
  }

  private func remove(_ ids: [Int]) throws(Refusal) -> String {
    for id in ids { try player.check(id) }
    let gone = Set(ids)
    let current = place(player.status)?.entry
    keepForUndo(
      "removed", count: gone.count, movesPlace: current.map(gone.contains) ?? false)
    let items = items
    if let resting = restingPlace?.entry, gone.contains(resting) {
      restingPlace = items.drop { $0.id != resting }.first { !gone.contains($0.id) }
        .map { QueuePlace(entry: $0.id, seconds: 0) }
    }
    carryOut(.edit(.remove(ids)))
    return PlayerService.count(gone.count, "item") + " removed"
  }

  private func keepForUndo(_ done: String, count: Int? = nil, movesPlace: Bool = true) {
    let (status, items) = (player.status, items)
    guard !items.isEmpty else { return }
    let place = movesPlace ? QueueUndo.Place(place(status), wasPlaying: isPlaying(status)) : nil
    undo = QueueUndo(done, count ?? items.count, items, place)
  }

  private func bringBack() throws(Refusal) -> String {
    guard let undo else { throw .unavailable("there is nothing to undo") }
    self.undo = nil
    carryOut(.edit(.restore(undo.items)))
    forgetDetails()
    // Where only the order of the others has changed, what plays goes on.
    if let place = undo.place, place.wasPlaying, !rooms.isEmpty {
      try play(place.queue)
    } else if let place = undo.place {
      carryOut(.halt)
      restingPlace = place.queue
    }
    return "undone: \(undo.sentence)"
  }

  /// Takes what is known of files, by their places, of which nothing was said when they were added.
  func describe(_ files: [String: Entry]) {
    var known: [Int: Entry] = [:]
    for item in items {
      guard var entry = files[item.location], details[item.id]?.isBare ?? true else { continue }
      entry.title = details[item.id]?.title ?? entry.title
      entry.reach = item.reach
      known[item.id] = entry
    }
    guard !known.isEmpty else { return }
    details.merge(known) { $1 }
    queue.record.describe(known)
    queueRevision += 1
  }

  /// Those of entries that an undo would bring back are kept.
  private func forgetDetails() {
    guard details.count > 2 * max(items.count, 100) else { return }
    let kept = Set((items + (undo?.items ?? [])).map(\.id))
    details = details.filter { kept.contains($0.key) }
  }

  // MARK: - What is kept

  func record(as plan: HousePlan.Group) -> HouseRecord.Group {
    let status = player.status
    var record = HouseRecord.Group(id: id, name: plan.name)
    (record.rooms, record.lastRoom) = (plan.rooms, plan.lastRoom)
    record.queue = queueToStore
    record.nextEntry = driver.session.playlist.nextID
    record.revision = queueRevision
    record.place = goal(status)
    record.isPlaying = isPlaying(status)
    record.repetition = status.repetition
    record.effects = status.effects
    return record
  }

  /// Its list and settings as they were: what was done since could not be kept. What plays and is still there plays on.
  func revert(to record: HouseRecord.Group) {
    let status = player.status
    if record.repetition != status.repetition {
      carryOut(.edit(.setRepetition(record.repetition)))
    }
    if record.effects.problem == nil, record.effects != status.effects {
      carryOut(.effects(record.effects))
    }
    let kept = record.queue.ids
    guard items.map(\.id) != kept else { return }
    if let undo, undo.items.map(\.id) == kept {
      _ = try? bringBack()
    } else {
      restore(record, playing: place(status)?.entry)
    }
    undo = nil
  }

  private func restore(_ record: HouseRecord.Group, playing current: Int?) {
    let entries = record.queue.entries
    for entry in entries { details[entry.id] = entry.details }
    carryOut(.edit(.restore(entries.map { $0.details.item($0.id) })))
    forgetDetails()
    guard !entries.contains(where: { $0.id == current }) else { return }
    carryOut(.halt)
    restingPlace = record.place
    if record.isPlaying, !rooms.isEmpty { try? play(record.place) }
  }

  /// Brought into line once for each edit.
  private var queueToStore: QueueRecord {
    guard queue.revision != queueRevision else { return queue.record }
    queue.record.follow(items) { item in
      var entry = details[item.id] ?? Entry(location: item.location)
      entry.reach = item.reach
      entry.title = entry.title ?? item.title
      return entry
    }
    queue.revision = queueRevision
    return queue.record
  }
}
