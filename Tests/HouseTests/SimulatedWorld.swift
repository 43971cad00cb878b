import Clock
import TestSupport
import Testing
import WireProtocol

import enum House.Refusal

@testable import House
@testable import Sender

private struct Greenwich: CivilTime {
  func offset(at time: WallTime) -> Int64 { 0 }
}

/// Receivers, their owners, a disk and time, around a `HouseSession`.
final class SimulatedWorld: HousePlayers {
  struct Receiver {
    enum Holder: Equatable {
      case nobody, stranger
      /// The player of this number.
      case ours(Int)
    }

    let id: String
    let name: String
    var isOn = true
    var holder = Holder.nobody
    /// True if the stranger that has it gives it back afterwards.
    var isLent = false
    var freeSince = LocalTime(nanoseconds: 0)
    /// True if it plays only for senders that know its PIN.
    var hasPIN = false
    /// False for one of an older version.
    var playsClips = true
    /// True until somebody has typed it.
    var needsPIN = false
    /// True while it answers and does not sound.
    var isPriming = false
    var settings = RoomSettings(
      volume: 500, isMuted: false, delay: .zero, channelMap: .stereo, volumeLimit: .full)
    /// The settings that it was told and has not heard; nil if it hears all.
    var unheard: RoomSettings?

    var answers: Bool { isOn && !needsPIN }
  }

  /// A disk, which writes one record at a time.
  struct Disk {
    var record = HouseRecord()
    var delay = Nanoseconds.milliseconds(2)
    var isBroken = false
    var waiting: (number: UInt64, record: HouseRecord)?
    var writing: (number: UInt64, record: HouseRecord, done: LocalTime)?
  }

  private(set) var now = LocalTime(nanoseconds: 1_000_000_000)
  private(set) var session: HouseSession!
  var receivers: [Receiver] = []
  var disk = Disk()
  /// Called before the session hears that time has passed.
  var passes: () -> Void = {}
  /// Called with the numbers of records that are given to the disk, and of those that it has or refuses.
  var saves: (UInt64) -> Void = { _ in }
  var written: (UInt64) -> Void = { _ in }
  var refused: (UInt64) -> Void = { _ in }
  private(set) var answers: [RequestID: Result<Answer, Refusal>] = [:]
  private(set) var warnings: [String] = []
  /// The receivers that heard announcements, and when those began.
  private(set) var heard: [(room: String, begins: LocalTime, volume: UInt16?)] = []
  /// The orders to programs of inputs.
  var steered: [String] = []
  /// The volumes of announcements.
  var clipVolumes: [UInt16?] = []
  /// The number that survives the death of the process.
  private(set) var deaths = 0
  /// True while an order may take rooms from strangers.
  var mayTake = false
  private(set) var problems: [String] = []
  private(set) var players: [SimulatedPlayer] = []
  private var playerCount = 0
  private var jobs: [() -> Void] = []
  private var told = KnownRooms()
  private var requestCount: UInt64 = 0
  private let held: MediaDuration
  private let inputs: [HouseState.Input]
  /// The lead of the clock on the wall over the machine's.
  private(set) var wallLead = Nanoseconds.zero
  private let zone: any CivilTime
  /// Locations that cannot be opened, and never say why.
  var unreachable: Set<String> = []
  /// Where somebody has left items, by their locations.
  var left: [String: MediaDuration] = [:]

  init(
    rooms: Int, holding held: MediaDuration, inputs: [HouseState.Input] = [],
    zone: (any CivilTime)? = nil
  ) throws {
    (self.held, self.inputs, self.zone) = (held, inputs, zone ?? Greenwich())
    let names = ["Kitchen", "Bath", "Attic", "Hall", "Study"]
    receivers = (0..<rooms).map { number in
      Receiver(id: String(repeating: "\(number + 1)", count: 32), name: names[number])
    }
    try start()
  }

  /// The process is killed, and begins with what the disk has.
  ///
  /// - Parameters:
  ///   - roomsPlayOn: true if rooms have more than they have played, so that they stay its own.
  ///   - span: for how long there is no process, by the clock on the wall.
  func restart(roomsPlayOn: Bool = false, after span: Nanoseconds = .zero) throws {
    wallLead = wallLead + span
    for index in receivers.indices { receivers[index].unheard = nil }
    for index in receivers.indices where !roomsPlayOn {
      if case .ours = receivers[index].holder { receivers[index].holder = .nobody }
    }
    (players, jobs, answers) = ([], [], [:])
    (disk.waiting, disk.writing) = (nil, nil)
    try start()
  }

