import Clock
import Sender
import Testing

@testable import House

/// Tests of the servers of libraries that a household's people add.
@Suite struct ChosenServerTests {
  private let world: SimulatedWorld

  init() throws {
    world = try SimulatedWorld(rooms: 1, holding: .zero)
    var fixed = SetUp.Fixed(keys: ["library"], folders: ["/srv/Jazz"])
    fixed.servers = [try Self.server("Home").server()]
    fixed.servers[0].isFixed = true
    world.session.handle(.configured(fixed), at: world.now)
    world.settle()
  }

  @discardableResult
  private func ask(_ order: Order.SetUp) throws -> Answer { try world.ask(.setUp(order)) }

  private static func server(_ name: String) -> ChosenServer {
    var server = ChosenServer(name: name, kind: .subsonic, address: "https://music.example")
    (server.user, server.secret) = ("anna", "sesame")
    return server
  }

  @Test func `servers are added behind those of the configuration, and outlive the process`() throws
  {
    #expect(world.servers.map(\.name) == ["Home"])
    #expect(try ask(.addServer(Self.server("Work"))).said == "Work is in the library now")
    try ask(.addServer(.init(name: "Loft", kind: .upnp, address: "http://192.168.1.5:8200/a.xml")))
    #expect(world.servers.map(\.name) == ["Home", "Work", "Loft"])
    #expect(world.servers.map(\.isFixed) == [true, false, false])
    // Whoever adds one from elsewhere leads no connection to this machine.
    #expect(world.servers.map(\.reach) == [.network, .network, .network])
    try ask(.removeServer("Loft"))
    try world.restart()
    #expect(world.session.servers.map(\.name) == ["Work"])
    #expect(world.session.servers[0].secret == "sesame")
  }

  @Test func `a server of the configuration stays, and its name is taken`() throws {
    #expect(
      throws: Refusal.unavailable("the configuration names this server: [library Home]")
    ) { try ask(.removeServer("Home")) }
    #expect(throws: Refusal.noSuch("Attic is no server of the library; see: tutti servers")) {
      try ask(.removeServer("Attic"))
    }
    #expect(throws: Refusal.invalid("there is a library home already")) {
      try ask(.addServer(Self.server("home")))
    }
    #expect(throws: Refusal.invalid("a folder of the library is called jazz")) {
      try ask(.addServer(Self.server("jazz")))
    }
    // It hides one that was added before.
    try ask(.addServer(Self.server("Work")))
    var fixed = SetUp.Fixed()
    fixed.servers = [
      MediaServer(name: "work", description: try #require(ListenAddress("http://a")))
    ]
    world.session.handle(.configured(fixed), at: world.now)
    world.settle()
    #expect(world.servers == fixed.servers)
  }

  @Test func `there are so many servers and no more`() throws {
    for number in 1..<SetUp.serverLimit { try ask(.addServer(Self.server("S\(number)"))) }
    #expect(throws: Refusal.self) { try ask(.addServer(Self.server("More"))) }
    #expect(world.servers.count == SetUp.serverLimit)
  }

  @Test(arguments: [
    "name", "address", "user", "secret", "upnp",
  ])
  func `a server has a name, an address, and a proof of its user`(part: String) throws {
    var server = Self.server("Work")
    switch part {
    case "name": server.name = "../etc"
    case "address": server.address = "https://anna:sesame@music.example"
    case "user": server.user = ""
    case "secret": server.secret = "a\nb"
    default: server.kind = .upnp
    }
    #expect(throws: Refusal.self) { try ask(.addServer(server)) }
    #expect(throws: Refusal.self) { try world.session.check(server) }
    #expect(world.servers.map(\.name) == ["Home"])
  }

  @Test func `a server keeps its secret and its reach on the way to the program that asks it`()
    throws
  {
    let server = try Self.server("Work").server()
    var read = try #require(MediaServer(words: server.words))
    #expect(read.secret == "sesame" && read.reach == .network)
    read.isFixed = false
    #expect(read == server)
  }

  @Test func `a server that cannot be kept is not in the library`() throws {
    world.disk.isBroken = true
    #expect(throws: Refusal.self) { try ask(.addServer(Self.server("Work"))) }
    #expect(world.servers.map(\.name) == ["Home"])
  }
}
