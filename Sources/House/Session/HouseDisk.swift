import Clock

/// Knows which record was given to the disk, which it has, and who waits for it.
struct HouseDisk {
  /// A request that waits for the disk.
  enum Waiting {
    /// It is carried out if the disk works again.
    case trial(RequestID, HouseSession.Request)
    /// It was carried out, and is answered so.
    case done(RequestID, Result<Answer, Refusal>, isEdit: Bool)

    var id: RequestID {
      switch self {
      case .trial(let id, _), .done(let id, _, _): id
      }
    }
  }

  /// Interval of writes of positions alone.
  private static let interval = Nanoseconds.seconds(10)

  private(set) var posted: (number: UInt64, record: HouseRecord)
  /// The record that the disk has.
  private(set) var kept: HouseRecord
  /// The newest record of which it is known whether it could be written.
  private var decided: UInt64 = 0
  private(set) var nextSave: LocalTime
  /// True if somebody has chosen another place in the music.
  var isMoved = false
  /// The reason why the last record could not be written.
  private(set) var problem: String?
  private var waiting: [(number: UInt64, Waiting)] = []

  init(_ record: HouseRecord, at now: LocalTime) {
    (posted, kept) = ((0, record), record)
    nextSave = now + Self.interval
  }

  var isDecided: Bool { decided >= posted.number }

  /// Returns the number of the record if it must be written.
  mutating func post(_ record: HouseRecord, at now: LocalTime) -> UInt64? {
    (nextSave, isMoved) = (now + Self.interval, false)
    guard record != posted.record || problem != nil else { return nil }
    posted = (posted.number + 1, record)
    return posted.number
  }

  mutating func wait(_ waiting: Waiting) { self.waiting.append((posted.number, waiting)) }

  mutating func has(_ record: HouseRecord) { (kept, problem) = (record, nil) }

  /// Returns true if it has just begun to fail.
  mutating func refused(_ refusal: Refusal) -> Bool {
    defer { problem = refusal.description }
    return problem == nil
  }

  /// Returns those who waited for this record, or one before it.
  mutating func decide(_ number: UInt64) -> [Waiting] {
    decided = max(decided, number)
    let done = waiting.filter { $0.number <= number }
    waiting.removeAll { $0.number <= number }
    return done.map(\.1)
  }

  /// Returns all who wait. They wait no longer.
  mutating func waitingRequests() -> [RequestID] {
    defer { waiting = [] }
    return waiting.map(\.1.id)
  }
}

extension HouseSession {
  /// Answers a request when what was done is on the disk. An edit that cannot be kept is not done.
  func perform(_ id: RequestID, _ said: Request) {
    let request = whole(said)
    if case .announce(let wish) = request { return announce(wish, id) }
    guard request.isEdit, disk.problem != nil else { return carryOut(id, request) }
    // First it is tried whether the disk works again.
    if disk.isDecided { save(makeRecord()) }
    disk.wait(.trial(id, request))
  }

  private func carryOut(_ id: RequestID, _ request: Request) {
    guard !isOver else { return refuse(id) }
    let done = Result { () throws(Refusal) in try carryOut(request) }
    keepPairs()
    // The answer is as things are now, not as they are when the disk is done.
    let state = publish()
    let result = done.map { $0.answer(state) }
    saveEdits()
    if disk.isDecided {
      emit(.answer(id, result))
    } else {
      disk.wait(.done(id, result, isEdit: request.isEdit))
    }
  }

  func refuse(_ id: RequestID) {
    emit(.answer(id, .failure(.unavailable("the daemon is ending; try again"))))
  }

  /// Positions to which music has come by itself, and settings of rooms, can wait.
  func saveEdits() {
    let record = makeRecord()
    if disk.isMoved || record.edits != disk.posted.record.edits { save(record) }
  }