  private func start() throws {
    told = known
    session = try HouseSession(
      .init(
        id: "5a", name: "study", version: "1", inputs: inputs, resumes: true, seed: 7,
        wall: .init(zone: zone, lead: wallLead)),
      restoring: disk.record, knowing: known, players: self, at: now)
    session.handle(.start(deaths: deaths), at: now)
    settle()
    wake()
  }

  /// The library's folders, as the session told them last.
  private(set) var folders: [HouseFolder] = []
  private(set) var servers: [MediaServer] = []

  // MARK: - Requests

  func request(_ request: HouseSession.Request) -> RequestID {
    requestCount += 1
    let id = RequestID(requestCount)
    session.handle(.request(id, request), at: now)
    return id
  }

  func take(_ id: RequestID) -> Result<Answer, Refusal>? { answers.removeValue(forKey: id) }

  func answer(_ id: RequestID) -> Result<Answer, Refusal>? { answers[id] }

  func hear(_ input: String, _ change: LevelGate.Change) {
    session.handle(.heard(input, change), at: now)
  }

  func tell(_ input: String, _ event: InputEvent) {
    session.handle(.told(input, event), at: now)
    settle()
  }

  func picture(_ input: String, _ hash: String?) {
    session.handle(.pictured(input, hash), at: now)
    settle()
  }

  // MARK: - Time

  var wall: WallTime { WallTime(nanoseconds: now.nanoseconds) + wallLead }

  func setWall(by span: Nanoseconds) {
    wallLead = wallLead + span
    session.handle(.wall(lead: wallLead), at: now)
    settle()
    wake()
  }

  /// Carries out what the session wants, until nothing is left.
  func settle() {
    repeat {
      while let output = session.nextOutput() { perform(output) }
      let jobs = jobs
      self.jobs = []
      for job in jobs { job() }
      for player in players { player.settle() }
      if told != known {
        told = known
        session.handle(.discovered(told), at: now)
      }
    } while !jobs.isEmpty || told != known
    while let output = session.nextOutput() { perform(output) }
  }

  /// One turn of the loop.
  func wake() {
    if let job = disk.writing, job.done <= now { finish(job.number, job.record) }
    for player in players where player.nextDeadline.map({ $0 <= now }) ?? false { player.timeout() }
    retry()
    settle()
    passes()
    session.handle(.timeout, at: now)
    settle()
  }

  func advance(by span: Nanoseconds) {
    let end = now + span
    var wakes = 0
    wake()
    while let next = nextDeadline, next <= end {
      wakes = next > now ? 0 : wakes + 1
      guard wakes < 50 else { return problems.append("woken in vain at \(now.nanoseconds)") }
      now = max(now, next)
      wake()
    }
    now = end
    wake()
  }

  private var nextDeadline: LocalTime? {
    ([session.nextDeadline, disk.writing?.done] + players.map(\.nextDeadline)).compactMap(\.self)
      .min()
  }

  func later(_ job: @escaping () -> Void) { jobs.append(job) }

  private func perform(_ output: HouseSession.Output) {
    switch output {
    case .answer(let id, let result):
      if answers.updateValue(result, forKey: id) != nil { problems.append("answered twice: \(id)") }
    case .save(let number, let record):
      saves(number)
      disk.waiting = (number, record)
      write()
    case .changed: break
    case .folders(let folders): self.folders = folders
    case .servers(let servers): self.servers = servers
    case .warning(let line): warnings.append(line)
    case .close(let player), .leave(let player): close(player)
    case .keepDeaths(let number): deaths = number
    case .steer(let input, let order): steered.append("\(input) \(order)")
    }
  }

  private func close(_ player: any GroupPlayer) {
    guard let index = players.firstIndex(where: { $0 === player }) else { return }
    let closed = players.remove(at: index)
    for room in closed.rooms { release(room.receiver, by: closed) }
  }

  private func write() {
    guard disk.writing == nil, let next = disk.waiting else { return }
    disk.writing = (next.number, next.record, now + disk.delay)
    disk.waiting = nil
  }

