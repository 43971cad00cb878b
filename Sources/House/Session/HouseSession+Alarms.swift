import Clock
import Sender
import WireProtocol

/// Lets alarms ring: takes their rooms from whatever plays there, and gives all back as it was. `AlarmBook` says when.
extension HouseSession {
  /// After an order that moves music, rooms wait so long before an alarm fills them again.
  private static let quiet = Nanoseconds.seconds(5)
  /// A sender asks every 5 s for a room that was lent: it is left alone for so long, whether that sender comes back or not.
  private static let courtesy = Nanoseconds.seconds(30)

  // MARK: - Orders

  func add(_ change: AlarmChange) throws(Refusal) -> Done {
    for room in change.roomIds ?? [] { try check(room: room) }
    let id = try alarms.book.add(change, at: now)
    return Done(alarm: id, said: sentence(ofNext: id))
  }

  private func sentence(ofNext id: String) -> String {
    guard let next = alarms.book.next(id) else { return "\(id) is off" }
    return "\(id) rings in \(TimeText.format((next - alarms.book.wall(now)).seconds))"
  }

  func change(_ id: String, _ change: AlarmChange) throws(Refusal) -> Done {
    for room in change.roomIds ?? [] { try check(room: room) }
    if let before = alarms.book.alarm(id), alarms.book.isRinging(id) {
      let changed = try change.applied(to: before)
      guard stereo.whole(changed.roomIds) == stereo.whole(before.roomIds),
        changed.music == before.music
      else {
        throw .notYet("this alarm rings; stop it, then change its rooms and its music")
      }
    }
    try alarms.book.change(id, change, at: now)
    return Done(alarm: id, said: change == AlarmChange() ? nil : sentence(ofNext: id))
  }

  func removeAlarm(_ id: String) throws(Refusal) -> Done {
    try alarms.book.remove(id)
    return Done(said: "deleted")
  }

  /// - Parameter id: nil means all that ring, or are snoozed.
  func end(_ id: String?, snoozes: Bool) throws(Refusal) -> Done {
    let all = alarms.book.alarms.map(\.id)
    let ids = id.map { [$0] } ?? all.filter { snoozes ? alarms.book.isRinging($0) : isOn($0) }
    guard !ids.isEmpty else { throw .unavailable("no alarm rings") }
    for id in ids {
      if snoozes {
        try alarms.book.snooze(id, at: now)
      } else {
        try alarms.book.stop(id, at: now)
      }
    }
    return Done(alarm: id, said: snoozes ? "snoozed" : "stopped")
  }

  /// True if it rings or is snoozed.
  private func isOn(_ id: String) -> Bool {
    if case .waiting = alarms.book.phase(id) { false } else { true }
  }

  /// Ends alarms in these rooms, or all.
  func silenceAlarms(_ wanted: [String]?) -> [String] {
    let ringing = alarms.rings.values.filter { ring in
      ring.isRinging && (wanted.map { !$0.allSatisfy { !ring.alarm.roomIds.contains($0) } } ?? true)
    }
    let ids = ringing.map(\.alarm.id).sorted()
    for id in ids { try? alarms.book.stop(id, at: now) }
    return ids.compactMap { alarms.book.alarm($0).map { "\($0.title): stopped" } }
  }

  // MARK: - Time

  func noteWall(lead: Nanoseconds) {
    defer { lookAtNight() }
    guard alarms.book.note(lead: lead, at: now) else { return }
    for group in groups.values { group.wallWasSet() }
    // Rooms that are filled already are to begin at another time.
    desk.hasNews = true
    saveEdits()
  }

  func lookAtAlarms() {
    alarms.lookedAt = now
    alarms.quietUntil = alarms.quietUntil.filter { now < $0.value }
    let isChanged = alarms.book.look(at: now)
    for id in alarms.rings.keys.sorted() where alarms.book.phase(id) == nil { drop(id) }
    for alarm in alarms.book.alarms { follow(alarm) }
    for ring in alarms.ending {
      ring.hasNews = false
      if ring.isOver(at: now) { giveBack(ring) }
    }
    for (room, time) in alarms.leftAlone.sorted(by: { $0.key < $1.key }) where time <= now {
      takeUp(room)
    }
    guard isChanged else { return }
    desk.hasNews = true
    saveEdits()
  }

