package import Clock
package import Driver
package import House
package import LinuxIO
import SQLiteStore
package import Sender
import WireProtocol

package import enum House.Refusal

/// Everything that a household plays: many groups on one host, the rooms that are in none, and what survives the end of
/// the process. A member of the loop of its host; other threads reach it through a `HouseClient`.
package final class House: LoopMember {
  package struct Settings: Sendable {
    package var name: String
    package var version: String
    package var encoding: EncoderChoice
    /// Of the file that keeps it.
    package var path: String
    /// Whether groups that played when the last process ended play on.
    package var resumes: Bool
    /// What is heard as it happens, by the names that its user has given.
    package var inputs: [HouseConfiguration.Input]

    package init(
      name: String, version: String, encoding: EncoderChoice, path: String, resumes: Bool,
      inputs: [HouseConfiguration.Input] = []
    ) {
      (self.name, self.version, self.encoding) = (name, version, encoding)
      (self.path, self.resumes, self.inputs) = (path, resumes, inputs)
    }
  }

  /// Between two changes that nobody has asked for.
  private static let newsInterval = Nanoseconds.milliseconds(100)
  /// How often what comes without an event is looked for, such as a position that stands still.
  private static let lookInterval = Nanoseconds.seconds(1)
  /// Between two writes of positions alone.
  private static let saveInterval = Nanoseconds.seconds(10)

  /// What is amiss, in one line; music plays on.
  package var onWarning: (String) -> Void = { _ in }
  /// Something has happened to a group, of this name.
  package var onEvent: (String, GroupEvent.Change) -> Void = { _, _ in }
  /// The receivers that are worth remembering have changed.
  package var onRooms: ([RoomRecord]) -> Void = { _ in }
  package let host: GroupHost
  let settings: Settings
  var plan: HousePlan {
    didSet { for group in groups.values { noteRooms(of: group) } }
  }
  private(set) var groups: [String: HouseGroup] = [:]
  /// The groups' players.
  private(set) var drivers: [String: GroupDriver] = [:]
  /// Players of groups that were deleted, until their rooms have been told.
  private var ending: [GroupDriver] = []
  /// Rooms that show themselves just now.
  var signs: [String: RoomSign] = [:]
  /// Rooms of no group that are told how loud they are to be.
  var roomVisits: [String: RoomVisit] = [:]
  /// What is known of rooms that are not there.
  var savedRooms: [String: HouseRecord.Room] = [:]
  /// When each room was last there.
  var seen: [String: LocalTime] = [:]
  /// Receivers of this user on this machine, which need no pairing.
  private(set) var ownRooms: Set<String> = []
  let inputs: LiveInputs
  var titles = Titles()
  /// Those that sound, of those that are waited for.
  var heardInputs: Set<String> = [] { didSet { hasNews = true } }
  package var library = HouseState.LibraryFigures() {
    didSet { if library != oldValue { hasNews = true } }
  }
  let mailbox: Mailbox<House>
  private var news = HouseNews()
  private(set) var syncHistory = SyncHistory()
  private var readers: [(id: Int, stream: AsyncStream<HouseChange>.Continuation)] = []
  private var readerCount = 0
  var hasNews = true
  private var nextNews: LocalTime
  private var nextLook: LocalTime
  private var useCount: UInt64 = 0
  private var remembered: [RoomRecord] = []
  // What is on the disk.
  private let writer: HouseWriter
  private var posted: (number: UInt64, record: HouseRecord)
  /// What the disk has.
  private var onDisk: HouseRecord
  /// The newest of which it is known whether it could be written.
  private var decided: UInt64 = 0
  private var nextSave: LocalTime
  /// Somebody has chosen another place in the music.
  private var isMoved = false
  private var awaitingDisk: [(number: UInt64, body: (Refusal?) -> Void)] = []
  /// Why what was to be kept last could not be.
  private(set) var diskProblem: String? {
    didSet { if diskProblem != oldValue { hasNews = true } }
  }
  private var resumption: ResumeGuard
  package private(set) var isOver = false

  /// Reads what is kept. `tell` gets a line about a file that had to be set aside.
  package init(
    host: GroupHost, settings: Settings, tell: (String) -> Void
  ) throws(Refusal) {
    (self.host, self.settings) = (host, settings)
    resumption = ResumeGuard(path: settings.path)
    inputs = LiveInputs(
      settings.inputs.map {
        .init(name: $0.name, location: $0.source, raw: $0.raw, latency: $0.live)
      })
    let now = HostClock.now
    (nextNews, nextLook, nextSave) = (now, now, now + Self.saveInterval)
    let mailbox = Mailbox<House>(waker: host.reactor.waker)
    self.mailbox = mailbox
    let record: HouseRecord
    do {
      record = try HouseStore(path: settings.path, tell: tell).record
      writer = try HouseWriter(path: settings.path) { job, error in
        mailbox.post { house in house.wrote(job, error) }
      }
    } catch {
      throw .unavailable("what the household plays cannot be kept: \(error)")
    }
    (posted, onDisk) = ((0, record), record)
    plan = HousePlan(
      restoring: record.groups.map(HousePlan.Group.init),
      lastNumber: record.lastGroup)
    savedRooms = Dictionary(record.rooms.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    host.outlivesGroups = true
    host.onDiscovery = { [unowned self] in discovered() }
    for group in record.groups where plan.group(group.id) != nil { try open(group) }
  }

  package var client: HouseClient { HouseClient(mailbox: mailbox) }

  // MARK: - Running

  package func start() {
    keepTones()
    endAbandoned()
    host.startDiscovery()
    for group in plan.groups {
      for room in group.rooms { connect(room, in: group.id, takes: false) }
    }
    watchInputs(mailbox)
    if settings.resumes { playOn() }
  }

  private func playOn() {
    let playing = posted.record.groups.filter(\.isPlaying)
    guard !playing.isEmpty else { return }
    guard resumption.begin(at: HostClock.now) else {
      return onWarning(
        "what played has ended this program twice as it began; the groups wait: play something else, or try again"
      )
    }
    for record in playing {
      // What cannot be played on waits for its user.
      try? groups[record.id]?.play(record.place)
    }
  }

  package var nextDeadline: LocalTime? {
    let deadlines = groups.values.compactMap(\.nextDeadline)
    let signs = signs.values.map(\.nextDeadline) + roomVisits.values.map(\.nextDeadline)
    let own =
      [hasNews ? nextNews : nextLook, nextSave]
      + [resumption.deadline, titles.deadline].compactMap(\.self)
    return (deadlines + signs + own).min()
  }

  package func handle(_ event: ReactorEvent) -> Bool { false }

  package func turn() {
    mailbox.runJobs(in: self)
    let now = HostClock.now
    for group in groups.values { group.look(at: now) }
    lookAtSigns(at: now)
    lookAtVisits(at: now)
    endDeleted()
    endWaitingForTitles(at: now)
    if nextLook <= now {
      (nextLook, hasNews) = (now + Self.lookInterval, true)
      takeBackFreed()
    }
    if hasNews, nextNews <= now { publish() }
    if nextSave <= now { save(makeRecord()) }
    if let deadline = resumption.deadline, deadline <= now { resumption.succeed() }
  }

  /// Ends playing in all rooms; what is kept says what played. Carried out by the loop, until `isOver`.
  package func stop() {
    guard !isOver else { return }
    resumption.succeed()
    save(makeRecord())
    inputs.stop()
    for reader in readers { reader.stream.finish() }
    readers = []
    for id in groups.keys { close(id) }
    isOver = true
  }

  /// After the loop: waits for the disk and the network, but not for long.
  package func end() throws(IOError) {
    if !writer.finish(within: 2000) {
      onWarning("the disk is too slow: the last changes may be lost")
    }
    mailbox.close(in: self)
    for waiting in awaitingDisk { waiting.body(.unavailable("the daemon is ending")) }
    awaitingDisk = []
    for sign in signs.values { try sign.end() }
    for visit in roomVisits.values { try visit.end() }
    for driver in ending { try driver.end() }
    try host.end()
  }

  /// Whether all rooms were told of the end.
  package var roomsHaveLeft: Bool { ending.allSatisfy(\.session.isFinished) }

  // MARK: - Groups

  func open(_ record: HouseRecord.Group) throws(Refusal) {
    let driver = try player(of: record.playlist, inputs: inputs)
    let group: HouseGroup
    do {
      group = HouseGroup(record, Player(driver, seed: try SystemRandom.number()))
    } catch {
      throw Refusal(error)
    }
    driver.hears = { [weak group] in group?.note($0) }
    driver.onEvent = { [unowned self] event in
      guard !event.change.isPassing else { return }
      hasNews = true
      if case .finished = event.change { return }
      onEvent(name(ofGroup: record.id), event.change)
    }
    noteRooms(of: group)
    (groups[record.id], drivers[record.id]) = (group, driver)
  }

  /// A player without rooms of its own.
  func player(
    of playlist: Playlist, inputs: LiveInputs? = nil, endsWithPlaylist: Bool = false
  ) throws(Refusal) -> GroupDriver {
    do {
      let sources = try PlaybackSources(settings.encoding, inputs: inputs)
      let driver = try GroupDriver(
        host: host,
        settings: .init(senderName: settings.name, endsWithPlaylist: endsWithPlaylist),
        playlist: playlist, reads: sources.reads, makeSerializer: sources.makeSerializer)
      driver.holds = sources.hold
      return driver
    } catch {
      throw .unavailable("no player can be made: \(error)")
    }
  }

  private func noteRooms(of group: HouseGroup) {
    group.hasRooms = plan.group(group.id)?.rooms.isEmpty == false
    group.announced = Set(host.directory.records.map(\.id))
  }

  /// The rooms are told, and then it ends.
  func close(_ id: String) {
    groups[id] = nil
    guard let driver = drivers.removeValue(forKey: id) else { return }
    driver.carryOut(.stop)
    ending.append(driver)
  }

  private func endDeleted() {
    guard !isOver else { return }
    for driver in ending where driver.session.isFinished {
      do throws(IOError) {
        try driver.end()
      } catch {
        onWarning("\(error)")
      }
    }
    ending.removeAll(where: \.session.isFinished)
  }

  /// The one that somebody means who names none, if nothing plays: the one that was used last.
  func noteUse(of group: HouseGroup) {
    useCount += 1
    group.lastUse = useCount
    takeBackFreed()
  }

  // MARK: - News

  /// Tells what has changed, and returns how things are.
  @discardableResult
  func publish() -> HouseState {
    (hasNews, nextNews) = (false, HostClock.now + Self.newsInterval)
    var state = makeState()
    syncHistory.note(state)
    guard let change = news.change(to: &state) else { return state }
    readers.removeAll { reader in
      if case .enqueued = reader.stream.yield(change) { return false }
      reader.stream.finish()
      return true
    }
    return state
  }

  /// Readers at a time; more than any household has surfaces.
  static let readerLimit = 64
  /// Changes that a reader has not taken.
  static let untakenLimit = 256

  func addReader() throws(Refusal) -> AsyncStream<HouseChange> {
    guard readers.count < Self.readerLimit else {
      throw .unavailable("too many programs follow what changes; close one")
    }
    publish()
    let (stream, continuation) = AsyncStream.makeStream(
      of: HouseChange.self, bufferingPolicy: .bufferingOldest(Self.untakenLimit))
    readerCount += 1
    let id = readerCount
    let mailbox = mailbox
    continuation.onTermination = { _ in
      mailbox.post { house in house.readers.removeAll { $0.id == id } }
    }
    if isOver { continuation.finish() } else { readers.append((id, continuation)) }
    return stream
  }

  /// Rooms whose settings are remembered: as many as may be known.
  static let savedRoomLimit = RoomDirectory.limit

  func keep(_ room: HouseRecord.Room) {
    guard savedRooms[room.id] != nil || savedRooms.count < Self.savedRoomLimit else { return }
    savedRooms[room.id] = room
  }

  private func discovered() {
    hasNews = true
    for group in groups.values { noteRooms(of: group) }
    let own = host.directory.present.filter { $0.access == .paired }.map(\.id)
    ownRooms = Set(own.filter(LocalProof.exists))
    for group in plan.groups {
      for room in group.rooms where groups[group.id]?.rooms[room] == nil && signs[room] == nil {
        connect(room, in: group.id, takes: false)
      }
    }
    let records = host.directory.toRemember
    guard records != remembered else { return }
    remembered = records
    onRooms(records)
  }

  // MARK: - What is kept

  /// Somebody has chosen another place in the music, which is to be kept as an edit is.
  func noteMove() { isMoved = true }

  /// Calls `body` once all that was done so far is on the disk, or was undone because it cannot be kept.
  func afterSaving(_ body: @escaping (Refusal?) -> Void) {
    let record = makeRecord()
    // Where music has come to by itself, and what rooms are set to, can wait.
    if isMoved || record.edits != posted.record.edits { save(record) }
    if decided >= posted.number { return body(nil) }
    awaitingDisk.append((posted.number, body))
  }

  /// Calls `body` at once, but for an edit after the disk has failed: first it is tried whether it works again.
  func whereDiskWorks(for isEdit: Bool, _ body: @escaping (Refusal?) -> Void) {
    guard isEdit, diskProblem != nil else { return body(nil) }
    if decided >= posted.number { save(makeRecord()) }
    awaitingDisk.append((posted.number, body))
  }

  private func save(_ record: HouseRecord) {
    (nextSave, isMoved) = (HostClock.now + Self.saveInterval, false)
    guard record != posted.record || diskProblem != nil else { return }
    posted = (posted.number + 1, record)
    writer.write((posted.number, record))
  }

  private func wrote(_ job: HouseWriter.Job, _ error: SQLiteError?) {
    if let error {
      let problem = Refusal.notKept(error)
      if diskProblem == nil { onWarning("\(problem); music plays on") }
      diskProblem = problem.description
      // What was posted meanwhile has these edits too, and decides on them.
      guard job.number == posted.number else { return }
      revert(to: onDisk)
      decide(job.number, problem)
    } else {
      (onDisk, diskProblem) = (job.record, nil)
      decide(job.number, nil)
    }
  }

  private func decide(_ number: UInt64, _ problem: Refusal?) {
    decided = max(decided, number)
    let done = awaitingDisk.filter { $0.number <= number }
    awaitingDisk.removeAll { $0.number <= number }
    for waiting in done { waiting.body(problem) }
  }

  /// Nothing that could not be kept stays: groups, their rooms and their lists are as the disk has them.
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
    for room in Set((before.groups + plan.groups).flatMap(\.rooms)) {
      let (from, to) = (before.group(ofRoom: room)?.id, plan.group(ofRoom: room)?.id)
      guard from != to else { continue }
      if let from { groups[from]?.remove(room) }
      if let to { connect(room, in: to, takes: from != nil) }
    }
    publish()
  }

  private func makeRecord() -> HouseRecord {
    // After `stop` there is nothing more to read.
    guard !isOver else { return posted.record }
    var record = HouseRecord()
    record.lastGroup = plan.lastNumber
    record.groups = plan.groups.compactMap { group in
      groups[group.id]?.record(as: group)
    }
    record.rooms = savedRooms.values.sorted { $0.id < $1.id }
    return record
  }
}
