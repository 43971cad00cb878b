import Clock
import Driver
import LinuxIO
import Sender
import Service

/// `tutti play`: a player with a terminal and a socket for other commands, all on one thread.
final class PlayerProgram {
  private let reactor: Reactor
  private let player: PlayerService
  private let state: StateDirectory
  private let display: PlayerDisplay
  private let control: ControlServer

  init(_ player: PlayerService, reactor: Reactor, state: StateDirectory, isJSON: Bool) throws {
    (self.reactor, self.player, self.state) = (reactor, player, state)
    // A terminal that is closed stops the music, unless `nohup` was to keep it playing.
    try reactor.watch(
      signals: [.interrupt, .terminate, .windowChanged] + [.hangUp].filter { !$0.isIgnored })
    control = try ControlServer(path: state.controlSocket, reactor: reactor, player.answer)
    display = try PlayerDisplay(player, reactor: reactor, isJSON: isJSON)
  }

  /// Plays until the end, a stop, or a signal.
  func run() throws {
    defer { display.end() }
    player.onRooms = { [state] in state.leftRooms = $0 }
    try player.start()
    while !player.isOver {
      let deadline = [player.nextDeadline, display.nextDeadline].compactMap { $0 }.min()
      for event in try reactor.wait(until: deadline)
      where !control.handle(event) && !display.handle(event) {
        if case .signal = event { try player.carryOut(.stop) }
        player.handle(event)
      }
      player.turn()
      display.advance(to: HostClock.now)
    }
    try player.end()
    state.leftRooms = LeftRooms()
    state.remember(player.roomsToRemember)
    if let failure = player.failure { throw failure }
  }
}
