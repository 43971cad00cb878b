import Driver
import LinuxIO
import Service

/// `tutti play`: a player with a terminal and a socket for other commands, all on one thread.
struct PlayerProgram {
  private let player: PlayerService
  private let host: GroupHost
  private let state: StateDirectory
  private let display: PlayerDisplay
  private let loop: EventLoop

  init(_ player: PlayerService, on host: GroupHost, state: StateDirectory, isJSON: Bool) throws {
    (self.player, self.host, self.state) = (player, host, state)
    let reactor = host.reactor
    // A terminal that is closed stops the music, unless `nohup` was to keep it playing.
    try reactor.watch(
      signals: [.interrupt, .terminate, .windowChanged] + [.hangUp].filter { !$0.isIgnored })
    let control = try ControlServer(path: state.controlSocket, reactor: reactor)
    control.answer = { call, reply in reply(player.reply(to: call)) }
    display = try PlayerDisplay(player, reactor: reactor, isJSON: isJSON)
    host.onWarning = player.onWarning
    loop = EventLoop(reactor, [control, host, player, display])
  }

  /// Plays until the end, a stop, or a signal.
  func run() throws {
    defer { display.end() }
    player.onRooms = { [state] in state.leftRooms = $0 }
    try player.start()
    try loop.run { player.isOver }
    try player.end()
    state.leftRooms = LeftRooms()
    state.remember(host.directory.toRemember)
    if let failure = player.failure { throw failure }
  }
}
