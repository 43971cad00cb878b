import ArgumentParser
import Clock
import Driver
import Glibc
import House
import Library
import LinuxIO
import Sender
import Service

import typealias WireProtocol.Term

/// The term in which this daemon leads a household with two, and its knowledge of the other one.
struct HouseLead {
  let term: Term
  let second: SecondDaemon
}

/// `tutti serve`: a household without a terminal, with a socket for commands, all on one thread.
final class HouseProgram: LoopMember {
  /// Time that rooms have to receive the goodbye when the program ends.
  private static let farewell = Nanoseconds.seconds(2)

  let house: House
  private let reactor: Reactor
  private let control: ControlServer
  private let sharedControl: ControlServer?
  private let log: OutputWriter
  private let terminal: OutputWriter?
  private let rooms: NewestValueThread<[RoomRecord]>
  private let surfaces: HouseSurfaces
  private let access: PageAccess
  private let desk: TerminalDesk
  /// Watches the state directory, where `tutti pair` adds rooms too; nil if it cannot be watched.
  private let folder: (watch: DirectoryWatch, id: DescriptorID)?
  private let pairings: NewestValueThread<Void>
  private let file: ConfigurationWatch
  /// Changes of the configuration's file that the loop's thread has not taken yet.
  private let news: Inbox<ConfigurationWatch.News>
  /// The other daemon of a household that has two.
  private let second: SecondDaemon?
  /// As the household knows it.
  private var shown = SecondMachine()
  private var end: LocalTime?
  private var needsStart = false

  /// Set by tests, so that they need not wait for minutes.
  struct AlarmClock {
    /// Added to the clock on the wall.
    var offset = Nanoseconds.zero
    /// Nil for the usual one.
    var lead: Nanoseconds?
  }

  /// The configuration's file.
  struct File {
    var places: [String]
    var read: @Sendable () throws -> HouseConfiguration
  }

  init(
    _ configuration: HouseConfiguration, state: StateDirectory, encoding: EncoderChoice,
    alarms: AlarmClock = AlarmClock(), file: File, lead: HouseLead? = nil
  ) throws {
    second = lead?.second
    returnFreedMemory()
    try MediaWorkerCommand.start()
    let reactor = try Reactor()
    self.reactor = reactor
    log = try OutputWriter(descriptor: STDERR_FILENO, limit: 64 << 10) { _ in [] }
    terminal = try? OutputWriter(descriptor: STDOUT_FILENO, limit: 64 << 10) { _ in [] }
    // The process that holds the socket owns the directory, so take the socket before touching any
    // file.
    control = try ControlServer(path: state.controlSocket, reactor: reactor)
    sharedControl = try configuration.socket.map {
      try ControlServer(path: $0, isShared: true, reactor: reactor)
    }
    rooms = try NewestValueThread(name: "rooms") { { state.remember($0) } }
    let host = try GroupHost(
      reactor: reactor, security: state.security(), remembered: state.rememberedRooms(),
      paired: state.paired(), term: lead?.term ?? 0)
    let log = log
    let servers = HeldServers()
    let settings = Self.settings(
      configuration, state: state, encoding: encoding, alarms: alarms, servers: servers)
    house = try House(host: host, settings: settings) { line in Self.say(line, to: log) }
    servers.set(house.servers)
    access = try PageAccess(configuration, state: state)
    surfaces = try HouseSurfaces(
      configuration, id: host.senderID, state: state, house: house.client, access: access.house,
      folders: house.folders, servers: house.servers,
      loudness: settings.loudness, places: settings.places
    ) { line in Self.say(line, to: log) }
    desk = TerminalDesk(
      house, access: access.house, pairing: surfaces.pairing, library: surfaces.library,
      waker: reactor.waker)
    if let media = surfaces.media { house.ask(media) }
    let client = house.client
    pairings = try NewestValueThread(name: "pairings") {
      { _ in if let paired = try? state.paired() { client.paired(paired) } }
    }
    folder = try? Self.watch(state.path, reactor)
    let news = Inbox<ConfigurationWatch.News>(limit: 8, waker: reactor.waker)
    self.news = news
    self.file = try ConfigurationWatch(
      configuration, files: file.places, reactor: reactor, read: file.read
    ) { news.post($0) }
    house.listener.folders = { [surfaces] in surfaces.media?.set($0) }
    house.listener.servers = { [surfaces] in
      servers.set($0)
      surfaces.set($0)
    }
    house.listener.warning = { line in Self.say(line, to: log) }
    host.onWarning = house.listener.warning
    second?.leads(host, access: access.house, port: surfaces.port)
    house.listener.rooms = { [rooms] in rooms.post($0) }
    house.listener.event = { group, change in
      guard let line = EventSentences.line(change)?.text(isColoured: false) else { return }
      // A line about a room already begins with its name.
      if case .group(.room) = change { return Self.say(line, to: log) }
      Self.say("\(group): \(line)", to: log)
    }
    desk.onEnd = { [weak self] in self?.stop() }
    control.answer = { [desk] call, reply in desk.answer(call, reply) }
    sharedControl?.answer = { [weak self] call, reply in self?.answerGroup(call, reply) }
    let signals: [ProcessSignal] = ProcessSignal.hangUp.isIgnored ? [] : [.hangUp]
    try reactor.watch(signals: [.interrupt, .terminate] + signals)
  }