  private func finish(_ number: UInt64, _ record: HouseRecord) {
    disk.writing = nil
    if disk.isBroken {
      refused(number)
      session.handle(.notWritten(number, .notKept("the disk is full")), at: now)
    } else {
      disk.record = record
      written(number)
      session.handle(.written(number, record), at: now)
    }
    write()
  }

  // MARK: - Players

  func open(_ purpose: PlayerPurpose) throws(Refusal) -> any GroupPlayer {
    playerCount += 1
    let player =
      switch purpose {
      case .group(let record, _):
        SimulatedPlayer(playerCount, of: record.id, playing: record.playlist, in: self)
      case .visit, .sign: SimulatedPlayer(playerCount, of: nil, playing: Playlist(), in: self)
      case .alarm(let id, let entries):
        SimulatedPlayer(
          playerCount, of: id,
          playing: Playlist(
            entries.map(\.listed), repetition: .all, otherwise: PlaylistEntry("tone")),
          startsHeld: true, in: self)
      }
    players.append(player)
    return player
  }

  func tell(_ event: SenderEvent, of player: SimulatedPlayer) {
    if let group = player.group { session.handle(.event(group: group, event), at: now) }
  }

  // MARK: - Receivers

  var known: KnownRooms {
    let records = receivers.map { receiver in
      let isFree = receiver.holder == .nobody
      return RoomRecord(
        id: receiver.id, name: receiver.name, model: "",
        state: receiver.isOn ? (isFree ? .free : .busy) : .away, addresses: [], port: 1,
        codecs: [], access: receiver.hasPIN ? .paired : .open)
    }
    let paired = receivers.filter { $0.hasPIN && !$0.needsPIN }.map(\.id)
    return KnownRooms(records.sorted { $0.name < $1.name }, paired: Set(paired))
  }

  func index(_ receiver: String) -> Int? { receivers.firstIndex { $0.id == receiver } }

  func holds(_ room: SimulatedPlayer.Room, _ player: SimulatedPlayer) -> Bool {
    index(room.receiver).map { receivers[$0].holder == .ours(player.number) } ?? false
  }

  /// True if music of the group is heard in one of its rooms.
  func isHeard(_ group: String) -> Bool {
    players.contains { player in
      player.group == group && player.rooms.contains { holds($0, player) }
    }
  }

  func prime(_ index: Int, _ isPriming: Bool) { receivers[index].isPriming = isPriming }

  func makeOlder(_ index: Int) { receivers[index].playsClips = false }

  func playsClips(_ receiver: String) -> Bool {
    index(receiver).map { receivers[$0].playsClips } ?? false
  }

  func hear(_ receiver: String, at time: LocalTime, as volume: UInt16?) {
    guard let index = index(receiver) else { return }
    heard.append((receivers[index].name, time, volume))
  }

  /// The entry that sounds in a room, in whatever group or alarm.
  func sounds(in receiver: Int) -> String? {
    guard case .ours(let number) = receivers[receiver].holder, !receivers[receiver].isPriming,
      let player = players.first(where: { $0.number == number }), player.isSounding
    else { return nil }
    return player.status().item?.item.location
  }

  /// True if another sender has taken it from the group, whose player does not try it any more.
  func isLost(_ receiver: Receiver, by group: String) -> Bool {
    players.contains { player in
      player.group == group && player.rooms.contains { $0.receiver == receiver.id && $0.isLost }
    }
  }

  func holds(_ receiver: Receiver, _ group: String) -> Bool {
    players.contains { $0.group == group && receiver.holder == .ours($0.number) }
  }

  func shown(
    _ room: SimulatedPlayer.Room, to player: SimulatedPlayer, _ state: RoomStatus.State
  ) -> GroupStatus.Room {
    var shown = GroupStatus.Room(
      id: room.id, name: room.receiver, connection: .away(reason: "no answer"),
      trouble: .unreachable)
    guard let index = index(room.receiver), receivers[index].isOn || room.isLost else {
      return shown
    }
    let receiver = receivers[index]
    shown.name = receiver.name
    if room.isLost {
      // Nothing is tried any more, so that nobody hears that it is free.
      shown.trouble = .taken(holder: "stranger")
    } else if receiver.needsPIN {
      shown.trouble = .notPaired
    } else if receiver.holder == .ours(player.number) {
      let state = receiver.isPriming ? .priming : state
      (shown.connection, shown.trouble) = (.connected(.made(state, holding: held)), nil)
      shown.settings = player.hasStopped ? nil : receiver.unheard ?? receiver.settings
      shown.hasTakenSettings = receiver.unheard == nil
    } else if receiver.holder == .stranger, receiver.isLent {
      shown.connection = .away(reason: "stranger plays there for a while")
      shown.trouble = .lent(holder: "stranger")
    } else if receiver.holder == .stranger {
      shown.trouble = .taken(holder: "stranger")
    } else {
      (shown.connection, shown.trouble) = (.connecting, nil)
    }
    return shown
  }

