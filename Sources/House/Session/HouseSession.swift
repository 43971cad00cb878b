package import Clock
import Sender
package import WireProtocol

/// A household's whole behaviour, without I/O: feed it inputs, drain its outputs, wake it at its deadline. It calls its
/// players, which answer at once (`GroupPlayer`). For one thread; an event of a player may come in the middle of a call.
package final class HouseSession {
  /// Interval of looks for changes that no event tells, such as a position that stands still.
  private static let lookInterval = Nanoseconds.seconds(1)

  let configuration: Configuration
  let players: any HousePlayers
  package internal(set) var plan: HousePlan {
    didSet { for group in groups.values { noteSurroundings(of: group) } }
  }
  package internal(set) var groups: [String: HouseGroup] = [:]
  /// The rooms that are remembered, and the work with those that play in no group just now.
  var rooms: [String: HouseRoom] = [:]
  var known: KnownRooms
  var disk: HouseDisk
  var desk: NewsDesk
  var alarms: HouseAlarms
  var night: HouseNight
  var scenes: SceneBook
  var setUp: HouseSetUp
  var stereo: StereoBook
  /// Rooms of pairs that were connected at the last look.
  var speakersThere: Set<String> = []
  /// How loud both rooms of each pair were then, by its identity.
  var levels: [String: Level] = [:]
  var resumption = Resumption.none
  private var comeback: Comeback
  /// In the order in which they were asked for.
  var announcements: [Announcement] = []
  /// Keyed by the names of inputs.
  var inputStates: [String: InputState] = [:]
  var library = HouseState.LibraryFigures()
  var second = HouseSecond()
  /// Draws the orders of shuffled lists.
  var random: SplitMix64
  private(set) var now: LocalTime
  private var nextLook: LocalTime
  private var outputs: [Output] = []
  package private(set) var isOver = false

  /// - Parameters:
  ///   - record: the state that the disk has.
  ///   - left: the music that goes on, if the configuration says so.
  package init(
    _ configuration: Configuration, restoring record: HouseRecord, knowing known: KnownRooms,
    players: any HousePlayers, after left: LeftMusic = LeftMusic(), at now: LocalTime
  ) throws(Refusal) {
    let wall = WallTime(nanoseconds: now.nanoseconds + configuration.wall.lead.count)
    let record = record.withoutSleepers(at: wall)
    let streams = configuration.resumes ? left : LeftMusic(deaths: left.deaths)
    comeback = Comeback(record, after: streams, at: now)
    (self.configuration, self.players, self.known) = (configuration, players, known)
    (self.now, nextLook) = (now, now)
    random = SplitMix64(seed: configuration.seed)
    (disk, desk) = (HouseDisk(record, at: now), NewsDesk(at: now))
    alarms = HouseAlarms(record, configuration.wall, at: now)
    night = HouseNight(hours: record.night)
    scenes = SceneBook(restoring: record.scenes, lastNumber: record.lastScene)
    setUp = HouseSetUp(chosen: record.setUp)
    stereo = record.stereo
    plan = HousePlan(
      restoring: record.groups.map(HousePlan.Group.init), lastNumber: record.lastGroup)
    night.look(configuration.wall.zone, at: alarms.book.wall(now))
    for room in record.rooms { rooms[room.id] = HouseRoom(saved: room) }
    for group in record.groups where plan.group(group.id) != nil {
      try open(group)
      guard let sleepUntil = group.sleepUntil else { continue }
      // If the clock was set back meanwhile, it lasts no longer than ever.
      let latest = now + .seconds(of: Order.GroupChange.sleeps.upperBound)
      let end = min(alarms.book.local(sleepUntil), latest)
      guard end > now || claims[group.id] != nil else { continue }
      groups[group.id]?.resumeSleep(until: end, onWall: sleepUntil, at: now)
    }
  }

  /// The records for the next process, if this one ends before its players have told anything: they must be kept before
  /// anything is told to a room.
  package var claims: [String: StreamRecord] { comeback.claims }

  /// Takes one input into account. `now` never decreases.
  package func handle(_ input: Input, at now: LocalTime) {
    self.now = max(self.now, now)
    switch input {
    case .start(let deaths): start(after: deaths)
    case .request(let id, let request): perform(id, request)
    case .event(let group, let event): note(event, of: group)
    case .wall(let lead): noteWall(lead: lead)
    case .changed: desk.hasNews = true
    case .discovered(let known): discovered(known)
    case .paired(let known): paired(known)
    case .heard(let input, let change): heard(input, change)
    case .told(let input, let event): told(input, event)
    case .pictured(let input, let hash):
      inputStates[input, default: InputState()].cover = hash
      desk.hasNews = true
    case .described(let files): describe(files)
    case .library(let figures):
      desk.hasNews = desk.hasNews || figures != library
      library = figures
    case .second(let machine):
      desk.hasNews = desk.hasNews || machine != second.machine
      second.machine = machine
    case .configured(let fixed): configured(fixed)
    case .written(let number, let record): wrote(number, record)
    case .notWritten(let number, let refusal): failedToWrite(number, refusal)
    case .stop: stop()
    case .leave: leave()
    case .end: for id in disk.waitingRequests() { refuse(id) }
    case .timeout: turn()
    }
  }

  /// Returns what the driver must do next; nil if there is nothing left to do.
  package func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// When to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? {
    let groups = groups.values.compactMap(\.nextDeadline)
    let guests = rooms.values.flatMap { [$0.visit?.nextDeadline, $0.sign?.nextDeadline] }
    let own = [
      desk.hasNews ? desk.nextNews : nextLook, disk.nextSave, resumption.deadline,
      nextAnnouncement, alarms.nextDeadline, inputStates.values.compactMap(\.pauseTime).min(),
    ]
    return (groups + (guests + own).compactMap(\.self)).min()
  }

  func emit(_ output: Output) { outputs.append(output) }
  func warn(_ line: String) { emit(.warning(line)) }

  /// The groups in a fixed order.
  var groupsInOrder: [HouseGroup] { plan.groups.compactMap { groups[$0.id] } }

  // MARK: - Running

  private func start(after deaths: Int) {
    endAbandoned()
    for group in plan.groups {
      for room in group.rooms { connect(room, in: group.id, takes: false) }
    }
    guard configuration.resumes else { return }
    guard !comeback.beginning.isEmpty || !claims.isEmpty else { return }
    resumption = Resumption(comeback.beginning, after: deaths, at: now)
    emit(.keepDeaths(resumption.deaths))
    if case .none = resumption { warn(Resumption.refusal) }
  }

  private func turn() {
    if let records = resumption.due {
      resumption.begin(at: now)
      // A group that cannot play on waits for its user.
      for record in records { try? groups[record.id]?.play(record.place) }
    }
    for group in groupsInOrder { group.look(at: now) }
    lookAtGuests()
    lookAtSources()
    lookAtAnnouncements()
    if nextLook <= now || alarms.isDue(at: now) { lookAtAlarms() }
    payDebts()
    if nextLook <= now {
      (nextLook, desk.hasNews) = (now + Self.lookInterval, true)
      takeBackFreed()
      lookAtNight()
      lookAtSecond()
      if hasMovedOn { save(makeRecord()) }
    }
    if desk.hasNews {
      // A room that has just come must not begin with the other channel.
      keepChannels()
      if desk.nextNews <= now {
        keepPairs()
        publish()
      }
    }
    if disk.nextSave <= now { save(makeRecord()) }
    if resumption.isProven(at: now) { endResumption() }
  }

  private func endResumption() {
    guard case .proving = resumption else { return }
    resumption = .none
    emit(.keepDeaths(0))
  }

  /// Ends playing in all rooms; the record says what played.
  private func stop() {
    guard finish() else { return }
    for player in takeVisitorsOfAnnouncements() { close(player) }
    endAlarms(playOn: false)
    for group in groupsInOrder { close(group.id) }
  }

  /// Ends without a word to the rooms, which play on what they hold: another process goes on with it.
  private func leave() {
    guard finish() else { return }
    for player in takeVisitorsOfAnnouncements() { emit(.leave(player)) }
    endAlarms(playOn: true)
    for group in groupsInOrder { emit(.leave(group.player.port)) }
    groups = [:]
  }

  private func finish() -> Bool {
    guard !isOver else { return false }
    endResumption()
    for group in groups.values { group.endHandOver() }
    save(makeRecord())
    endGuests()
    endAnnouncements()
    isOver = true
    return true
  }

  // MARK: - Groups

  func open(_ record: HouseRecord.Group) throws(Refusal) {
    let succession = comeback.take(record.id)
    let player = Player(
      try players.open(.group(record, after: succession)), seed: random.next())
    let group = HouseGroup(record, player, holding: succession?.held)
    noteSurroundings(of: group)
    if player.volumeCap != night.volumeCap { player.volumeCap = night.volumeCap }
    groups[record.id] = group
  }

  /// The rooms are told, and then it ends.
  func close(_ id: String) {
    guard let group = groups.removeValue(forKey: id) else { return }
    close(group.player.port)
  }

  func close(_ player: any GroupPlayer) {
    _ = player.carryOut(.stop)
    emit(.close(player))
  }

  private func note(_ event: SenderEvent, of id: String) {
    for ring in alarms.all where ring.alarm.id == id { ring.note(event) }
    guard let group = groups[id] else { return }
    group.note(event)
    if case .position = event { return }
    desk.hasNews = true
  }

  func noteSurroundings(of group: HouseGroup) {
    group.hasRooms = plan.group(group.id)?.rooms.isEmpty == false
    group.announced = known.ids
  }

  // MARK: - News

  /// Tells what has changed, and returns how things are.
  @discardableResult
  func publish() -> HouseState {
    var state = makeState()
    if let change = desk.change(to: &state, at: now) { emit(.changed(change)) }
    return state
  }

  /// How far rooms were from the schedule in the last minutes.
  package var syncHistory: SyncHistory { desk.syncHistory }

  /// The state now, with the revision from which on changes tell of it.
  package func state(at now: LocalTime) -> HouseState {
    self.now = max(self.now, now)
    return publish()
  }
}
