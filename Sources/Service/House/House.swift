package import Clock
import Disturbances
package import Driver
package import House
package import LinuxIO
import Pairing
import SQLiteStore
package import Sender
import WireProtocol

package import enum House.Refusal

/// Drives a `HouseSession` with players on one host, and keeps what survives the end of the process. It decides nothing.
/// A member of the loop of its host; other threads reach it through a `HouseClient`.
package final class House: LoopMember {
  package struct Settings: Sendable {
    package var name: String
    package var version: String
    package var encoding: EncoderChoice
    /// The path of the file that keeps it.
    package var path: String
    /// True if groups that played when the last process ended play on.
    package var resumes: Bool
    /// Live sources, by the names that its user has given.
    package var inputs: [HouseConfiguration.Input]
    /// The command that speaks: a program and its arguments.
    package var voice: [String]
    /// Added to the machine's clock on the wall, for tests.
    package var wallOffset = Nanoseconds.zero
    /// The path of the file that gets what happens; nil for none.
    package var record: String?
    /// The keys that the configuration names, and the folders with music.
    package var fixed = SetUp.Fixed()
    /// Folders from which more may be chosen.
    package var roots: [String] = []
    /// Rooms that are free are filled so long before an alarm begins.
    package var alarmLead = HouseSession.WallClock.usualAlarmLead
    /// The loudness of the library's tracks.
    package var loudness = MeasuredLoudness()
    /// The songs of servers' libraries.
    package var served = ServedItems.none
    /// Asks a server of a library that somebody wants to add; a sentence's part says why it gives none. Blocks.
    package var look: ServerVisits.Look = { _ in nil }
    /// Finds media servers in the network. Blocks.
    package var search: ServerVisits.Search = { [] }
    /// Where people have left episodes and audiobooks.
    package var places = KeptPlaces()

    package init(
      name: String, version: String, encoding: EncoderChoice, path: String, resumes: Bool,
      inputs: [HouseConfiguration.Input] = [], voice: [String] = ClipMaker.usualVoice
    ) {
      self.voice = voice
      (self.name, self.version, self.encoding) = (name, version, encoding)
      (self.path, self.resumes, self.inputs) = (path, resumes, inputs)
    }
  }

  /// Whoever wants to hear of the household.
  package struct Listener {
    /// Called with a line about a problem; music plays on.
    package var warning: (String) -> Void = { _ in }
    /// Called with the name of a group to which something has happened.
    package var event: (String, GroupEvent.Change) -> Void = { _, _ in }
    /// Called when the receivers that are worth remembering have changed.
    package var rooms: ([RoomRecord]) -> Void = { _ in }
    /// Called with the library's folders: at the start, and when they have changed.
    package var folders: ([HouseFolder]) -> Void = { _ in }
    /// Called with the servers of libraries when they have changed.
    package var servers: ([MediaServer]) -> Void = { _ in }
  }

  package var listener = Listener()
  package let host: GroupHost
  package let settings: Settings
  let session: HouseSession
  let inputs: LiveInputs
  var titles = Titles()
  /// For other threads.
  package let client: HouseClient
  private let writer: HouseWriter
  /// True while the session handles something, and until what follows from it is carried out.
  private var isHandling = false
  private let starts: ResumeGuard
  private let streams: HouseStreams
  private var readers = HouseReaders()
  private var requests = OpenRequests()
  private var looking = OpenLooks()
  private var remembered: [RoomRecord] = []
  private var nextWall = HostClock.now
  private var parting = PartingPlayers()
  private var recording: HouseRecording?

  /// Reads what is kept. `tell` gets a line about a file that had to be set aside.
  package init(
    host: GroupHost, settings: Settings, tell: (String) -> Void
  ) throws(Refusal) {
    (self.host, self.settings) = (host, settings)
    starts = ResumeGuard(path: settings.path)
    inputs = LiveInputs(
      settings.inputs.map {
        .init(name: $0.name, source: $0.source, raw: $0.raw, latency: $0.live)
      })
    let mailbox = Mailbox<House>(waker: host.reactor.waker)
    client = HouseClient(
      mailbox: mailbox, workshop: ClipWorkshop(ClipMaker(voice: settings.voice)),
      browser: FolderBrowser(roots: settings.roots),
      visits: ServerVisits(look: settings.look, search: settings.search), stations: StationNames())
    let record: HouseRecord
    let seed: UInt64
    do {
      record = try HouseStore(path: settings.path, tell: tell).record
      streams = try HouseStreams(path: settings.path, senderID: host.senderID, tell: tell) {
        number in
        mailbox.post { house in house.streams.wrote(number) }
      }
      writer = try HouseWriter(path: settings.path) { job, error in
        mailbox.post { house in house.wrote(job, error) }
      }
      seed = try SystemRandom.number()
    } catch {
      throw .unavailable("what the household plays cannot be kept: \(error)")
    }
    let players = HousePlayerMaker(host, settings, inputs)
    session = try HouseSession(
      .init(
        id: host.senderID.hex, name: settings.name, version: settings.version,
        inputs: settings.inputs.map(\.shown), resumes: settings.resumes, seed: seed,
        wall: .init(
          zone: LocalZone(), lead: (HostClock.wallClockLead ?? .zero) + settings.wallOffset,
          alarmLead: settings.alarmLead)),
      restoring: record, knowing: KnownRooms(host.directory), players: players,
      after: LeftMusic(streams: streams.left, deaths: starts.deaths), at: HostClock.now)
    session.handle(.configured(settings.fixed), at: HostClock.now)
    streams.claim(session.claims)
    host.outlivesGroups = true
    host.onDiscovery = { [unowned self] in discovered() }
    players.hears = { [unowned self] group, event in heard(event, of: group) }
    players.carried = { [unowned self] group, command in
      note(.command(command, group: group), of: group)
    }
    players.keeps = { [unowned self] group, record in
      streams.keep(record, of: group)
      // The edit that it comes from is saved at the end of the turn.
      if !isHandling { streams.post() }
    }
    players.onEvent = { [unowned self] group, change in happened(change, to: group) }
  }

  /// Those of the library.
  package var folders: [HouseFolder] { session.folders }

  /// Those that keep libraries.
  package var servers: [MediaServer] { session.servers }

  var mailbox: Mailbox<House> { client.mailbox }

  // MARK: - Running

  package func start() {
    beginRecording()
    keepTones()
    keepAlarmTone()
    host.startDiscovery()
    handle(.start(deaths: starts.deaths))
    watchInputs(mailbox)
    handle(.timeout)
  }

  package var nextDeadline: LocalTime? {
    [session.nextDeadline, titles.deadline, recording?.nextDeadline].compactMap(\.self).min()
  }

  package func handle(_ event: ReactorEvent) -> Bool { false }

  package func turn() {
    mailbox.runJobs(in: self)
    noteWall()
    handle(.timeout)
    endFinished()
    endWaitingForTitles(at: HostClock.now)
    recording?.write()
  }

  /// Clocks on the wall are set seldom.
  private func noteWall() {
    guard nextWall <= HostClock.now, let lead = HostClock.wallClockLead else { return }
    nextWall = HostClock.now + .milliseconds(200)
    session.handle(.wall(lead: lead + settings.wallOffset), at: HostClock.now)
  }

  func handle(_ input: HouseSession.Input) {
    let isWithin = isHandling
    isHandling = true
    session.handle(input, at: HostClock.now)
    performOutputs()
    isHandling = isWithin
    if !isWithin { streams.post() }
  }

  private func performOutputs() {
    while let output = session.nextOutput() { perform(output) }
  }

  private func perform(_ output: HouseSession.Output) {
    switch output {
    case .answer(let id, let result):
      guard let (answer, awaitsStreams) = requests.take(id) else { return }
      if awaitsStreams { streams.afterWriting { answer(result) } } else { answer(result) }
    case .save(let number, let record):
      streams.saving(number)
      writer.write((number, record))
    case .changed(let change):
      readers.tell(change)
      recordGroups(change)
    case .warning(let line): listener.warning(line)
    case .close(let player): parting.add(player, isTold: true)
    case .leave(let player): parting.add(player, isTold: false)
    case .folders(let folders): listener.folders(folders)
    case .servers(let servers): listener.servers(servers)
    case .keepDeaths(let deaths): starts.keep(deaths)
    case .steer(let input, let order): inputs.program(input)?.order(order)
    }
  }

  private func wrote(_ job: HouseWriter.Job, _ error: SQLiteError?) {
    streams.decided(job.number)
    handle(
      error.map { .notWritten(job.number, .notKept($0)) } ?? .written(job.number, job.record))
  }

  private func endFinished() {
    guard !isOver else { return }
    for error in parting.endFinished() { listener.warning("\(error)") }
  }

  /// Ends playing in all rooms; what is kept says what played. Carried out by the loop, until `roomsHaveLeft`.
  package func stop() {
    inputs.stop()
    handle(.stop)
    readers.end()
  }

  /// Ends without a word to the rooms, which play on what they hold: another process goes on with it.
  package func leave() {
    inputs.stop()
    handle(.leave)
    readers.end()
  }

  package var isOver: Bool { session.isOver }

  /// After the loop: waits for the disk and the network, but not for long.
  package func end() throws(IOError) {
    if !writer.finish(within: 2000) || !streams.finish(within: 2000) {
      listener.warning("the disk is too slow: the last changes may be lost")
    }
    mailbox.close(in: self)
    for answer in looking.takeAll() { answer(.failure(HouseClient.isOver)) }
    handle(.end)
    inputs.awaitEnd()
    recording?.end()
    streams.endWaiting()
    try parting.end()
    try host.end()
  }

  /// True if all rooms were told of the end.
  package var roomsHaveLeft: Bool { parting.roomsHaveLeft }

  // MARK: - Requests

  func perform(_ order: Order, _ answer: @escaping (Result<Answer, Refusal>) -> Void) {
    let look: @Sendable () async -> Result<Void, Refusal>
    switch order {
    case .setUp(.addFolder(let path)): look = { [client] in await client.browser.found(path) }
    case .setUp(.addServer(let server)):
      do throws(Refusal) {
        let server = try session.check(server)
        look = { [client] in await client.visits.found(server) }
      } catch {
        return answer(.failure(error))
      }
    default: return perform(.order(order), answer)
    }
    // The disk or the server may take its time.
    let (mailbox, number) = (mailbox, looking.add(answer))
    Task {
      let result = await look()
      mailbox.post { house in house.looked(number, order, result) }
    }
  }

  private func looked(_ number: UInt64, _ order: Order, _ result: Result<Void, Refusal>) {
    guard let answer = looking.take(number) else { return }
    switch result {
    case .success: perform(.order(order), answer)
    case .failure(let refusal): answer(.failure(refusal))
    }
  }

  /// The configuration's file has changed.
  func configured(_ fixed: SetUp.Fixed, roots: [String]) {
    client.browser.set(roots: roots)
    handle(.configured(fixed))
  }

  func perform(
    _ request: HouseSession.Request, _ answer: @escaping (Result<Answer, Refusal>) -> Void
  ) {
    handle(.request(requests.add(answer, awaitsStreams: request.movesMusic), request))
  }

  /// Returns the state, after everybody was told of it.
  @discardableResult
  func publish() -> HouseState {
    defer { performOutputs() }
    return session.state(at: HostClock.now)
  }

  func addReader() throws(Refusal) -> AsyncStream<HouseChange> {
    publish()
    let mailbox = mailbox
    return try readers.add(isOver: isOver) { id in
      mailbox.post { house in house.readers.remove(id) }
    }
  }

  package func show(_ library: HouseState.LibraryFigures) { handle(.library(library)) }

  package func show(_ second: SecondMachine) { handle(.second(second)) }

  // MARK: - The record

  private func beginRecording() {
    guard let path = settings.record else { return }
    let mailbox = mailbox
    recording = HouseRecording(
      path: path, program: settings.version, warn: { [unowned self] in listener.warning($0) },
      failed: { error in mailbox.post { house in house.recording?.failed(error) } })
    recording?.handle(.groups(session.recordedGroups))
  }

  private func heard(_ event: SenderEvent, of group: String) {
    session.handle(.event(group: group, event), at: HostClock.now)
    guard recording != nil, let input = session.recorded(event, of: group) else { return }
    note(input, of: group)
  }

  /// A group that was made just now is told of before what happens to it.
  private func note(_ input: DisturbanceRecorder.Input, of group: String) {
    guard let recording else { return }
    if !recording.knows(group) { recording.handle(.groups(session.recordedGroups)) }
    recording.handle(input)
  }

  private func recordGroups(_ change: HouseChange) {
    // After the end no group has a room any more.
    guard let recording, !isOver, !change.groups.isEmpty || !change.removedGroups.isEmpty else {
      return
    }
    recording.handle(.groups(session.recordedGroups))
  }

  // MARK: - Surroundings

  private func happened(_ change: GroupEvent.Change, to group: String) {
    switch change {
    case .group(.position), .group(.finished), .status: return
    case .source: session.handle(.changed, at: HostClock.now)
    default: break
    }
    listener.event(session.name(ofGroup: group), change)
  }

  private func discovered() {
    handle(.discovered(KnownRooms(host.directory)))
    let records = host.directory.toRemember
    guard records != remembered else { return }
    remembered = records
    listener.rooms(records)
  }

  /// Takes the rooms that this machine is paired with.
  func trust(_ pairings: Pairings) {
    host.trust(pairings)
    handle(.paired(KnownRooms(host.directory)))
  }
}

