import Clock
import Driver
import LinuxIO
import OpenSSLSecurity
import SQLiteStore
import Sender
import TestSupport
import Testing

@testable import House
@testable import Service

/// Measures how long an edit of a queue takes until it is on the disk, by the length of the queue.
@Suite(.serialized) struct QueueEditLongTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private final class Home {
    let house: House
    private let loop: EventLoop
    private(set) var group = ""
    private(set) var ids: [Int] = []

    init(_ path: String, entries: Int) throws {
      let host = try GroupHost(reactor: Reactor(), security: TLSContext(IdentityKey.generate()))
      house = try House(
        host: host,
        settings: .init(
          name: "study", version: "1",
          encoding: EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20), path: path,
          resumes: false)
      ) { Issue.record("\($0)") }
      loop = EventLoop(host.reactor, [host, house])
      group = try #require(try ask(.createGroup(rooms: [], name: "Party")).group).id
      ids = try edit(.add((0..<entries).map(Self.entry), at: .end))
    }

    private static func entry(_ number: Int) -> Order.NewEntry {
      var entry = Order.NewEntry(location: "/music/an artist/an album/\(number).flac")
      (entry.title, entry.artist) = ("The title of \(number)", "The name of an artist")
      (entry.album, entry.durationS) = ("The title of an album", 200)
      return entry
    }

    private func ask(_ request: Order) throws -> Answer {
      var result: Result<Answer, Refusal>?
      house.perform(request) { result = $0 }
      while result == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
      return try #require(result).get()
    }

    @discardableResult
    func edit(_ edit: Order.QueueEdit) throws -> [Int] {
      try #require(try ask(.edit(group: group, edit, expected: nil)).queue).added
    }

    /// Adds, moves and removes at the front, in the middle and at the end. Afterwards the list has its
    /// old length.
    func editEverywhere(_ note: (Duration) -> Void) throws {
      let new = Self.entry(0)
      for place in [0, ids.count / 2, ids.count - 1] {
        var added: [Int] = []
        let id = ids[place]
        let far = ids[(place + ids.count / 2) % ids.count]
        try note(Self.time { added = try edit(.add([new], at: .end)) })
        try note(Self.time { try edit(.move(added[0], to: .before(id))) })
        try note(Self.time { try edit(.move(id, to: .before(far))) })
        try note(Self.time { try edit(.remove([id])) })
        ids[place] = added[0]
      }
    }

    private static func time(_ body: () throws -> Void) rethrows -> Duration {
      try ContinuousClock().measure(body)
    }
  }

  @Test func `an edit of the longest queue takes little longer than one of a short queue`() throws {
    let long = try Home(folder.file("long.db"), entries: Playlist.limit - 1)
    let short = try Home(folder.file("short.db"), entries: 64)
    var times: [[Duration]] = [[], []]
    for _ in 0..<8 {
      for (index, home) in [short, long].enumerated() {
        try home.editEverywhere { times[index].append($0) }
      }
    }
    let sorted = times.map { $0.sorted() }
    let medians = sorted.map { $0[$0.count / 2] }
    print("an edit of 64 entries: \(medians[0]), at most \(sorted[0].last ?? .zero)")
    print("of \(Playlist.limit): \(medians[1]), at most \(sorted[1].last ?? .zero)")
    #expect(medians[1] <= medians[0] * 20)
  }
}
