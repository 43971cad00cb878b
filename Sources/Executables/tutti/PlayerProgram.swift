import Driver
import House
import LinuxIO
import Sender
import Service

/// `tutti play`: a player with a terminal and a socket for other commands, all on one thread.
struct PlayerProgram {
  private let player: PlayerService
  private let host: GroupHost
  private let state: StateDirectory
  private let display: PlayerDisplay
  private let mpris: TerminalMPRIS?
  private let loop: EventLoop

  init(
    _ player: PlayerService, on host: GroupHost, state: StateDirectory, isJSON: Bool, hasMPRIS: Bool
  ) throws {
    (self.player, self.host, self.state) = (player, host, state)
    let reactor = host.reactor
    // Closing the terminal stops the music, unless `nohup` made the program ignore that signal.
    try reactor.watch(
      signals: [.interrupt, .terminate, .windowChanged, .resume]
        + [.hangUp, .suspend].filter { !$0.isIgnored })
    let control = try ControlServer(path: state.controlSocket, reactor: reactor)
    control.answer = { call, reply in reply(player.reply(to: call)) }
    display = try PlayerDisplay(player, reactor: reactor, isJSON: isJSON)
    host.onWarning = player.onWarning
    mpris = hasMPRIS ? try TerminalMPRIS(player, reactor: reactor) : nil
    loop = EventLoop(
      reactor, [control, host, player, display] + [mpris].compactMap(\.self))
  }

  /// Plays until the end, a stop, or a signal. Returns the name of a room that must be paired first, if no room could
  /// be reached yet and somebody sits at the terminal.
  func run() throws -> String? {
    defer { display.end() }
    let stranger = StrangeRoom()
    if display.canAsk {
      player.onEvent = { [show = player.onEvent] event in
        show(event)
        stranger.note(event.change)
      }
    }
    player.onRooms = { [state] in state.leftRooms = $0 }
    try player.start()
    try loop.run { player.isOver || stranger.name != nil }
    mpris?.end()
    try player.end()
    state.leftRooms = LeftRooms()
    state.remember(host.directory.toRemember)
    if stranger.name == nil, let failure = player.failure { throw failure }
    return stranger.name
  }
}

/// Finds the first room that is not paired with this machine, as long as no room has been reached.
private final class StrangeRoom {
  private(set) var name: String?
  private var hasReachedRoom = false

  func note(_ change: GroupEvent.Change) {
    switch change {
    case .group(.room(_, .connected)): hasReachedRoom = true
    case .group(.room(let room, .notPaired)) where !hasReachedRoom && name == nil:
      name = room.name
    default: break
    }
  }
}
