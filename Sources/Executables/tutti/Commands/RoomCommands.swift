import ArgumentParser
import Driver
import House
import Sender
import Service

struct JoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Plays in another room as well, in sync with the others.",
    discussion: """
      Examples:
        tutti join Bedroom
        tutti join --at 192.168.1.20:7770
        tutti join Bath --instead
      """)
  @Argument(help: "Names of the rooms.", completion: RoomCompletion.kind)
  var rooms: [String] = []
  @Option(
    help: .init("The address of a receiver; can be given several times.", valueName: "host:port"))
  var at: [String] = []
  @Flag(help: "The rooms before leave as soon as these sound: the music moves.")
  var instead = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      guard !rooms.isEmpty || !at.isEmpty else { throw Failure(.usage, "name a room") }
      let state = try common.state()
      let client = common.client(state)
      // Fail early if no player runs, before searching for rooms. A daemon knows its own by the names that they were given.
      let known = Set((try client.ask(.status).rooms ?? []).map { $0.lowercased() })
      let names = rooms.flatMap { RoomWish.names($0) }
      let found = try ReceiverSearch(state: state).records(
        named: names.filter { !known.contains($0.lowercased()) })
      let addresses = try at.map(RoomWish.address)
      let own = names.filter { known.contains($0.lowercased()) }
      let ids = own + found.map(\.id) + addresses.map { RoomWish.text(host: $0, port: $1) }
      for order in orders(ids) {
        try common.show(try client.ask(.order(order), rooms: found))
      }
    }
  }
}

extension JoinCommand {
  private func orders(_ rooms: [String]) -> [Order] {
    guard instead else {
      return rooms.map { .join(group: Order.meantGroup, room: $0, takes: false) }
    }
    var change = Order.GroupChange()
    change.roomIds = rooms
    return [.change(group: Order.meantGroup, change)]
  }
}

struct LeaveCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "leave", abstract: "Stops the music in a room; the others play on.",
    discussion: "Example:\n  tutti leave Bedroom")
  @Argument(help: "Names of rooms that play.", completion: RoomCompletion.kind)
  var rooms: [String]
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    .order(.leave(group: Order.meantGroup, rooms: rooms.flatMap { RoomWish.names($0) }))
  }
}

/// Completes names for `--on` in the shell: remembered rooms, and rooms that a short search finds.
enum RoomCompletion {
  static let kind = CompletionKind.custom { words, _, prefix in
    let option = words.firstIndex(of: "--state-dir").map { words.index(after: $0) }
    let directory = option.flatMap { words.indices.contains($0) ? words[$0] : nil }
    guard let state = try? StateDirectory(directory) else { return [] }
    let rooms = (try? ReceiverSearch(state: state).names()) ?? []
    // In a comma-separated list, complete the last name.
    let before = prefix.lastIndex(of: ",").map { String(prefix[...$0]) } ?? ""
    return rooms.map { before + $0 }
  }
}