  func claim(_ room: RoomID, by player: SimulatedPlayer, takesOver: Bool) {
    later { [weak self, weak player] in
      if let self, let player { answer(room, of: player, takesOver: takesOver) }
    }
  }

  /// A room takes all players of one process, and of the one before it, for the same sender.
  private func answer(_ id: RoomID, of player: SimulatedPlayer, takesOver: Bool) {
    guard let room = player.rooms.first(where: { $0.id == id }), !room.isLost,
      let index = index(room.receiver), receivers[index].isOn
    else { return }
    let told = SenderEvent.Room(id: id, name: receivers[index].name)
    guard !receivers[index].needsPIN else {
      return tell(.room(told, .notPaired(advice: "")), of: player)
    }
    let before = receivers[index].holder
    guard before != .stranger || takesOver else { return }
    if before == .stranger, !mayTake { problems.append("took \(receivers[index].name)") }
    receivers[index].holder = .ours(player.number)
    receivers[index].settings.volume = min(receivers[index].settings.volume, player.volumeCap)
    tell(.room(told, .connected), of: player)
    if case .ours(let number) = before, number != player.number {
      players.first { $0.number == number }?.lose(room.receiver)
    }
  }

  func release(_ receiver: String, by player: SimulatedPlayer) {
    guard let index = index(receiver), receivers[index].holder == .ours(player.number) else {
      return
    }
    (receivers[index].holder, receivers[index].freeSince) = (.nobody, now)
  }

  // MARK: - What people and strangers do

  /// The receiver is unplugged, or comes back; those who wait for it try it.
  func power(_ index: Int, isOn: Bool) {
    receivers[index].isOn = isOn
    (receivers[index].holder, receivers[index].freeSince) = (.nobody, now)
    if isOn { tryAgain(index) }
    settle()
  }

  func strangerTakes(_ index: Int) {
    guard receivers[index].isOn else { return }
    let before = receivers[index].holder
    (receivers[index].holder, receivers[index].isLent) = (.stranger, false)
    if case .ours(let number) = before {
      players.first { $0.number == number }?.lose(receivers[index].id)
    }
    settle()
  }

  /// A stranger takes the room for a while. Its player keeps asking for it.
  func strangerBorrows(_ index: Int) {
    guard receivers[index].isOn, case .ours(let number) = receivers[index].holder else { return }
    (receivers[index].holder, receivers[index].isLent) = (.stranger, true)
    players.first { $0.number == number }?.miss(receivers[index].id)
    settle()
  }

  func strangerLeaves(_ index: Int) {
    guard receivers[index].holder == .stranger else { return }
    (receivers[index].holder, receivers[index].freeSince) = (.nobody, now)
    tryAgain(index)
    settle()
  }

  func pair(_ index: Int) {
    receivers[index].needsPIN = false
    told = known
    session.handle(.paired(told), at: now)
    settle()
  }

  func unpair(_ index: Int) {
    (receivers[index].hasPIN, receivers[index].needsPIN) = (true, true)
    (receivers[index].holder, receivers[index].freeSince) = (.nobody, now)
    told = known
    session.handle(.paired(told), at: now)
    tryAgain(index)
    settle()
  }

  private func tryAgain(_ index: Int) {
    for player in players {
      for room in player.rooms where room.receiver == receivers[index].id && !room.isLost {
        claim(room.id, by: player, takesOver: false)
      }
    }
  }

  /// Players try a room again and again, unless it was taken from them for good.
  private func retry() {
    for index in receivers.indices
    where receivers[index].answers && receivers[index].holder == .nobody { tryAgain(index) }
  }
}
