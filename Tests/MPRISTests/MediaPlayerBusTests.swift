import House
import MPRISProtocol
import Sender
import Synchronization
import TestSupport
import Testing

@testable import MPRIS

/// Whatever a player on the bus asked for and said.
private final class Heard: Sendable {
  struct Silence: Error {}

  let requests = Mutex<[PlayerRequest]>([])
  let lines = Mutex<[String]>([])
  /// In milliseconds: each look at the clock is a second later than the one before.
  private let nowMs = Atomic<Int>(0)
  let takesRequests = Atomic<Bool>(true)

  var means: MediaPlayerBus.Means {
    .init(
      nowMs: { Double(self.nowMs.add(1_000, ordering: .relaxed).newValue) },
      ask: { request in
        self.requests.withLock { $0.append(request) }
        return self.takesRequests.load(ordering: .relaxed)
      }, report: { line in self.lines.withLock { $0.append(line) } })
  }

  /// Asks again and again until something is so, for at most a minute.
  func wait(until isSo: (Heard) throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !isSo(self) {
      guard ContinuousClock.now < deadline else { throw Silence() }
    }
  }

  func says(_ part: String) -> Int {
    lines.withLock { lines in lines.count { $0.contains(part) } }
  }
}

@Suite(.enabled(if: SessionBus.isInstalled, "needs dbus-daemon"))
struct MediaPlayerBusTests {
  let folder: TemporaryFolder
  let bus: SessionBus
  private let heard = Heard()
  private let name = "org.mpris.MediaPlayer2.tutti.kitchen"

  init() throws {
    folder = try TemporaryFolder()
    bus = try SessionBus(in: folder)
  }

  private func group(
    _ id: String = "g1", title: String = "One", volume: Double = 50
  ) -> HouseState.Group {
    var item = HouseState.Item(
      entryId: 3, title: title, isSeekable: true, isLive: false, hasVideo: false)
    item.durationS = 100
    return HouseState.Group(
      id: id, name: "Kitchen", isNamed: false, roomIds: ["1"], state: .paused, item: item,
      volume: volume, muted: false, repeat: .off, effects: EffectsReport(Effects()),
      queue: .init(revision: 1, count: 2, index: 0, canUndo: nil))
  }

  private func shown(_ group: HouseState.Group, slug: String = "kitchen", art: String? = nil)
    -> MediaPlayer.Shown
  {
    MediaPlayer.Shown(slug: slug, name: "Tutti: Kitchen", group: group, art: art)
  }

  private func player(isStarted: Bool = true) throws -> MediaPlayerBus {
    let player = try MediaPlayerBus(heard.means, address: bus.address)
    player.show([shown(group())])
    if isStarted { try heard.wait { $0.says("Tutti: Kitchen is \(name)") == 1 } }
    return player
  }

  @Test func `a call is handed on, and its caller is told what became of it`() throws {
    let player = try player()
    for (refusal, code) in [(nil, 0), ("there is no room", 1)] as [(String?, Int32)] {
      heard.requests.withLock { $0 = [] }
      let call = try Program(
        "/usr/bin/busctl",
        [
          "--user", "call", name, "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player",
          "Next",
        ],
        environment: bus.environment)
      try heard.wait { $0.requests.withLock { $0.count == 1 } }
      let request = heard.requests.withLock { $0[0] }
      #expect(request.group == "g1" && request.wish == .order(.transport(group: "g1", .next)))
      player.answer(try #require(request.number), refusal: refusal)
      #expect(try call.exitCode() == code)
      #expect(refusal == nil || call.lines.contains { $0.contains("there is no room") })
    }
    player.finish(withinMs: 10_000)
    #expect(try bus.run("busctl", ["--user", "list"]).lines.allSatisfy { !$0.contains(name) })
  }

  @Test func `a request too many is refused, and asks for nothing`() throws {
    let player = try player()
    heard.takesRequests.store(false, ordering: .relaxed)
    let call = try bus.call(name, ".Player", ["Next"])
    #expect(call.code != 0 && call.lines.contains { $0.contains("too much is asked for at once") })
    let set = try bus.run(
      "busctl",
      [
        "--user", "set-property", name, "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player",
        "Volume", "d", "0.1",
      ])
    #expect(set.code != 0 && set.lines.contains { $0.contains("too much is asked for at once") })
    withExtendedLifetime(player) {}
  }

  @Test func `a text that the bus refuses is shown without what it refuses`() throws {
    let player = try MediaPlayerBus(heard.means, address: bus.address)
    let noncharacter = Unicode.Scalar(UInt32(0xfffe)).map { String(Character($0)) } ?? ""
    player.show([shown(group(title: "a\u{0}b\(noncharacter)é"))])
    try heard.wait { $0.says("is \(name)") == 1 }
    let metadata = try bus.run(
      "busctl",
      [
        "--user", "--json=short", "get-property", name, "/org/mpris/MediaPlayer2",
        "org.mpris.MediaPlayer2.Player", "Metadata",
      ])
    #expect(
      metadata.code == 0 && metadata.lines.contains { $0.contains("\"a�b�é\"") }, "\(metadata)")
    withExtendedLifetime(player) {}
  }

  @Test func `a name that another program has is not taken from it`() throws {
    let first = try player()
    let second = try MediaPlayerBus(heard.means, address: bus.address)
    second.show([shown(group())])
    try heard.wait { $0.says("is \(name).instance") == 1 }
    let names = try bus.run("busctl", ["--user", "list", "--acquired"]).lines
    #expect(names.count { $0.contains(name) } == 2, "\(names)")
    withExtendedLifetime((first, second)) {}
  }

  @Test func `no more players are shown than the limit, and none that is gone`() throws {
    let player = try MediaPlayerBus(heard.means, address: bus.address)
    let many = (0..<MediaPlayerBus.playerLimit + 3).map { shown(group("g\($0)"), slug: "g\($0)") }
    player.show(many)
    try heard.wait { $0.says("MPRIS: ") == MediaPlayerBus.playerLimit }
    func names() throws -> Int {
      try bus.run("busctl", ["--user", "list", "--acquired"]).lines
        .count { $0.hasPrefix(BusName.prefix) }
    }
    #expect(try names() == MediaPlayerBus.playerLimit)
    player.show([many[0]])
    try heard.wait { _ in try names() == 1 }
  }

  @Test func `a bus that takes nothing is given up, and one that takes again is used`() throws {
    let player = try player()
    bus.freeze()
    let long = String(repeating: "x", count: 4_000)
    var number = 0
    try heard.wait { heard in
      number += 1
      player.show([shown(group(title: "\(number)"), art: long)])
      return heard.says("the session bus cannot be used: it takes nothing") == 1
    }
    bus.thaw()
    try heard.wait { $0.says("the session bus can be used") == 1 }
    #expect(heard.says("cannot be used") == 1)
  }
}
