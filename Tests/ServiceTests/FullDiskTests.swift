import Clock
import Driver
import Glibc
import LinuxIO
import OpenSSLSecurity
import SQLiteStore
import Sender
import TestSupport
import Testing

@testable import House
@testable import Service

/// Tests of a household whose disk is full: it does nothing that it refuses.
@Suite struct FullDiskTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("house.db") }

  init() throws { folder = try TemporaryFolder() }

  private final class Home {
    let house: House
    private let loop: EventLoop
    private(set) var lines: [String] = []

    init(_ path: String) throws {
      let host = try GroupHost(
        reactor: Reactor(), security: TLSContext(IdentityKey.generate()))
      house = try House(
        host: host,
        settings: .init(
          name: "study", version: "1",
          encoding: EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20), path: path,
          resumes: false)
      ) { Issue.record("\($0)") }
      loop = EventLoop(host.reactor, [host, house])
      house.listener.warning = { [unowned self] in lines.append($0) }
    }

    @discardableResult
    func ask(_ request: Order) throws -> Answer {
      var result: Result<Answer, Refusal>?
      house.perform(request) { result = $0 }
      while result == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
      return try #require(result).get()
    }

    func command(_ request: ControlRequest) throws -> ControlReply.Outcome {
      var reply: ControlReply?
      house.answer(ControlCall(id: 1, request)) { reply = $0 }
      while reply == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
      return try #require(reply).outcome
    }

    func add(_ count: Int, to group: String, title: String = "") throws {
      let entries = (0..<count).map { number in
        var entry = Order.NewEntry(location: "/music/\(number).flac")
        entry.title = title
        return entry
      }
      try ask(.edit(group: group, .add(entries, at: .end), expected: nil))
    }

    func newGroup(_ name: String) throws -> String {
      try #require(try ask(.createGroup(rooms: [], name: name)).group).id
    }

    /// Returns the household's published state.
    func shown() throws -> [Shown] {
      try house.publish().groups.map { group in
        let page = try house.session.page(of: group.id, offset: 0, limit: 1000)
        return Shown(
          id: group.id, name: group.name, repetition: group.repeat.rawValue,
          rate: group.effects.rate,
          rooms: group.roomIds, entries: page.entries.map(\.id))
      }
    }
  }

  private struct Shown: Equatable {
    var id: String
    var name: String
    var repetition: String
    var rate: Double
    var rooms: [String]
    var entries: [Int]
  }

  /// Returns an edit of every kind.
  private static func edits(_ group: String, _ other: String) -> [Order] {
    var change = Order.GroupChange()
    (change.name, change.repeat, change.roomIds) = ("Other", .all, ["[::1]:9"])
    change.effects = .init(rate: 1.5)
    let entry = Order.NewEntry(location: "/x.flac")
    let edits: [Order.QueueEdit] = [
      .add([entry], at: .end), .add([entry], at: .next), .add([entry], at: .now),
      .add([entry], at: .nowAndKeep), .clear, .shuffle,
      .remove([1]), .move(0, to: .end),
    ]
    return edits.map { .edit(group: group, $0, expected: nil) } + [
      .change(group: group, change), .createGroup(rooms: ["[::1]:9"], name: "New"),
      .deleteGroup(group), .merge(group: group, other: other),
      .join(group: other, room: "[::1]:9", takes: false),
      .leave(group: group, rooms: ["127.0.0.1:9"]),
    ]
  }

  /// Makes the database refuse writes, like a full disk.
  private func fill() throws {
    let database = try Database(path: path)
    for change in ["INSERT", "UPDATE", "DELETE"] {
      for table in ["house", "groups", "entries", "group_rooms"] {
        try database.execute(
          """
          CREATE TRIGGER full_\(change)_\(table) BEFORE \(change) ON \(table) BEGIN
            SELECT RAISE(ABORT, 'no room'); END
          """)
      }
    }
  }

  private func makeRoom() throws {
    let database = try Database(path: path)
    let names = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      .all { $0.text(0) ?? "" }
    for name in names { try database.execute("DROP TRIGGER \(name)") }
  }

  @Test func `no edit is done that cannot be kept, and all are again when there is room`() throws {
    let home = try Home(path)
    let group = try home.newGroup("Party")
    let other = try home.newGroup("Quiet")
    try home.ask(.join(group: group, room: "127.0.0.1:9", takes: false))
    try home.ask(.join(group: other, room: "127.0.0.1:10", takes: false))
    try home.add(30, to: group)
    for edit in Self.edits(group, other) {
      let before = try home.shown()
      try fill()
      // The first edit fails when it is written. The second is refused before it is done.
      for _ in 0..<2 {
        let problem = #expect(throws: Refusal.self, "\(edit)") { try home.ask(edit) }
        guard case .notKept(let line) = problem else { throw Refusal.invalid("\(edit)") }
        #expect(line.contains("no room"))
        #expect(home.house.publish().server.diskProblem == line)
        #expect(try home.shown() == before, "\(edit)")
      }
      #expect(try Home(path).shown() == before)
      try makeRoom()
      try home.add(0, to: group)
      #expect(try home.shown() == before, "\(edit)")
    }
    #expect(home.lines.count { $0.contains("no room") } == Self.edits(group, other).count)
    try home.add(1, to: group)
    #expect(home.house.publish().server.diskProblem == nil)
    #expect(try Home(path).shown() == home.shown())
  }

  @Test func `the terminal is told the same`() throws {
    let home = try Home(path)
    let group = try home.newGroup("Party")
    try home.add(30, to: group)
    let before = try home.shown()
    try fill()
    for request in [
      ControlRequest.edit(.clear), .edit(.shuffle), .edit(.remove([1])),
      .change(.init(repeat: .all)),
    ] {
      guard case .refused(.notKept) = try home.command(request) else {
        Issue.record("\(request) was answered")
        continue
      }
      #expect(try home.shown() == before)
    }
    // Orders that are heard at once are carried out.
    guard case .done = try home.command(.transport(.stop)) else { throw Refusal.invalid("stop") }
  }

  /// Uses a small disk of its own, which only root may make.
  @Test(.enabled(if: geteuid() == 0)) func `edits on a full disk are refused with the reason`()
    throws
  {
    let disk = folder.file("disk")
    try StateFile.createDirectory(path: disk)
    guard mount("none", disk, "tmpfs", 0, "size=400k") == 0 else { return }
    defer { umount2(disk, Int32(MNT_DETACH)) }
    let home = try Home(disk + "/house.db")
    let group = try home.newGroup("Party")
    var answered = 0
    var refusal: Refusal?
    while refusal == nil, answered < 10_000 {
      do {
        try home.add(20, to: group, title: String(repeating: "x", count: 200))
        answered += 20
      } catch let problem as Refusal {
        refusal = problem
      }
    }
    guard case .notKept(let line) = refusal else { throw Refusal.invalid("\(answered)") }
    #expect(line.contains("the disk is full"))
    #expect(try home.shown().map(\.entries.count) == [answered])
    #expect(home.house.publish().server.diskProblem == line)
  }
}
