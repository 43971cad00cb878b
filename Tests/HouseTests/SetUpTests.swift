import Clock
import Testing

@testable import House

/// Tests of what a household's people choose for it.
@Suite struct SetUpTests {
  private let world: SimulatedWorld
  private let kitchen: String
  private let bath: String

  init() throws {
    world = try SimulatedWorld(rooms: 2, holding: .zero)
    (kitchen, bath) = (world.receivers[0].id, world.receivers[1].id)
    world.session.handle(
      .configured(.init(keys: ["library"], folders: ["/srv/fixed"])), at: world.now)
    world.settle()
  }

  @discardableResult
  private func ask(_ order: Order.SetUp) throws -> Answer {
    try world.ask(.setUp(order))
  }

  private var folders: [String] { world.folders.map(\.path) }

  @Test func `folders are added behind those of the configuration, and outlive the process`() throws
  {
    #expect(folders == ["/srv/fixed"] && world.folders[0].isFixed)
    try ask(.addFolder("/mnt/b"))
    #expect(try ask(.addFolder("/mnt/a")).said == "/mnt/a is in the library now")
    #expect(folders == ["/srv/fixed", "/mnt/b", "/mnt/a"] && !world.folders[1].isFixed)
    try ask(.removeFolder("/mnt/b"))
    try world.restart()
    #expect(world.session.folders.map(\.path) == ["/mnt/a"])
  }

  @Test func `a folder within one of the library is refused, one around others takes their place`()
    throws
  {
    try ask(.addFolder("/mnt/nas/jazz"))
    try ask(.addFolder("/mnt/nas/rock"))
    #expect(
      throws: Refusal.invalid("/srv/fixed/a is in the library already, within /srv/fixed")
    ) { try ask(.addFolder("/srv/fixed/a")) }
    #expect(throws: Refusal.invalid("/mnt/nas/jazz is in the library already")) {
      try ask(.addFolder("/mnt/nas/jazz"))
    }
    try ask(.addFolder("/mnt/nas"))
    #expect(folders == ["/srv/fixed", "/mnt/nas"])
    try ask(.addFolder("/mnt/nas2"))
    #expect(folders.last == "/mnt/nas2")
  }

  @Test func `a folder of the configuration stays`() throws {
    #expect(
      throws: Refusal.unavailable("the configuration names this folder: library = /srv/fixed")
    ) { try ask(.removeFolder("/srv/fixed")) }
    #expect(throws: Refusal.self) { try ask(.removeFolder("/srv/none")) }
    world.session.handle(.configured(.init()), at: world.now)
    world.settle()
    #expect(folders.isEmpty)
  }

  @Test(arguments: ["srv", "/srv/../etc", "/srv//a", "/srv/./a", "/srv/", "/", "", "/a\0b"])
  func `a folder is named by its whole path`(path: String) {
    #expect(throws: Refusal.invalid("a folder is named by its whole path, such as /srv/music")) {
      try ask(.addFolder(path))
    }
  }

  @Test func `there are so many folders and no more`() throws {
    for number in 0..<SetUp.folderLimit { try ask(.addFolder("/mnt/\(number)")) }
    #expect(throws: Refusal.self) { try ask(.addFolder("/mnt/more")) }
    #expect(folders.count == SetUp.folderLimit + 1)
  }

  @Test func `a folder that cannot be kept is not in the library`() throws {
    world.disk.isBroken = true
    #expect(throws: Refusal.self) { try ask(.addFolder("/mnt/a")) }
    #expect(folders == ["/srv/fixed"])
  }

  @Test func `a room is called as the household calls it`() throws {
    let own = world.session.name(ofRoom: kitchen)
    let other = world.session.name(ofRoom: bath)
    #expect(try ask(.nameRoom(kitchen, "Küche")).room?.name == "Küche")
    #expect(throws: Refusal.invalid("another room is called KÜCHE")) {
      try ask(.nameRoom(bath, "KÜCHE"))
    }
    #expect(throws: Refusal.self) { try ask(.nameRoom("none", "Attic")) }
    for wrong in ["", " ", "a\nb", String(repeating: "x", count: 65)] {
      #expect(throws: Refusal.self) { try ask(.nameRoom(bath, wrong)) }
    }
    try world.restart()
    #expect(world.session.name(ofRoom: kitchen) == "Küche")
    #expect(world.session.name(ofRoom: bath) == other)
    try ask(.nameRoom(kitchen, nil))
    #expect(world.session.name(ofRoom: kitchen) == own)
  }

  @Test func `dates are written in a language, or as each browser does`() throws {
    try ask(.dates("de-AT"))
    #expect(world.session.state(at: world.now).server.dates == "de-AT")
    for wrong in ["d", "deutsch", "de_AT", "de-", "1a", "de-aaaaaaaaa"] {
      #expect(throws: Refusal.self) { try ask(.dates(wrong)) }
    }
    try ask(.dates(nil))
    #expect(world.session.state(at: world.now).server.dates == nil)
  }
}
