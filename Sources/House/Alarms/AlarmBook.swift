package import Clock

/// Decides when alarms ring, and for how long. It plays nothing: see `AlarmRing`.
package struct AlarmBook {
  package enum Phase: Hashable, Sendable {
    /// Rings at this time; nil is not within a fortnight.
    case waiting(LocalTime?)
    /// Rings until this time.
    case ringing(until: LocalTime)
    /// Rings again at this time.
    case snoozed(until: LocalTime)
  }

  private struct Entry {
    var record: AlarmRecord
    /// The next one by the calendar.
    var next: AlarmOccurrence?
    var phase: Phase
    /// When the phase ends.
    var until: LocalTime? {
      switch phase {
      case .waiting(let time): time
      case .ringing(let time), .snoozed(let time): time
      }
    }
  }

  /// A clock that has moved by less since it was last looked at was not set, but is steered.
  private static let tolerance = Nanoseconds.milliseconds(20)
  /// Times are reckoned anew when it has been steered by more.
  private static let precision = Nanoseconds.milliseconds(5)
  /// The rules of a zone are looked up again so often.
  private static let lookInterval = Nanoseconds.seconds(3_600)

  private let zone: any CivilTime
  /// The clock on the wall, minus the machine's.
  private var lead: Nanoseconds
  /// The lead by which times were reckoned.
  private var plannedLead: Nanoseconds
  /// Seconds by which the zone was ahead of UTC when it was looked up last.
  package private(set) var zoneOffset: Int64
  private var nextLook: LocalTime
  private var entries: [Entry] = []
  /// The number of the newest alarm: no identity is used twice.
  private(set) var lastNumber: Int

  /// - Parameter lead: of the clock on the wall over the machine's, at `now`.
  package init(
    restoring records: [AlarmRecord], lastNumber: Int, in zone: any CivilTime, lead: Nanoseconds,
    at now: LocalTime
  ) {
    (self.zone, self.lastNumber) = (zone, lastNumber)
    (self.lead, plannedLead) = (lead, lead)
    zoneOffset = zone.offset(at: WallTime(nanoseconds: now.nanoseconds + lead.count))
    nextLook = now + Self.lookInterval
    entries = records.prefix(Alarm.limit).map { Entry(record: $0, phase: .waiting(nil)) }
    for index in entries.indices { restore(index, at: now) }
  }

  private mutating func restore(_ index: Int, at now: LocalTime) {
    if let ring = entries[index].record.ring {
      // If the clock was set back meanwhile, it does not ring for longer than ever.
      let longest = max(entries[index].record.length, .seconds(of: Alarm.snoozes.upperBound))
      let until = min(local(ring.snoozedUntil ?? ring.end), now + longest)
      entries[index].phase =
        ring.snoozedUntil == nil ? .ringing(until: until) : .snoozed(until: until)
    }
    plan(index, at: now)
  }

  // MARK: - Two clocks

  package func wall(_ time: LocalTime) -> WallTime {
    WallTime(nanoseconds: time.nanoseconds + lead.count)
  }

  func local(_ time: WallTime) -> LocalTime {
    LocalTime(nanoseconds: time.nanoseconds - lead.count)
  }

  /// Takes the clock on the wall. To be called once a second at least. Returns true if it was set.
  @discardableResult
  package mutating func note(lead: Nanoseconds, at now: LocalTime) -> Bool {
    let isSet = abs((lead - self.lead).count) > Self.tolerance.count
    self.lead = lead
    let zoneOffset = zone.offset(at: wall(now))
    let isSteered = abs((lead - plannedLead).count) > Self.precision.count
    guard isSet || isSteered || zoneOffset != self.zoneOffset else { return false }
    self.zoneOffset = zoneOffset
    if isSet {
      for index in entries.indices where entries[index].record.ring != nil { keepRing(index) }
    }
    planAll(at: now)
    return isSet
  }

  /// One that rings goes on by the machine's clock; only the disk goes by that on the wall.
  private mutating func keepRing(_ index: Int) {
    switch entries[index].phase {
    case .ringing(let end): entries[index].record.ring = .init(end: wall(end))
    case .snoozed(let time):
      entries[index].record.ring = .init(end: wall(time), snoozedUntil: wall(time))
    case .waiting: break
    }
  }

  // MARK: - Time

  package var nextDeadline: LocalTime? {
    guard !entries.isEmpty else { return nil }
    let next = entries.flatMap { [$0.until, $0.next.map { local($0.time) }] }
    return ([nextLook] + next.compactMap(\.self)).min()
  }

  /// Lets alarms begin and end. Returns true if the disk must know.
  package mutating func look(at now: LocalTime) -> Bool {
    if nextLook <= now { planAll(at: now) }
    let before = records
    for index in entries.indices { look(index, at: now) }
    return records != before
  }

  private mutating func look(_ index: Int, at now: LocalTime) {
    if let next = entries[index].next, local(next.time) <= now {
      entries[index].record.rung = next.day
      ring(index, from: local(next.time), at: now)
    }
    switch entries[index].phase {
    case .ringing(let end) where end <= now: finish(index, at: now)
    case .snoozed(let time) where time <= now: ring(index, from: time, at: now)
    case .waiting, .ringing, .snoozed: break
    }
  }

  /// - Parameter start: maybe long ago, if the process has ended meanwhile.
  private mutating func ring(_ index: Int, from start: LocalTime, at now: LocalTime) {
    let end = start + entries[index].record.length
    entries[index].phase = .ringing(until: end)
    keepRing(index)
    plan(index, at: now)
    if end <= now { finish(index, at: now) }
  }

  /// It waits for its next time; one that rings once is off.
  private mutating func finish(_ index: Int, at now: LocalTime) {
    entries[index].record.ring = nil
    entries[index].phase = .waiting(nil)
    // One that was set to a later time while it rang is to ring then.
    let hasRung = entries[index].record.date.map { date in
      entries[index].record.rung.map { date <= $0 } ?? false
    }
    if entries[index].record.alarm.days.isEmpty, hasRung ?? true {
      entries[index].record.alarm.isOn = false
    }
    plan(index, at: now)
  }

  private mutating func planAll(at now: LocalTime) {
    (nextLook, plannedLead) = (now + Self.lookInterval, lead)
    for index in entries.indices { plan(index, at: now) }
  }

  private mutating func plan(_ index: Int, at now: LocalTime) {
    let next = entries[index].record.next(after: wall(now), in: zone)
    entries[index].next = next
    if case .waiting = entries[index].phase {
      entries[index].phase = .waiting(next.map { local($0.time) })
    }
  }

  // MARK: - What surfaces and the disk see

  package var alarms: [Alarm] { entries.map(\.record.alarm) }

  package var records: [AlarmRecord] { entries.map(\.record) }

  package func alarm(_ id: String) -> Alarm? {
    entries.first { $0.record.alarm.id == id }?.record.alarm
  }

  package func phase(_ id: String) -> Phase? { entries.first { $0.record.alarm.id == id }?.phase }

  func isRinging(_ id: String) -> Bool {
    if case .ringing? = phase(id) { true } else { false }
  }

  /// When it rings next by the calendar.
  package func next(_ id: String) -> WallTime? {
    entries.first { $0.record.alarm.id == id }?.next?.time
  }

  package func skipsNext(_ id: String, at now: LocalTime) -> Bool {
    guard let record = entries.first(where: { $0.record.alarm.id == id })?.record,
      let skipped = record.skipped
    else { return false }
    return wall(now) < zone.time(of: skipped, minute: record.alarm.minute)
  }

  // MARK: - Changes

  package mutating func add(_ change: AlarmChange, at now: LocalTime) throws(Refusal) -> String {
    guard entries.count < Alarm.limit else {
      throw .unavailable("there are \(Alarm.limit) alarms already; delete one")
    }
    guard let minute = change.minute else { throw .invalid("an alarm needs a time") }
    let rooms = change.roomIds ?? []
    guard !rooms.isEmpty else { throw .invalid("an alarm needs a room") }
    let id = "a\(lastNumber + 1)"
    var record = AlarmRecord(
      try change.applied(to: Alarm(id: id, minute: minute, roomIds: rooms)))
    record.begin(at: wall(now), in: zone)
    lastNumber += 1
    entries.append(Entry(record: record, phase: .waiting(nil)))
    plan(entries.count - 1, at: now)
    if change.skipsNext == true { skip(entries.count - 1, at: now) }
    return id
  }

  package mutating func change(
    _ id: String, _ change: AlarmChange, at now: LocalTime
  ) throws(Refusal) {
    let index = try index(id)
    let before = entries[index].record.alarm
    let alarm = try change.applied(to: before)
    if change.skipsNext == false { unskip(index, at: now) }
    entries[index].record.alarm = alarm
    if before.isOn, !alarm.isOn { finish(index, at: now) }
    let isMoved = alarm.minute != before.minute || alarm.days != before.days
    let isAsked = change.isOn == true || change.minute != nil || change.days != nil
    let isOver = entries[index].phase == .waiting(nil) && isAsked
    if isMoved || isOver || alarm.isOn && !before.isOn {
      entries[index].record.begin(at: wall(now), in: zone)
    }
    plan(index, at: now)
    if change.skipsNext == true { skip(index, at: now) }
  }

  /// One that rings once has no other than the next.
  private mutating func skip(_ index: Int, at now: LocalTime) {
    guard let next = entries[index].next else { return }
    if entries[index].record.alarm.days.isEmpty {
      entries[index].record.alarm.isOn = false
      return finish(index, at: now)
    }
    entries[index].record.skipped = next.day
    plan(index, at: now)
  }

  /// One whose time has passed meanwhile was left out, and does not ring late.
  private mutating func unskip(_ index: Int, at now: LocalTime) {
    guard let day = entries[index].record.skipped else { return }
    entries[index].record.skipped = nil
    guard zone.time(of: day, minute: entries[index].record.alarm.minute) <= wall(now) else {
      return
    }
    entries[index].record.rung = max(entries[index].record.rung ?? day, day)
  }

  package mutating func remove(_ id: String) throws(Refusal) { entries.remove(at: try index(id)) }

  /// Ends one that rings or is snoozed.
  package mutating func stop(_ id: String, at now: LocalTime) throws(Refusal) {
    let index = try index(id)
    if case .waiting = entries[index].phase { throw .unavailable("this alarm does not ring") }
    finish(index, at: now)
  }

  package mutating func snooze(_ id: String, at now: LocalTime) throws(Refusal) {
    let index = try index(id)
    guard case .ringing = entries[index].phase else {
      throw .unavailable("this alarm does not ring")
    }
    entries[index].phase = .snoozed(until: now + .seconds(of: entries[index].record.alarm.snoozeS))
    keepRing(index)
  }

  private func index(_ id: String) throws(Refusal) -> Int {
    guard let index = entries.firstIndex(where: { $0.record.alarm.id == id }) else {
      throw .noSuch("there is no such alarm any more; see the list of alarms")
    }
    return index
  }

  /// Settings as the disk has them: what was changed since could not be kept. One that rings rings on.
  package mutating func revert(to kept: [AlarmRecord], at now: LocalTime) {
    entries = kept.map { record in
      var record = record
      let before = entries.first { $0.record.alarm.id == record.alarm.id }
      if let before { (record.rung, record.ring) = (before.record.rung, before.record.ring) }
      return Entry(record: record, phase: before?.phase ?? .waiting(nil))
    }
    planAll(at: now)
  }
}
