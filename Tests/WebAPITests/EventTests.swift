import Foundation
import House
import Service
import Testing
import WebAPI
import WebTestSupport

/// Tests of the events that pages receive.
@Suite struct EventTests {
  /// A rhythm without periodic events, except those that a test asks for.
  private static let quiet: EventFeed.Rhythm = {
    var rhythm = EventFeed.Rhythm()
    rhythm.sync = .seconds(3_600)
    return rhythm
  }()

  @Test func `a listener gets the state, and then each change`() async throws {
    try await withHouse(rhythm: Self.quiet) { client, house in
      let listener = try await Listener(client)
      let state = try await listener.next("state")
      #expect(try state.json(HouseState.self).groups.map(\.id) == ["g1"])
      _ = try await house.perform(.transport(group: "g1", .play))
      let change = try await listener.next("change").json(HouseChange.self)
      #expect(change.groups.map(\.state) == [.playing])
      #expect(change.revision == (try await house.state().revision))
    }
  }

  @Test func `who comes back hears what was missed, and no more`() async throws {
    try await withHouse(rhythm: Self.quiet) { client, house in
      let id = try #require(try await Listener(client).next("state").id)
      await house.stir(3)
      let back = try await Listener(client, lastEventID: id)
      for _ in 0..<3 { _ = try await back.next("change") }
      await house.stir(1)
      let last = try await back.next("change")
      let again = try await Listener(client, lastEventID: last.id)
      await house.stir(1)
      let next = try await again.next("change").json(HouseChange.self)
      #expect(next.revision == (try last.json(HouseChange.self).revision) + 1)
    }
  }

  @Test(arguments: ["1", "x-1", "-", "", "zzzz-101"])
  func `who comes back from elsewhere begins anew`(id: String) async throws {
    try await withHouse(rhythm: Self.quiet) { client, _ in
      _ = try await Listener(client, lastEventID: id).next("state")
    }
  }

  @Test func `who was away for too long begins anew`() async throws {
    try await withHouse(rhythm: Self.quiet) { client, house in
      let here = try await Listener(client)
      let id = try #require(try await here.next("state").id)
      await house.stir(EventFeed.changeLimit + 1)
      // Wait until the server has seen all of them.
      for _ in 0...EventFeed.changeLimit { _ = await here.event() }
      _ = try await Listener(client, lastEventID: id).next("state")
    }
  }

  @Test func `after a gap in the changes every listener begins anew`() async throws {
    var rhythm = EventFeed.Rhythm()
    rhythm.sync = .milliseconds(5)
    try await withHouse(rhythm: rhythm) { client, house in
      let listener = try await Listener(client)
      _ = try await listener.next("state")
      await house.endChanges(missing: 1)
      let state = try await listener.next("state", skipping: "sync").json(HouseState.self)
      #expect(state.revision == (try await house.state().revision))
    }
  }

  @Test func `figures that change all the time come by themselves, and signs of life`() async throws
  {
    var rhythm = EventFeed.Rhythm()
    (rhythm.sync, rhythm.syncsOfComment) = (.milliseconds(5), 2)
    try await withHouse(rhythm: rhythm) { client, house in
      let listener = try await Listener(client)
      _ = try await listener.next("state")
      let sync = try await listener.next("sync")
      #expect(sync.id == nil)
      #expect(sync.data.contains(#""groups":[{"id":"g1","positionAtMs":0,"positionS":0}]"#))
      while let event = await listener.event(), event.name != "" {}
      #expect(listener.last == ": still here\n\n")
    }
  }

  @Test func `a limit ends the stream`() async throws {
    try await withHouse(rhythm: Self.quiet) { client, _ in
      let answer = try await client.ask("GET", "/api/v1/events?limit=1")
      #expect(answer.headers["content-type"] == "text/event-stream")
      #expect(answer.text.hasPrefix("event: state\nid: "))
      #expect(answer.text.hasSuffix("\n\n"))
      try expectProblem(await client.ask("GET", "/api/v1/events?limit=0"), 400)
    }
  }
}

/// One page that listens.
private final class Listener {
  struct Event {
    let name: String
    let id: String?
    let data: String

    func json<T: Decodable>(_ type: T.Type) throws -> T {
      try JSONDecoder().decode(type, from: Data(data.utf8))
    }
  }

  private let reader: WebReader
  private(set) var last = ""

  init(_ client: WebClient, lastEventID: String? = nil) async throws {
    let connection = try WebConnectionClient(port: client.port)
    let headers = lastEventID.map { [("Last-Event-ID", $0)] } ?? []
    await connection.send(client.request("GET", "/api/v1/events", headers: headers))
    reader = WebReader(connection)
    #expect(await reader.head()?.contains("200 OK") == true)
  }

  /// Returns the next event; nil at the end. Each event comes in a chunk of its own.
  func event() async -> Event? {
    guard let chunk = await reader.chunk() else { return nil }
    last = String(decoding: chunk, as: UTF8.self)
    func field(_ name: String) -> String? {
      last.split(separator: "\n").first { $0.hasPrefix("\(name): ") }
        .map { String($0.dropFirst(name.count + 2)) }
    }
    return Event(name: field("event") ?? "", id: field("id"), data: field("data") ?? "")
  }

  /// Returns the next event, which must have this name. Skips comments.
  func next(_ name: String, skipping other: String? = nil) async throws -> Event {
    while true {
      let event = try #require(await event())
      if event.name == other || event.name.isEmpty { continue }
      #expect(event.name == name)
      return event
    }
  }
}