  /// Brings what the rooms are told into line with the alarm.
  private func follow(_ alarm: Alarm) {
    switch alarms.book.phase(alarm.id) {
    case .ringing:
      let ring = alarms.rings[alarm.id] ?? open(alarm, at: now)
      if ring?.begin() ?? false { desk.hasNews = true }
      ring?.change(to: alarm)
    case .waiting(let time?), .snoozed(let time):
      if let ring = alarms.rings[alarm.id], ring.alarm != alarm || !ring.isDue(at: time) {
        drop(alarm.id)
      }
      guard alarms.isDue(alarm.id, time, at: now) else { return drop(alarm.id) }
      if alarms.rings[alarm.id] == nil { open(alarm, at: time) }
    case .waiting(nil), nil: drop(alarm.id)
    }
    guard let ring = alarms.rings[alarm.id] else { return }
    let takes = ring.isRinging || ring.due - AlarmRing.takeLead <= now
    if takes, !ring.takes { takeBack(ring) }
    for room in stereo.whole(alarm.roomIds) where ring.rooms[room] == nil {
      take(room, for: ring, takes: takes)
    }
    setVolumes(of: ring)
    ring.look(ring.player.status, at: now)
  }

  /// Rooms that were filled, and that another sender has taken since, are taken from it.
  private func takeBack(_ ring: AlarmRing) {
    ring.takes = true
    noteOthers(of: ring)
    for room in ring.rooms.keys.sorted() {
      if let record = known.record(room) { ring.add(record, takes: true) }
    }
  }

  /// Notes which rooms of the alarm another sender has taken from it.
  private func noteOthers(of ring: AlarmRing) {
    ring.others.formUnion(ring.rooms.keys.filter(isTaken))
  }

  /// How loud a room was is on the disk before it is changed, unless there is no time for that.
  private func setVolumes(of ring: AlarmRing) {
    let rooms = ring.quietRooms(ring.player.status)
    guard !rooms.isEmpty else { return }
    for (room, before) in rooms {
      var debt = before
      debt.merge(alarms.debts[room] ?? RoomChange())
      alarms.debts[room] = debt
    }
    saveEdits()
    let isUrgent = ring.due - .seconds(1) <= now || disk.problem != nil
    for (room, _) in rooms where isUrgent || disk.kept.debts.contains(where: { $0.id == room }) {
      ring.setVolume(in: room)
    }
  }

  @discardableResult
  private func open(_ alarm: Alarm, at time: LocalTime) -> AlarmRing? {
    do {
      let port = try players.open(.alarm(alarm.id, entries(of: alarm)))
      let ring = AlarmRing(alarm, at: time, on: port, seed: random.next(), at: now)
      alarms.rings[alarm.id] = ring
      return ring
    } catch {
      if !alarms.hasFailed { warn("\(alarm.title) cannot ring: \(error)") }
      alarms.hasFailed = true
      return nil
    }
  }

  private func entries(of alarm: Alarm) -> [Order.NewEntry] {
    switch alarm.music {
    case .tone: return []
    case .entries(let entries): return entries
    case .queue:
      guard let group = alarm.roomIds.lazy.compactMap(group(ofRoom:)).first else { return [] }
      let place = group.place(group.player.status)?.entry
      let items = group.items.drop { place != nil && $0.id != place }
      let stored = items.filter { !LiveLocation.isNamed($0.location) }.prefix(Alarm.entryLimit)
      return stored.map { group.player.details[$0.id] ?? Order.NewEntry(location: $0.location) }
    }
  }

  // MARK: - Rooms

  /// The alarm that has the room, or has not let go of it yet.
  func ring(in room: String) -> AlarmRing? {
    alarms.all.first { $0.rooms[room] != nil }
  }

  /// - Parameter takes: false leaves alone who plays there.
  private func take(_ room: String, for ring: AlarmRing, takes: Bool) {
    guard self.ring(in: room) == nil, takes || isIdle(room) else { return }
    // A sign or a visit ends first, which takes seconds.
    let isVisited =
      rooms[room]?.sign != nil || rooms[room]?.visit != nil
      || announcements.contains { $0.visits(room) }
    guard takes || !isVisited else { return }
    let record = known.record(room)
    let address = Self.isAddress(room) ? try? RoomWish.address(room) : nil
    guard record != nil || address != nil else { return }
    if isTaken(room) || alarms.leftAlone[room] != nil { ring.others.insert(room) }
    alarms.leftAlone[room] = nil
    letGo(room)
    group(ofRoom: room)?.lend(room)
    rooms[room]?.visit?.leave(at: now)
    alarms.left.remove(room)
    if let record {
      ring.add(record, takes: takes)
    } else if let address {
      ring.add(host: address.host, port: address.port, as: room, takes: takes)
    }
  }

  /// True if nobody hears anything there, nor can anybody else want it.
  private func isIdle(_ room: String) -> Bool {
    guard !isTaken(room), !needsPairing(room) else { return false }
    return group(ofRoom: room)?.isResting ?? true
  }

