import ArgumentParser
import Clock
import Driver
import Sender
import Service

struct StopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stops playing; the player ends.",
    discussion: """
      A player that was killed leaves its rooms playing, for as long as what they hold lasts. Name
      them with --on, or silence every room with --all. Rooms fall silent whoever plays there.

      Examples:
        tutti stop
        tutti stop --on Kitchen    the others play on
        tutti stop --all
      """)
  @Option(
    help: .init("Only these rooms, with commas between them.", valueName: "rooms"),
    completion: RoomCompletion.kind)
  var on: String?
  @Option(help: .init("A receiver's address; may be given several times.", valueName: "host:port"))
  var at: [String] = []
  @Flag(help: "Every receiver on this network, whoever plays there.")
  var all = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let state = try common.state()
      let client = common.client(state)
      if all { return try stopAll(client, state) }
      if on == nil, at.isEmpty {
        guard let reply = try client.askIfRunning(.stop) else { throw nothingPlays(state) }
        return try common.show(reply)
      }
      let wish = try RoomWish(on: on, at: at)
      let others = try leave(wish.names, client)
      try silence(.init(names: others, addresses: wish.addresses), state)
    }
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

  private func stopAll(_ client: ControlClient, _ state: StateDirectory) throws {
    if let reply = try client.askIfRunning(.stop) { try common.show(reply) }
    let addresses = try (at + state.leftRooms.addresses).map(RoomWish.address)
    try silence(.init(addresses: addresses, isAll: true), state)
  }

  /// Ends playing in those that are the running player's. Returns the others.
  private func leave(_ names: [String], _ client: ControlClient) throws -> [String] {
    guard let rooms = try client.askIfRunning(.status)?.status.rooms else { return names }
    let playing = Set(rooms.map { $0.name.lowercased() })
    let own = names.filter { playing.contains($0.lowercased()) }
    if own.isEmpty { return names }
    let isAll = Set(own.map { $0.lowercased() }) == playing
    try common.show(try client.ask(isAll ? .stop : .leave(rooms: own)))
    return names.filter { !own.contains($0) }
  }

  private func silence(_ wish: RoomSilencer.Wish, _ state: StateDirectory) throws {
    guard wish.isAll || !wish.names.isEmpty || !wish.addresses.isEmpty else { return }
    let silencer = try RoomSilencer(
      security: try state.security(), senderName: HostName.current,
      remembered: state.rememberedRooms(), paired: try state.paired())
    var hasFailed = false
    for report in try silencer.run(wish) {
      switch report.outcome {
      case .silenced(let music, of: let sender):
        let length = TimeText.format(music.seconds)
        try printLine("\(report.name): silent; \(length) of music from \(sender) was dropped")
      case .wasSilent: try printLine("\(report.name): was silent")
      case .unreachable(let reason):
        // Of all rooms, those that are only remembered may well be switched off.
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
  /// As `tutti stop` takes them.
  fileprivate var options: String {
    let on = names.isEmpty ? [] : ["--on '\(names.sorted().joined(separator: ","))'"]
    return (on + addresses.map { "--at \($0)" }).joined(separator: " ")
  }
}
