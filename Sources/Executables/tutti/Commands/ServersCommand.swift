import ArgumentParser
import Glibc
import House
import Sender
import Service
import WireProtocol

struct ServersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "servers",
    abstract: "Lists the servers whose songs are in the daemon's library, and changes them.",
    discussion: """
      The password is asked for, or read from standard input.
      The configuration's own servers stay.

      Examples:
        tutti servers
        tutti servers --add Home --subsonic https://music.example --user anna
        tutti servers --find
        tutti servers --add Loft --upnp http://192.168.1.5:8200/rootDesc.xml
        tutti servers --remove Home
      """)
  @Option(help: .init("Take the songs of a server into the library.", valueName: "name"))
  var add: String?
  @Option(help: .init("A server that speaks Subsonic's interface.", valueName: "address"))
  var subsonic: String?
  @Option(help: .init("The description of a media server of UPnP.", valueName: "address"))
  var upnp: String?
  @Option(help: "The user there.")
  var user: String?
  @Option(help: "How the user is proved: token, password or key.")
  var login: String?
  @Option(help: .init("Take a server's songs out of the library.", valueName: "name"))
  var remove: String?
  @Flag(help: "Search the network for media servers of UPnP, and list their names and addresses.")
  var find = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let client = common.client(try common.state())
      let order: Order.SetUp
      switch (add, remove, find) {
      case (nil, nil, false): return try show(client)
      case (nil, nil, true): return try showFound(client)
      case (let name?, nil, false): order = .addServer(try server(name))
      case (nil, let name?, false): order = .removeServer(name)
      default: throw Failure(.usage, "one thing at a time, please")
      }
      try common.show(try client.ask(.order(.setUp(order))))
    }
  }

  private func server(_ name: String) throws -> ChosenServer {
    guard let address = subsonic ?? upnp, subsonic == nil || upnp == nil else {
      throw Failure(.usage, "a server is named by --subsonic or --upnp, with its address")
    }
    var server = ChosenServer(
      name: name, kind: subsonic == nil ? .upnp : .subsonic, address: address)
    // Whoever is at this machine may name what is on it.
    (server.user, server.reach) = (user ?? "", .all)
    if let login {
      guard let found = MediaServer.Login(rawValue: login) else {
        let all = MediaServer.Login.allCases.map(\.rawValue).joined(separator: ", ")
        throw Failure(.usage, "--login is one of: \(all)")
      }
      server.login = found
    }
    if subsonic != nil { server.secret = secret() }
    return server
  }

  /// Shows nothing of what is typed.
  private func secret() -> String {
    guard isatty(STDIN_FILENO) == 1 else { return readLine() ?? "" }
    return getpass("Password or key: ").map { String(cString: $0) } ?? ""
  }

  private func show(_ client: ControlClient) throws {
    guard let servers = try client.askLibrary(.servers)?.servers else { throw Self.noDaemon }
    if common.json {
      for server in servers { try printJSON(server) }
      return
    }
    if servers.isEmpty {
      return try printLine("the library has no server; add one with: tutti servers --add NAME")
    }
    for server in servers {
      let rest = [
        "\(server.trackCount) \(server.trackCount == 1 ? "track" : "tracks")",
        server.awaySinceS.map { "not there since \(Self.text($0))" },
        server.isFixed ? "in the configuration" : nil,
      ].compactMap { $0 }
      try printLine(([server.name, server.address] + rest).joined(separator: ", ").shownPlainly)
    }
  }

  private static let noDaemon = Failure(
    .unavailable, "no daemon runs; start one with: tutti serve")

  private func showFound(_ client: ControlClient) throws {
    guard let servers = try client.askLibrary(.foundServers)?.found else { throw Self.noDaemon }
    if common.json {
      for server in servers { try printJSON(server) }
      return
    }
    if servers.isEmpty { return try printLine("no media server of UPnP has answered") }
    for server in servers { try printLine("\(server.name)  \(server.address)".shownPlainly) }
  }

  /// The clock on the wall of this machine.
  private static func text(_ seconds: Int64) -> String {
    var (seconds, parts) = (time_t(seconds), tm())
    localtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
