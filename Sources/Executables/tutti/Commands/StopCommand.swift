import ArgumentParser
import Clock
import Driver
import House
import Sender
import Service

struct StopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stops the music, and ends the player.",
    discussion: """
      Without options, stops the player that runs here, or a group of the daemon.
      With --on, --at or --all, silences rooms, even if another machine plays there.

      With --everywhere, stops all groups of the daemon that play, and what rings.
      With --in as well, all of them fade out and pause at that time, each by its
      sleep timer. Rooms of other senders are left alone.

      When a player was killed, its rooms play on until their buffers are empty.
      Silence them with --on or --all.

      Examples:
        tutti stop
        tutti stop --on Kitchen            the others play on
        tutti stop --everywhere            all groups of a daemon
        tutti stop --everywhere --in 30    in half an hour
        tutti stop --everywhere --in 23:30
        tutti stop --everywhere --in off   not after all
        tutti stop --all                   all groups, and rooms of others
        tutti stop --daemon                ends tutti serve as well
      """)
  @Option(
    help: .init("Only these rooms, separated by commas.", valueName: "rooms"),
    completion: RoomCompletion.kind)
  var on: String?
  @Option(
    help: .init("The address of a receiver; can be given several times.", valueName: "host:port"))
  var at: [String] = []
  @Flag(help: "All receivers on this network, even if another machine plays there.")
  var all = false
  @Flag(help: "All groups of the daemon that play.")
  var everywhere = false
  @Option(
    name: .customLong("in"),
    help: .init(
      "With --everywhere: so many minutes from now, a time of day, or off, which ends all sleep timers.",
      valueName: "minutes"),
    completion: .list(["15", "30", "45", "60", "off"]))
  var minutes: String?
  @Flag(help: "End the daemon too; groups and queues are kept for its next start.")
  var daemon = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let state = try common.state()
      let client = common.client(state)
      if daemon {
        guard !namesRooms, !everywhere, minutes == nil else {
          throw Failure(
            .usage, "--daemon ends all music; leave --on, --at, --all, --everywhere and --in out")
        }
        guard let reply = try client.askIfRunning(.end) else {
          throw Failure(.unavailable, "no daemon runs with \(state.path)")
        }
        return try common.show(reply)
      }
      let isEverywhere = everywhere || minutes != nil
      if namesRooms, !isEverywhere {
        return try silence(try RoomWish(on: on, at: at), client, state)
      }
      let request = try isEverywhere ? stopEverywhere() : .transport(.stop)
      guard let reply = try client.askIfRunning(request) else { throw nothingPlays(state) }
      try common.show(reply)
    }
  }

  private var namesRooms: Bool { on != nil || !at.isEmpty || all }

  private func stopEverywhere() throws -> ControlRequest {
    guard everywhere else {
      throw Failure(.usage, "--in goes with --everywhere; for one group: tutti sleep")
    }
    guard !namesRooms, common.group == nil else {
      throw Failure(
        .usage, "--everywhere means all groups; leave --on, --at, --all and --group out")
    }
    return .order(.stopEverywhere(sleepInS: try minutes.map(SleepCommand.seconds)))
  }

  /// Silences rooms. The running player or daemon must silence its own rooms, because a second program of the same
  /// sender would take them from it.
  private func silence(
    _ wish: RoomWish, _ client: ControlClient, _ state: StateDirectory
  ) throws {
    let left = all ? try state.leftRooms.addresses.map(RoomWish.address) : []
    let words = wish.names + wish.addresses.map { RoomWish.text(host: $0.host, port: $0.port) }
    let answer = try client.askIfRunning(.silence(rooms: all ? [] : words))
    if let answer { try common.show(answer) }
    let own = answer?.silenced ?? ControlAnswer.Silenced(rooms: [], receivers: [])
    let rest = RoomSilencer.Wish(
      names: all ? [] : wish.names.filter { !own.rooms.contains($0) },
      addresses: (wish.addresses + left).filter {
        !own.rooms.contains(RoomWish.text(host: $0.host, port: $0.port))
      }, isAll: all)
    try silence(rest, state, sparing: own.receivers)
  }

  private func nothingPlays(_ state: StateDirectory) -> Failure {
    let left = state.leftRooms
    guard !left.isEmpty else {
      return Failure(
        .unavailable, "nothing is playing; a room that plays all the same: tutti stop --on ROOM")
    }
    return Failure(
      .unavailable,
      "nothing is playing, but the last player was killed, and its rooms may play on; silence them with: tutti stop "
        + left.options)
  }

  private func silence(
    _ wish: RoomSilencer.Wish, _ state: StateDirectory, sparing receivers: [String]
  ) throws {
    guard wish.isAll || !wish.names.isEmpty || !wish.addresses.isEmpty else { return }
    let silencer = try RoomSilencer(
      security: try state.security(), senderName: HostName.current,
      remembered: state.rememberedRooms(), paired: try state.paired(), sparing: receivers)
    var hasFailed = false
    for report in try silencer.run(wish) {
      switch report.outcome {
      case .silenced(let music, of: let sender):
        let length = TimeText.format(music.seconds)
        try printLine("\(report.name): silent; \(length) of music from \(sender) was dropped")
      case .wasSilent: try printLine("\(report.name): was silent")
      case .spared: break
      case .unreachable(let reason):
        // With `--all`, rooms that are only remembered may well be switched off, so this is no error.
        if !wish.isAll {
          printError("tutti: \(report.name): \(reason)")
          hasFailed = true
        }
      }
    }
    if hasFailed { throw ExitCode(Failure.Kind.unavailable.rawValue) }
    state.leftRooms = LeftRooms()
  }
}

extension LeftRooms {
  /// The options with which `tutti stop` silences these rooms.
  fileprivate var options: String {
    let on = names.isEmpty ? [] : ["--on '\(names.sorted().joined(separator: ","))'"]
    return (on + addresses.map { "--at \($0)" }).joined(separator: " ")
  }
}