  /// True if a group has come by itself to another entry than the disk has: a process that is killed now would go back to it.
  var hasMovedOn: Bool {
    disk.posted.record.groups.contains { record in
      guard let group = groups[record.id] else { return false }
      return group.goal(group.player.status)?.entry != record.place?.entry
    }
  }

  func save(_ record: HouseRecord) {
    if let number = disk.post(record, at: now) { emit(.save(number, record)) }
  }

  func wrote(_ number: UInt64, _ record: HouseRecord) {
    if disk.problem != nil { desk.hasNews = true }
    let isNewPair = disk.kept.stereo != record.stereo
    disk.has(record)
    if isNewPair { keepPairs() }
    for ring in alarms.rings.values { ring.hasNews = true }
    decide(number, nil)
  }

  func failedToWrite(_ number: UInt64, _ refusal: Refusal) {
    if disk.problem != refusal.description { desk.hasNews = true }
    if disk.refused(refusal) { warn("\(refusal); music plays on") }
    // A record that was posted meanwhile has these edits too, and decides on them.
    guard number == disk.posted.number else { return }
    revert(to: disk.kept)
    decide(number, refusal)
  }

  private func decide(_ number: UInt64, _ refusal: Refusal?) {
    for waiting in disk.decide(number) {
      switch (waiting, refusal) {
      case (.trial(let id, _), let refusal?): emit(.answer(id, .failure(refusal)))
      case (.trial(let id, let request), nil): carryOut(id, request)
      case (.done(let id, .success, isEdit: true), let refusal?):
        emit(.answer(id, .failure(refusal)))
      case (.done(let id, let result, _), _): emit(.answer(id, result))
      }
    }
  }

  /// Undoes what could not be kept: groups, their rooms and their lists are as the disk has them.
  private func revert(to record: HouseRecord) {
    guard !isOver, makeRecord().edits != record.edits else { return }
    let kept = Set(record.groups.map(\.id))
    for id in plan.groups.map(\.id) where !kept.contains(id) { delete(id) }
    let before = plan
    plan = HousePlan(
      restoring: record.groups.map(HousePlan.Group.init),
      lastNumber: max(record.lastGroup, plan.lastNumber))
    for group in record.groups where groups[group.id] == nil { try? open(group) }
    for group in record.groups { groups[group.id]?.revert(to: group) }
    alarms.book.revert(to: record.alarms, at: now)
    night.hours = record.night
    scenes.revert(to: record.scenes)
    stereo = record.stereo
    choose(record.setUp)
    lookAtNight()
    for room in Set((before.groups + plan.groups).flatMap(\.rooms)).sorted() {
      let (from, to) = (before.group(ofRoom: room)?.id, plan.group(ofRoom: room)?.id)
      if from != to { carryOut(.init(room: room, from: from, to: to), takes: false) }
    }
    publish()
  }

  func makeRecord() -> HouseRecord {
    // After `stop` there is nothing more to read.
    guard !isOver else { return disk.posted.record }
    var record = HouseRecord()
    record.lastGroup = plan.lastNumber
    record.groups = plan.groups.compactMap { group in
      var record = groups[group.id]?.record(as: group)
      record?.sleepUntil = groups[group.id]?.sleepUntil(by: alarms.book.wall)
      return record
    }
    record.alarms = alarms.book.records
    record.night = night.hours
    record.setUp = setUp.chosen
    record.lastAlarm = alarms.book.lastNumber
    (record.scenes, record.lastScene) = (scenes.scenes, scenes.lastNumber)
    record.stereo = stereo
    // Rooms that a killed process was about to silence are visited by the next one.
    let leaving = groups.values.flatMap { $0.handOver?.leaving ?? [] }
    let debts = alarms.debts.merging(leaving.map { ($0, RoomChange()) }) { debt, _ in debt }
    record.debts = debts.sorted { $0.key < $1.key }.map { .init(id: $0.key, $0.value) }
    record.rooms = rooms.values.compactMap(\.saved).sorted { $0.id < $1.id }
    return record
  }
}