extension KnownRooms {
  fileprivate init(_ directory: RoomDirectory) {
    let own = directory.present.filter { $0.access == .paired && LocalProof.exists(for: $0.id) }
    self.init(
      directory.records, paired: Set(directory.paired.all.map(\.id.hex)), own: Set(own.map(\.id)))
  }
}

extension HouseConfiguration.Input {
  fileprivate var shown: HouseState.Input {
    var shown = HouseState.Input(name: name, kind: kind)
    shown.onSound = onSound
    if case .program(let settings) = source { shown.takesOrders = settings.takesOrders }
    return shown
  }

  private var kind: String {
    switch source {
    case .card: "card"
    case .pipe: "pipe"
    case .program: "program"
    }
  }
}

/// Orders that wait for a look at the disk, or at a server.
private struct OpenLooks {
  typealias Reply = (Result<Answer, Refusal>) -> Void

  private var answers: [UInt64: Reply] = [:]
  private var count: UInt64 = 0

  mutating func add(_ answer: @escaping Reply) -> UInt64 {
    count += 1
    answers[count] = answer
    return count
  }

  mutating func take(_ number: UInt64) -> Reply? { answers.removeValue(forKey: number) }

  mutating func takeAll() -> [Reply] {
    defer { answers = [:] }
    return answers.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// Requests that were not answered yet.
private struct OpenRequests {
  private typealias Open = (answer: (Result<Answer, Refusal>) -> Void, awaitsStreams: Bool)

  private var answers: [RequestID: Open] = [:]
  private var count: UInt64 = 0

  mutating func add(
    _ answer: @escaping (Result<Answer, Refusal>) -> Void, awaitsStreams: Bool
  ) -> RequestID {
    count += 1
    answers[RequestID(count)] = (answer, awaitsStreams)
    return RequestID(count)
  }

  mutating func take(
    _ id: RequestID
  ) -> (answer: (Result<Answer, Refusal>) -> Void, awaitsStreams: Bool)? {
    answers.removeValue(forKey: id)
  }
}
