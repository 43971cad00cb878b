import Clock
import Driver
import LinuxIO
import OpenSSLSecurity
import Sender
import Synchronization
import TestSupport
import Testing

@testable import House
@testable import Service

/// Tests of titles of files that a terminal named only by their paths, on pages and terminals. Without titles they
/// would wait for ever. All other tests may have their turns first, which takes minutes on a slow machine.
@Suite(.timeLimit(.minutes(20))) struct HouseTitlesTests {
  private final class Files: FileTitles {
    /// True to answer no question until `release` is finished, like a library that hangs.
    let hangs: Bool
    private let released: AsyncStream<Void>
    let release: AsyncStream<Void>.Continuation

    init(hangs: Bool = false) {
      self.hangs = hangs
      (released, release) = AsyncStream.makeStream()
    }

    func known(_ places: [String]) async -> [String: Order.NewEntry] {
      if hangs { for await _ in released { break } }
      return places.contains("/music/1.flac") ? ["/music/1.flac": Self.track] : [:]
    }

    func tagged(_ places: [String]) async -> [String: Order.NewEntry] {
      Dictionary(
        uniqueKeysWithValues: places.map { place in
          var entry = Order.NewEntry(location: place)
          (entry.title, entry.artist, entry.artwork) = ("Elsewhere", "Billie", "abc")
          return (place, entry)
        })
    }

    static var track: Order.NewEntry {
      var entry = Order.NewEntry(location: "/music/1.flac")
      (entry.title, entry.artist, entry.album) = ("Sinnerman", "Nina Simone", "Pastel Blues")
      (entry.artwork, entry.trackId, entry.albumId) = ("f00", "t1", "a1")
      return entry
    }
  }

  private let folder: TemporaryFolder
  private let house: House
  private let loop: EventLoop
  private let group: String

  init() async throws {
    folder = try TemporaryFolder()
    let host = try GroupHost(reactor: Reactor(), security: TLSContext(IdentityKey.generate()))
    house = try House(
      host: host,
      settings: .init(
        name: "study", version: "1",
        encoding: EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20),
        path: folder.file("house.db"), resumes: true)
    ) { Issue.record("\($0)") }
    loop = EventLoop(host.reactor, [host, house])
    var created: Result<Answer, Refusal>?
    house.perform(.createGroup(rooms: [], name: "Party")) { created = $0 }
    while created == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
    let answer = try #require(created).get()
    group = try #require(answer.group).id
  }

  /// Gives up the thread now and then, because the tasks that ask for titles need one.
  private func turn() async throws {
    try Task.checkCancellation()
    try loop.turn(until: HostClock.now + .milliseconds(5))
    await Task.yield()
  }

  private func ask(
    _ request: ControlRequest, in group: String? = nil
  ) async throws -> ControlAnswer {
    var reply: ControlReply?
    house.answer(.init(id: 1, group: group, request)) { reply = $0 }
    while reply == nil { try await turn() }
    guard case .done(let answer) = try #require(reply).outcome else {
      throw Refusal.noSuch("\(String(describing: reply))")
    }
    return answer
  }

  private static func add(_ places: String..., at place: Order.Place = .end) -> ControlRequest {
    .edit(.add(places.map { Order.NewEntry(PlaylistEntry(stringLiteral: $0)) }, at: place))
  }

  private func entries() throws -> [QueuePage.Entry] {
    try house.session.page(of: group, offset: 0, limit: 10).entries
  }

  @Test func `files of the library have its titles and covers at once`() async throws {
    house.ask(Files())
    // The library gets enough time, however busy the machine is.
    house.titles.timeout = .seconds(3_600)
    let answer = try await ask(Self.add("/music/1.flac"))
    #expect(answer.queue?.map(\.title) == ["Sinnerman"])
    #expect(try entries().map(\.artwork) == ["f00"])
    #expect(try entries().map(\.trackId) == ["t1"])
    // This also holds for a file that is added at a given place.
    _ = try await ask(Self.add("/music/1.flac", at: .number(1)))
    #expect(try entries().map(\.artist) == ["Nina Simone", "Nina Simone"])
    #expect(
      try await ask(.edit(.move(1, to: .number(2)))).done
        == "Party: Nina Simone – Sinnerman is number 2")
  }

  @Test func `what a terminal plays has titles and covers of the library at once`() async throws {
    house.ask(Files())
    house.titles.timeout = .seconds(3_600)
    let wish = PlayRequest(
      entries: ["/music/1.flac"], rooms: [], addresses: ["127.0.0.1:1"], shuffles: false,
      repetition: nil, effects: .init())
    let answer = try await ask(.play(request: wish), in: "Party")
    #expect(answer.done == "plays Sinnerman in Party")
    #expect(answer.queue?.map(\.title) == ["Sinnerman"])
    #expect(try entries().map(\.artwork) == ["f00"])
    #expect(try entries().map(\.trackId) == ["t1"])
  }

  @Test func `other files get what their tags say as soon as that is read`() async throws {
    house.ask(Files())
    let before = try #require(house.publish().groups.first?.queue.revision)
    _ = try await ask(
      Self.add("/tmp/a.flac", "-"))
    while try entries()[0].artwork == nil { try await turn() }
    #expect(try entries().map(\.title) == ["Elsewhere", "standard input"])
    #expect(try #require(house.publish().groups.first?.queue.revision) > before + 1)
    // The title is stored, too.
    house.stop()
    while !house.roomsHaveLeft { try await turn() }
    try house.end()
    let record = try HouseStore(path: folder.file("house.db")) { Issue.record("\($0)") }.record
    #expect(record.groups.first?.queue.entries.map(\.details.title) == ["Elsewhere", nil])
  }

  @Test func `only so many requests wait for titles`() async throws {
    let files = Files(hangs: true)
    house.ask(files)
    var answered = 0
    for number in 0..<Titles.waitingLimit {
      house.answer(.init(id: UInt64(number), Self.add("/music/1.flac"))) { _ in
        answered += 1
      }
    }
    #expect(house.titles.waiting.count == Titles.waitingLimit)
    house.answer(.init(id: 99, Self.add("/music/2.flac"))) { _ in answered += 1
    }
    #expect(house.titles.waiting.count == Titles.waitingLimit)
    #expect(try entries().map(\.uri) == ["/music/2.flac"])
    files.release.finish()
    while answered <= Titles.waitingLimit { try await turn() }
  }

  @Test func `of many other files only the first are read`() async throws {
    house.ask(Files())
    let many = (0...Titles.taggedLimit).map { PlaylistEntry("/tmp/\($0).flac") }
    _ = try await ask(.edit(.add(many.map { Order.NewEntry($0) }, at: .end)))
    func artists() throws -> [String?] {
      try house.session.page(of: group, offset: 0, limit: 1000).entries.map(\.artist)
    }
    while try artists()[0] == nil { try await turn() }
    #expect(try artists().count { $0 != nil } == Titles.taggedLimit)
    #expect(try artists().last == .some(nil))
  }

  @Test func `music does not wait for a library that hangs, which names it later`() async throws {
    let files = Files(hangs: true)
    house.ask(files)
    let answer = try await ask(Self.add("/music/1.flac"))
    #expect(answer.queue?.map(\.title) == [nil])
    files.release.yield()
    while try entries()[0].artwork == nil { try await turn() }
    #expect(try entries().map(\.title) == ["Sinnerman"])
  }
}