  /// Somebody wants to hear something else in these rooms: those that wait for an alarm go back, and are filled again later.
  func releaseWaiting(_ rooms: [String]) {
    for room in rooms { takeUp(room) }
    for alarm in alarms.book.alarms
    where !stereo.whole(alarm.roomIds).allSatisfy({ !rooms.contains($0) }) {
      alarms.quietUntil[alarm.id] = now + Self.quiet
      guard let ring = alarms.rings[alarm.id], !ring.isRinging, !ring.rooms.isEmpty,
        now < ring.due - AlarmRing.takeLead
      else { continue }
      drop(alarm.id)
    }
    // Their players are told of the end already, and nothing sounds.
    for ring in alarms.ending where !ring.hasRung { giveBack(ring) }
  }

  /// The rooms in which something else may sound after a request.
  func rooms(movedBy request: Request) -> [String] {
    func rooms(of group: String) -> [String] { plan.group(group)?.rooms ?? [] }
    guard request.movesMusic else { return [] }
    switch request {
    case .order(.createGroup(let rooms, _)): return rooms
    case .order(.transport(let id, _)), .order(.seek(let id, _, _)), .order(.edit(let id, _, _)),
      .order(.deleteGroup(let id)), .order(.leave(let id, _)):
      return rooms(of: id)
    case .order(.join(let id, let room, _)): return rooms(of: id) + stereo.whole([room])
    case .order(.stereo(.make(let left, let right, _))): return [left, right]
    case .order(.merge(let id, let other)): return rooms(of: id) + rooms(of: other)
    case .order(.change(let id, let change)): return rooms(of: id) + (change.roomIds ?? [])
    case .order(.scene(.recall(let id, let group))):
      let rooms = (try? scenes.scene(id).rooms.map(\.id)) ?? []
      return stereo.whole(rooms) + (group.map(rooms(of:)) ?? [])
    case .play(let wish, _, let name):
      if let group = name.flatMap(find) ?? (wish.rooms.isEmpty ? meantGroup : nil) {
        return rooms(of: group.id) + wish.rooms
      }
      return wish.rooms.isEmpty ? roomIDs : wish.rooms
    case .silence(let rooms): return rooms ?? roomIDs
    case .order, .announce: return []
    }
  }

  private func drop(_ id: String) {
    guard let ring = alarms.rings[id] else { return }
    noteOthers(of: ring)
    alarms.rings[id] = nil
    end(ring)
    alarms.ending.append(ring)
    desk.hasNews = true
  }

  /// Rooms that were told how loud they were owe nothing: another sender may have them next.
  private func end(_ ring: AlarmRing) {
    for room in ring.end(at: now, restoring: alarms.debts) {
      guard let debt = alarms.debts.removeValue(forKey: room), var saved = rooms[room]?.saved
      else { continue }
      // The player is gone before the room can say so itself.
      saved.volume = debt.volume.map { min($0, saved.volumeLimit ?? $0) } ?? saved.volume
      saved.muted = debt.muted ?? saved.muted
      keep(saved)
    }
  }

  /// Lets the music go on that the alarm has interrupted. Rooms that another sender had are left to it.
  private func giveBack(_ ring: AlarmRing) {
    alarms.ending.removeAll { $0 === ring }
    emit(.close(ring.player.port))
    var groups: [HouseGroup] = []
    for room in ring.rooms.keys.sorted() {
      guard let group = group(ofRoom: room) else { continue }
      group.giveBack(room)
      if ring.others.contains(room) {
        alarms.leftAlone[room] = now + Self.courtesy
        continue
      }
      if group.rooms[room] == nil { connect(room, in: group.id, takes: false) }
      if !groups.contains(where: { $0 === group }) { groups.append(group) }
    }
    for group in groups { group.goOn() }
    desk.hasNews = true
  }

  /// A room was left to the sender that had it before an alarm: it plays for its group again as soon as it is free.
  private func takeUp(_ room: String) {
    guard alarms.leftAlone.removeValue(forKey: room) != nil, let group = group(ofRoom: room) else {
      return
    }
    if group.rooms[room] == nil {
      connect(room, in: group.id, takes: false)
    } else {
      takeBackFreed()
    }
    group.goOn()
    desk.hasNews = true
  }

  /// This process ends. Rooms that were filled for an alarm ring without it.
  func endAlarms(playOn: Bool) {
    for ring in alarms.all {
      if ring.isRinging, !playOn { end(ring) }
      emit(ring.hasEnded ? .close(ring.player.port) : .leave(ring.player.port))
    }
    (alarms.rings, alarms.ending) = ([:], [])
  }

