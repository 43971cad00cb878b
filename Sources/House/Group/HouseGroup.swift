package import Clock
package import Sender

/// A group of a household: a player, what is known of its entries, and where it goes on while it plays nothing. The player
/// of a terminal is such a group, too, without the household.
package final class HouseGroup {
  package typealias Entry = Order.NewEntry

  package let id: String
  package let player: Player
  /// Grows with every edit of the list.
  package private(set) var queueRevision: UInt64
  package internal(set) var undo: QueueUndo? {
    // An undo takes back what was done last.
    didSet { merge = nil }
  }
  /// The merge that brought rooms here last; nil once the list was edited.
  package internal(set) var merge: MergeUndo?
  /// The order of the entries before they were shuffled; nil where they are not. Entries that were added since have their
  /// places in it, and some of those that were removed are still there.
  package internal(set) var unshuffled: [Int]?
  package private(set) var sleep = SleepTimer()
  /// The end of the timer by the clock on the wall, reckoned once, so that the record stays the same.
  private var sleepUntil: (end: LocalTime, wall: WallTime)?
  /// The rooms that the player has, by their identities in the household.
  package internal(set) var rooms: [String: RoomMembership] = [:]
  /// Inputs that began by themselves, and what each has interrupted, by their names.
  var visits: [String: InputVisit] = [:]
  /// The music that waits while an alarm has all rooms; nil if none does.
  var lent: Interruption?
  /// Rooms that an alarm has, and that another sender had taken before.
  var borrowed: Set<String> = []
  var handOver: HandOver?
  /// Grows with every use: the group that was used last is meant where none is named.
  package var lastUse: UInt64 = 0
  /// Where it goes on while it plays nothing; nil is the first entry.
  var restingPlace: QueuePlace?
  /// True if it plays in a room, even one that is away.
  package var hasRooms = false
  /// Identities of the receivers that discovery knows.
  package var announced: Set<String> = []
  var absence: RoomAbsence
  /// The list as it was at `queueRevision` or before.
  var queue: (revision: UInt64, record: QueueRecord)

  /// A group whose player plays by itself, in rooms that somebody else looks for.
  package convenience init(playing player: Player) {
    self.init(HouseRecord.Group(id: Order.meantGroup, name: nil), player, holding: .zero)
    hasRooms = true
    // The player may have a list already, which the empty record does not have.
    noteDescription()
  }

  /// - Parameter held: how long rooms can play on by themselves, where the player goes on with what they play.
  package init(_ record: HouseRecord.Group, _ player: Player, holding held: Nanoseconds? = nil) {
    (id, self.player) = (record.id, player)
    absence = RoomAbsence(held: held ?? .zero)
    queueRevision = record.revision
    restingPlace = record.place
    queue = (record.revision, record.queue)
    (undo, unshuffled, merge) = (record.undo, record.unshuffled, record.merge)
    let entries = (record.undo?.queue.entries ?? []) + record.queue.entries
    player.details = Dictionary(
      entries.map { ($0.id, $0.details) }, uniquingKeysWith: { $1 })
    guard held == nil else { return }
    send(.halt)
    if record.effects.problem == nil { send(.effects(record.effects)) }
  }

  package var items: [PlayItem] { player.items }
  /// True if it plays nothing, and nothing is on its way.
  package var isResting: Bool { isResting(player.status) }

  package func isResting(_ status: GroupStatus) -> Bool {
    player.port.session.isHalted || status.state == .stopped || status.state == .finished
  }

  /// Takes in what happened to the player.
  package func note(_ event: SenderEvent) {
    player.note(event)
    switch event {
    case .playlistChanged: queueRevision += 1
    case .stopped: if !player.port.session.isHalted { restingPlace = nil }
    case .room(let room, .replaced): set(.lost(room.id))
    case .room(let room, .notPaired): set(.unpaired(room.id))
    case .room(let room, .connected): set(.joined(room.id))
    default: break
    }
  }

  /// The session refuses none of the commands that are sent so.
  func send(_ command: PlayerCommand) {
    if command == .resume { carryOut(sleep.goesOn()) }
    _ = player.port.carryOut(command)
  }

  private func carryOut(_ order: SleepTimer.Order?) {
    switch order {
    case .volume(let volume): send(.streamVolume(volume))
    case .pause:
      absence.userDecided()
      lent?.wasPlaying = false
      if !isResting { send(.pause) }
    case nil: break
    }
  }

  /// Marks what is known of entries as another edit of the list.
  func noteDescription() { queueRevision += 1 }

  // MARK: - Where it is

  /// The place that it plays, or goes on with.
  package func place(_ status: GroupStatus) -> QueuePlace? {
    guard !isResting(status) else { return restingPlace }
    // Before anything sounds, the choice counts, though another item was opened before.
    let isChosen = status.state != .starting || status.chosen?.id == status.item?.item.id
    if let item = status.item, isChosen {
      return QueuePlace(entry: item.item.id, seconds: status.position.seconds.rounded(to: 3))
    }
    guard let chosen = status.chosen, chosen.id != restingPlace?.entry else { return restingPlace }
    return status.resumes ? .init(turnOf: chosen.id) : .init(entry: chosen.id, seconds: 0)
  }

  /// Where it is to go on after a restart: where somebody has sent it, though that does not sound yet.
  package func goal(_ status: GroupStatus) -> QueuePlace? {
    guard !isResting(status), let chosen = status.chosen else { return place(status) }
    // One that was removed sounds until the next one does.
    if !player.playlist.contains(chosen.id), let next = status.next {
      return QueuePlace(turnOf: next.item.id)
    }
    guard let target = status.target else { return place(status) }
    if status.resumes { return QueuePlace(turnOf: chosen.id) }
    return QueuePlace(entry: chosen.id, seconds: target.seconds.rounded(to: 3))
  }

  /// True if it is to play on after a restart.
  func isPlaying(_ status: GroupStatus) -> Bool {
    !isResting(status) && (status.state != .paused || absence.hasPaused)
  }

  // MARK: - Transport

  /// Returns a few words about what was done.
  @discardableResult
  package func transport(_ order: Order.Transport) throws(Refusal) -> String? {
    absence.userDecided()
    lent = nil
    let isResting = isResting
    if order == .play { carryOut(sleep.goesOn()) }
    switch order {
    case .play where isResting:
      try play(restingPlace)
      return "plays on"
    case .pause where isResting: return "is stopped"
    case .stop: return stop()
    case .next where isResting: return moveRest(by: 1)
    case .previous where isResting: return moveRest(by: -1)
    case .live where isResting: throw .unavailable("nothing plays; choose something first")
    case .play, .pause, .next, .previous, .live: return try player.transport(order)
    }
  }

  private func stop() -> String {
    restingPlace = place(player.status).map { QueuePlace(turnOf: $0.entry) }
    send(.halt)
    return "stopped"
  }

  package func seek(_ seconds: Double, isRelative: Bool) throws(Refusal) -> String {
    guard seconds.isFinite else { throw .invalid("a position is a number of seconds") }
    if isResting {
      guard let place = restingPlace ?? items.first.map({ .init(turnOf: $0.id) }) else {
        throw .unavailable("nothing plays; choose something first")
      }
      let length = player.details[place.entry]?.durationS
      if !isRelative { try Player.check(seconds, within: length) }
      let last = length.map { max(0, $0 - 1) } ?? QueuePlace.farthest
      let goal = QueuePlace(
        entry: place.entry, seconds: min(isRelative ? place.seconds + seconds : seconds, last))
      restingPlace = goal
      return Player.place(goal.seconds, of: length)
    }
    return try player.seek(seconds, isRelative: isRelative)
  }

  /// Plays from this place of the list; nil, or one that is not there any more, is its beginning.
  package func play(_ place: QueuePlace?) throws(Refusal) {
    try checkRooms()
    carryOut(sleep.goesOn())
    let items = items
    guard let first = items.first else {
      throw .unavailable("there is nothing in the queue; add something first")
    }
    let found = place.flatMap { place in items.contains { $0.id == place.entry } ? place : nil }
    let start = found ?? QueuePlace(turnOf: first.id)
    restingPlace = start
    player.forgetFailure(of: start.entry)
    takeBackUnseen()
    let position = start.resumes ? nil : MediaDuration(seconds: start.seconds)
    try player.carryOut(.jump(to: start.entry, at: position))
    if player.status.state == .paused { send(.resume) }
  }

  /// Music that nobody can hear does not run.
  func checkRooms() throws(Refusal) {
    guard hasRooms else {
      throw .unavailable("no room is in this group; add one, then play")
    }
  }

  /// Returns the name of the item that is to play then.
  private func moveRest(by steps: Int) -> String? {
    let ids = items.map(\.id)
    let repeats = player.playlist.repetition == .all
    let place = restingPlace ?? ids.first.map { QueuePlace(turnOf: $0) }
    restingPlace = place?.moved(by: steps, in: ids, repeats: repeats) ?? restingPlace
    return restingPlace.flatMap { player.playlist.item($0.entry) }.map(player.name(of:))
  }

  // MARK: - Settings

  /// Throws if one of the values cannot be had. Names and rooms are the household's.
  package func check(_ change: Order.GroupChange) throws(Refusal) {
    _ = try change.effects?.applied(to: player.status.effects)
    _ = try change.rooms.commands(for: .all)
    if let seconds = change.sleepInS { try Order.GroupChange.check(sleepInS: seconds) }
  }

  /// Sets what concerns the music and its sound, after `check`.
  package func set(_ change: Order.GroupChange, at now: LocalTime) throws(Refusal) -> String {
    var said: [String] = []
    if let effects = change.effects { said.append(try player.set(effects)) }
    if let repetition = change.repeat { said.append(try player.set(repetition)) }
    if !change.rooms.isEmpty { said.append(try player.set(change.rooms)) }
    if let seconds = change.sleepInS { said.append(sleep(in: seconds, at: now)) }
    return said.joined(separator: "\n")
  }

  /// Zero ends the timer.
  package func sleep(in seconds: Double, at now: LocalTime) -> String {
    let end = now + Nanoseconds(Int64(seconds * 1_000_000_000))
    carryOut(sleep.set(seconds == 0 ? nil : end, at: now))
    return seconds == 0
      ? "the sleep timer is off" : "music pauses in \(TimeText.format(seconds))"
  }

  /// Takes up the timer of the process before. One that has ended meanwhile ends now.
  ///
  /// - Parameter wall: the end as it was kept, and is kept on.
  func resumeSleep(until end: LocalTime, onWall wall: WallTime, at now: LocalTime) {
    carryOut(sleep.set(max(end, now), at: now))
    sleepUntil = (max(end, now), wall)
  }

  /// The clock on the wall was set; the timer ends when it was to.
  func wallWasSet() { sleepUntil = nil }

  /// Returns when the timer ends, for the process that comes after.
  func sleepUntil(by wall: (LocalTime) -> WallTime) -> WallTime? {
    guard let end = sleep.end else { return nil }
    if sleepUntil?.end != end { sleepUntil = (end, wall(end)) }
    return sleepUntil?.wall
  }

  // MARK: - Time

  /// Pauses once no room can hear the music any more, and goes on when one is back.
  package func look(at now: LocalTime) { look(at: now, player.status) }

  func look(at now: LocalTime, _ status: GroupStatus) {
    lookAtHandOver(at: now, status)
    let isResting = isResting(status)
    carryOut(sleep.advance(to: now, isQuiet: isResting || status.state != .playing))
    guard !isResting, !rooms.isEmpty else { return absence.userDecided() }
    switch absence.order(status, at: now) {
    case .pause: send(.pause)
    case .resume: send(.resume)
    case nil: break
    }
  }

  package var nextDeadline: LocalTime? {
    [sleep.nextDeadline, absence.deadline, handOver?.deadline].compactMap(\.self).min()
  }
}
