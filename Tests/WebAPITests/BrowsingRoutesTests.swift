import House
import Service
import Testing
import WebTestSupport

/// Tests of favourites, the history, and ways into a large library.
@Suite struct BrowsingRoutesTests {
  private static let library = "/api/v1/library"
  private static let favourites = "\(library)/favourites"

  private struct Favourites: Decodable { let favourites: [LibraryThing] }
  private struct Recent: Decodable { let recent: [LibraryThing] }

  @Test func `something becomes a favourite, and none again`() async throws {
    try await withHouse { client, _ in
      func kept() async throws -> [String] {
        let answer = try await client.ask("GET", Self.favourites)
        return try answer.json(Favourites.self).favourites.map { "\($0.kind) \($0.id)" }
      }
      for path in ["album/a1", "radio/s1", "input/Turntable", "album/a1"] {
        try await expectStatus(204, client.ask("PUT", "\(Self.favourites)/\(path)"))
      }
      #expect(try await kept() == ["album a1", "input Turntable", "radio s1"])
      try await expectStatus(204, client.ask("DELETE", "\(Self.favourites)/radio/s1"))
      #expect(try await kept() == ["album a1", "input Turntable"])
    }
  }

  @Test(arguments: [
    "album/a9", "input/Nothing", "folder/x", "album/" + String(repeating: "x", count: 201),
  ])
  func `nothing else is one`(path: String) async throws {
    try await withHouse { client, _ in
      try expectProblem(await client.ask("PUT", "\(Self.favourites)/\(path)"), 404)
      let answer = try await client.ask("GET", Self.favourites)
      #expect(try answer.json(Favourites.self).favourites.isEmpty)
    }
  }

  @Test func `the history is read in parts and forgotten`() async throws {
    try await withHouse { client, _ in
      let history = "\(Self.library)/history"
      let page = try await client.ask("GET", "\(history)?offset=0&limit=1").json(PlayPage.self)
      #expect(page.count == 1 && page.plays.map(\.id) == ["t1"])
      let recent = try await client.ask("GET", "\(Self.library)/recent").json(Recent.self)
      #expect(recent.recent.map(\.id) == ["a1"])
      try await expectStatus(204, client.ask("DELETE", history))
      #expect(try await client.ask("GET", history).json(PlayPage.self).count == 0)
      try expectProblem(await client.ask("GET", "\(history)?limit=1001"), 400, "1 to 1000")
      try expectProblem(await client.ask("GET", "\(Self.library)/recent?limit=101"), 400)
    }
  }

  @Test func `the library is browsed`() async throws {
    struct Letters: Decodable { let letters: [LibraryLetter] }
    struct Years: Decodable { let years: [LibraryYear] }
    try await withHouse { client, _ in
      func ask(_ path: String) async throws -> WebAnswer {
        try await client.ask("GET", "\(Self.library)/\(path)")
      }
      #expect(try await ask("artists/r1").json(ArtistContents.self).albums.map(\.id) == ["a1"])
      let tracks = try await ask("tracks?sort=added&offset=1&limit=1").json(TrackPage.self)
      #expect(tracks.count == 3 && tracks.tracks.map(\.id) == ["t2"])
      #expect(try await ask("genres").json(TagPage.self).tags.map(\.name) == ["A genre"])
      #expect(try await ask("composers").json(TagPage.self).tags.map(\.name) == ["A composer"])
      #expect(try await ask("years").json(Years.self).years.map(\.year) == [1965])
      let lines = try await ask("tracks/t1/lyrics").json(LyricsContents.self).lines
      #expect(lines == [.init(text: "Oh, Sinnerman", atS: 12.5)])
      try expectProblem(await ask("tracks/t9/lyrics"), 404)
      let letters = try await ask("letters?of=albums&sort=title").json(Letters.self).letters
      #expect(letters.map(\.letter) == ["N"])
      for wrong in [
        "letters", "letters?of=radios", "letters?of=albums&sort=x", "tracks?sort=artist",
        "albums?year=0", "albums?year=x", "tracks?limit=0",
      ] {
        try expectProblem(await ask(wrong), 400)
      }
      try expectProblem(await ask("artists/r2"), 404)
    }
  }
}