  private static func settings(
    _ configuration: HouseConfiguration, state: StateDirectory, encoding: EncoderChoice,
    alarms: AlarmClock, servers: HeldServers
  ) -> House.Settings {
    var settings = House.Settings(
      name: configuration.name ?? HostName.current, version: TuttiCommand.configuration.version,
      encoding: encoding, path: state.path + "/house.db", resumes: configuration.resume,
      inputs: configuration.inputs, voice: configuration.voice)
    (settings.wallOffset, settings.record) = (alarms.offset, configuration.record)
    if let lead = alarms.lead { settings.alarmLead = lead }
    settings.served = ServerAccess.items(servers)
    settings.look = { ServerLook.problem(of: $0, command: HouseSurfaces.worker) }
    settings.search = { ServerFinder.servers(command: HouseSurfaces.worker) }
    let music = MusicFolder.own
    (settings.fixed, settings.roots) = (configuration.fixed, configuration.roots(music: music))
    return settings
  }

  /// Returns true if a new process is to go on.
  func run() throws -> Bool {
    house.start()
    Self.say("ready; play something with: tutti play FILE", to: log)
    showPage()
    let loop = EventLoop(
      reactor, [self, control, house.host, house] + [sharedControl].compactMap(\.self))
    try loop.run { isOver }
    if needsStart { second?.returns() }
    surfaces.end()
    try house.end()
    _ = rooms.finish(within: 1000)
    log.finish(within: .milliseconds(300))
    terminal?.finish(within: .milliseconds(300))
    return needsStart
  }

  private var isOver: Bool {
    guard let end else { return false }
    return house.roomsHaveLeft || end <= HostClock.now
  }

  var nextDeadline: LocalTime? { end }

  private static func watch(
    _ path: String, _ reactor: Reactor
  ) throws -> (watch: DirectoryWatch, id: DescriptorID) {
    let watch = try DirectoryWatch(path)
    return (watch, try reactor.watch(descriptor: watch.descriptor))
  }

  func handle(_ event: ReactorEvent) -> Bool {
    if let folder, event == .readable(folder.id) {
      if folder.watch.takeNames().contains(StateDirectory.pairedName) { pairings.post(()) }
      return true
    }
    if file.handle(event) { return true }
    guard case .signal(let signal) = event else { return false }
    signal == .hangUp ? leave() : stop()
    return true
  }

  private func stop() {
    guard end == nil else { return }
    if second?.other.isUp == true {
      Self.say("the household's other daemon goes on with the music", to: log)
      return leave()
    }
    end = HostClock.now + Self.farewell
    surfaces.stopCounting()
    house.stop()
  }

  /// Another process goes on with what the rooms play.
  private func leave() {
    guard end == nil else { return }
    end = HostClock.now
    surfaces.stopCounting()
    house.leave()
  }

  func turn() {
    desk.replyToAll()
    for news in news.take() { follow(news) }
    followSecond()
  }

  private func followSecond() {
    guard let second else { return }
    for case .follows in second.takeNews() {
      needsStart = true
      leave()
    }
    let other = second.other
    let machine = SecondMachine(host: other.isUp ? other.host : nil, problem: other.problem)
    guard machine != shown else { return }
    shown = machine
    house.show(machine)
  }

  private func follow(_ news: ConfigurationWatch.News) {
    switch news {
    case .followed(let configuration, let roots):
      Self.say("the configuration has changed, and is followed", to: log)
      access.house.configured(isOpen: configuration.open)
      house.client.configured(configuration.fixed, roots: roots)
    case .needsStart:
      Self.say(
        "the configuration has changed; the daemon begins anew, and the music goes on", to: log)
      needsStart = true
      leave()
    case .wrong(let line): Self.say("\(line); all stays as it was", to: log)
    }
  }

  /// Answers calls on the group's socket. All of them are allowed except ending the program, which
  /// is left to its own user.
  private func answerGroup(_ call: ControlCall, _ reply: @escaping (ControlReply) -> Void) {
    guard case .end = call.request else { return desk.answer(call, reply) }
    let refusal = Refusal.unavailable("only the user who runs the daemon may end it")
    reply(ControlReply(id: call.id, .refused(error: refusal)))
  }

  /// Shows the page's address. The QR code goes to the terminal only, because its secret must not
  /// be in a log.
  private func showPage() {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    let lines = access.lines(port: surfaces.port, isTerminal: isTerminal)
    if isTerminal {
      terminal?.post(Array(lines.map { $0 + "\n" }.joined().utf8))
    } else {
      for line in lines { Self.say(line, to: log) }
    }
  }

  static func say(_ line: String, to log: OutputWriter) {
    let text = StyledText("tutti: " + line).text(isColoured: false)
    log.post(Array((text + "\n").utf8))
  }
}
