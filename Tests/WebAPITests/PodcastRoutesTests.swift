import House
import Service
import Testing
import WebTestSupport

/// Tests of podcasts over HTTP.
@Suite struct PodcastRoutesTests {
  private static let podcasts = "/api/v1/library/podcasts"

  private struct Podcasts: Decodable { let podcasts: [Podcast] }
  private struct Begun: Decodable { let begun: [LibraryThing] }

  @Test func `a household subscribes, marks episodes and unsubscribes`() async throws {
    try await withHouse { client, _ in
      func titles() async throws -> [String] {
        try await client.ask("GET", Self.podcasts).json(Podcasts.self).podcasts.map(\.title)
      }
      #expect(try await titles() == ["Daily"])
      let made = try await client.ask(
        "POST", Self.podcasts, #"{"uri": "https://example.org/feed.xml"}"#)
      let uri = try made.json(Podcast.self).uri
      #expect(made.status == 201 && uri == "https://example.org/feed.xml")
      #expect(try await titles() == ["Daily", "New"])
      func played() async throws -> [Bool] {
        try await client.ask("GET", "\(Self.podcasts)/f1").json(PodcastContents.self).episodes
          .map(\.isPlayed)
      }
      #expect(try await played() == [false, true])
      for (id, json) in [("e1", #"{"isPlayed": true}"#), ("e2", #"{"isPlayed": false}"#)] {
        try await expectStatus(
          204, client.ask("PATCH", "/api/v1/library/episodes/\(id)", json))
      }
      #expect(try await played() == [true, false])
      try await expectStatus(202, client.ask("POST", "\(Self.podcasts)/refresh"))
      try await expectStatus(204, client.ask("DELETE", "\(Self.podcasts)/f1"))
      #expect(try await titles() == ["New"])
      let begun = try await client.ask("GET", "/api/v1/library/begun?limit=1").json(Begun.self)
      #expect(begun.begun.map(\.id) == ["e1"])
    }
  }

  @Test func `guests see podcasts, and not the addresses of their feeds`() async throws {
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, _ in
      func addresses(_ headers: [(String, String)]) async throws -> [String?] {
        let all = try await client.ask("GET", Self.podcasts, headers: headers).json(Podcasts.self)
        let one = try await client.ask("GET", "\(Self.podcasts)/f1", headers: headers)
          .json(PodcastContents.self)
        let found = try await client.ask(
          "GET", "/api/v1/library/search?q=daily", headers: headers
        ).json(SearchResult.self)
        return all.podcasts.map(\.uri) + [one.podcast.uri] + found.podcasts.map(\.uri)
      }
      let (own, guests) = (
        try await addresses([]), try await addresses([("X-Forwarded-For", "192.168.1.7")])
      )
      #expect(own.count == 3 && !own.contains(nil) && guests == [nil, nil, nil])
    }
  }

  @Test func `guests see episodes, and not where the household has left them`() async throws {
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, _ in
      func places(_ headers: [(String, String)]) async throws -> [Double?] {
        try await client.ask("GET", "\(Self.podcasts)/f1", headers: headers)
          .json(PodcastContents.self).episodes.map(\.positionS)
      }
      #expect(try await places([]) == [600, nil])
      let network = ("X-Forwarded-For", "192.168.1.7")
      #expect(try await places([network]) == [nil, nil])
      try expectProblem(
        await client.ask("GET", "/api/v1/library/begun", headers: [network]), 403)
    }
  }

  @Test(arguments: [
    #"{}"#, #"{"uri": "file:///etc/passwd"}"#, #"{"uri": "http://"}"#, #"{"uri": 1}"#,
    #"{"uri": "http://a/", "name": "x"}"#, #"{"uri": "http://example.org/broken"}"#,
  ])
  func `what is no feed is refused`(json: String) async throws {
    try await withHouse { client, _ in
      let answer = try await client.ask("POST", Self.podcasts, json)
      #expect((400...422).contains(answer.status), "\(json): \(answer.status)")
    }
  }

  @Test func `what is not there, or misspelt, is refused`() async throws {
    try await withHouse { client, _ in
      try expectProblem(await client.ask("GET", "\(Self.podcasts)/f9"), 404)
      try expectProblem(await client.ask("DELETE", "\(Self.podcasts)/f9"), 404)
      let episode = "/api/v1/library/episodes/"
      try expectProblem(
        await client.ask("PATCH", episode + "e9", #"{"isPlayed": true}"#), 404)
      for json in ["{}", #"{"isPlayed": 1}"#, #"{"isPlayed": true, "x": 1}"#] {
        try expectProblem(await client.ask("PATCH", episode + "e1", json), 400)
      }
      try expectProblem(await client.ask("GET", "/api/v1/library/begun?limit=101"), 400)
    }
  }

  @Test func `podcasts and episodes are put into a queue`() async throws {
    try await withHouse { client, _ in
      let items = #"{"items": [{"podcastId": "f1"}, {"episodeId": "e1"}], "at": "end"}"#
      try await expectStatus(
        200, client.ask("POST", "/api/v1/groups/g1/queue", items))
      let wrong = #"{"items": [{"episodeId": "e9"}], "at": "end"}"#
      try expectProblem(await client.ask("POST", "/api/v1/groups/g1/queue", wrong), 404)
    }
  }
}