  /// Sets a room that an alarm has. Its volume counts for the alarm while that rings; before, for the time afterwards.
  func set(_ change: RoomChange, of room: String, in ring: AlarmRing) throws(Refusal) -> String {
    guard let number = ring.rooms[room] else { return "" }
    guard !ring.isRinging, var debt = alarms.debts[room] else {
      return try ring.player.set(change, in: [.room(number)])
    }
    var rest = change
    if let volume = change.volume {
      let range = RoomChange.volumes
      let level = change.isStep ? (debt.volume ?? 0) + volume : volume
      debt.volume = min(max(level, range.lowerBound), range.upperBound)
    }
    debt.muted = change.muted ?? debt.muted
    alarms.debts[room] = debt
    (rest.volume, rest.isStep, rest.muted) = (nil, false, nil)
    if !rest.isEmpty { _ = try ring.player.set(rest, in: [.room(number)]) }
    return "\(name(ofRoom: room)): set"
  }

  // MARK: - What surfaces see

  var shownAlarms: [HouseState.Alarm] { alarms.book.alarms.map(shown) }

  private func shown(_ alarm: Alarm) -> HouseState.Alarm {
    let book = alarms.book
    var shown = HouseState.Alarm(alarm, state: .off)
    shown.roomIds = stereo.shown(shown.roomIds)
    shown.skipsNext = book.skipsNext(alarm.id, at: now)
    shown.readyRoomIds = stereo.shown(alarms.rings[alarm.id]?.readyRooms(at: now) ?? [])
    shown.nextAtS = book.next(alarm.id).map { Double($0.seconds) }
    switch book.phase(alarm.id) {
    case .ringing: shown.state = .ringing
    case .snoozed(let time):
      (shown.state, shown.snoozedUntilS) = (.snoozed, Double(book.wall(time).seconds))
    case .waiting(.some): shown.state = .waiting
    case .waiting(nil), nil: shown.state = alarm.isOn ? .missed : .off
    }
    return shown
  }
}

/// Alarms, their players, and what is to be as before afterwards.
struct HouseAlarms {
  var book: AlarmBook
  /// Those that ring, or whose rooms are filled, by the identities of their alarms.
  var rings: [String: AlarmRing] = [:]
  /// Players that were told to stop.
  var ending: [AlarmRing] = []
  /// How loud rooms are to be as soon as they can be told, by their identities.
  var debts: [String: RoomChange] = [:]
  /// Rooms that may still ring for the process before this one: a visit, which they take for its sender's, ends that.
  var left: Set<String> = []
  /// Alarms whose rooms somebody has just used, and until when these are not filled.
  var quietUntil: [String: LocalTime] = [:]
  /// Rooms that another sender had before an alarm, and until when no group asks for them.
  var leftAlone: [String: LocalTime] = [:]
  /// True if it was said that there can be no player.
  var hasFailed = false
  /// Rooms that are free are filled so long before.
  let lead: Nanoseconds

  init(_ record: HouseRecord, _ clock: HouseSession.WallClock, at now: LocalTime) {
    book = AlarmBook(
      restoring: record.alarms, lastNumber: record.lastAlarm, in: clock.zone, lead: clock.lead,
      at: now)
    lead = clock.alarmLead
    for room in record.debts { debts[room.id] = room.change }
    left = Set(debts.keys)
  }

  /// Those that have rooms, in a fixed order.
  var all: [AlarmRing] { rings.sorted { $0.key < $1.key }.map(\.value) + ending }

  /// True if rooms are to be filled for an alarm at `time`.
  func isDue(_ id: String, _ time: LocalTime, at now: LocalTime) -> Bool {
    let isQuiet = quietUntil[id].map { now < $0 } ?? false
    return time - lead <= now && (!isQuiet || time - AlarmRing.takeLead <= now)
  }

  /// Everything that was due until then was done.
  var lookedAt = LocalTime(nanoseconds: .min / 2)

  func isDue(at now: LocalTime) -> Bool { nextDeadline.map { $0 <= now } ?? false }

  var nextDeadline: LocalTime? {
    guard !book.alarms.isEmpty || !ending.isEmpty else { return nil }
    var times = book.alarms.flatMap { alarm -> [LocalTime] in
      switch book.phase(alarm.id) {
      case .waiting(let time?), .snoozed(let time):
        let isOpen = rings[alarm.id] != nil
        return isOpen
          ? [time - AlarmRing.takeLead, time - .seconds(1), time]
          : [max(time - lead, quietUntil[alarm.id] ?? time - lead), time]
      case .waiting(nil), .ringing, nil: return []
      }
    }
    times.removeAll { $0 <= lookedAt }
    times += all.map(\.nextDeadline).compactMap(\.self)
    return (times + [book.nextDeadline].compactMap(\.self)).min()
  }
}

extension Alarm {
  /// Its name, or its time.
  var title: String { name ?? "Alarm \(timeText)" }
}
