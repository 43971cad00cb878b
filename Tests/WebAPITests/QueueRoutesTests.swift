import House
import Service
import Testing
import WebAPI
import WebTestSupport

/// Tests of the queue and the library.
@Suite struct QueueRoutesTests {
  private static let queue = "/api/v1/groups/g1/queue"

  private struct Edited: Decodable {
    let revision: UInt64
    let added: [Int]?
  }

  @Test func `items of the library and addresses are added`() async throws {
    try await withHouse { client, house in
      let items =
        #"[{"trackId":"t2"},{"albumId":"a1"},{"artistId":"r1"},{"folder":"Jazz"},{"playlistId":"p1"},{"radioId":"s1"},{"uri":"https://example.org/a"}]"#
      let answer = try await client.ask("POST", Self.queue, #"{"items":\#(items),"at":"end"}"#)
      #expect(try answer.json(Edited.self).added == Array(1...15))
      let page = try await client.ask("GET", "\(Self.queue)?offset=1&limit=2").json(QueuePage.self)
      #expect(page.count == 15 && page.entries.map(\.id) == [2, 3])
    }
  }

  @Test(arguments: [
    #"{"uri":"/etc/passwd"}"#, #"{"uri":"file:///etc/passwd"}"#, #"{"uri":"concat:/etc/passwd"}"#,
    #"{"uri":"http://"}"#, #"{"uri":"http://a b"}"#, "{}", #"{"trackId":"t1","albumId":"a1"}"#,
    #"{"trackId":"t1","uri":"http://a"}"#, #"{"path":"/etc"}"#, #"{"trackId":1}"#,
  ])
  func `files cannot be reached but through the library`(item: String) async throws {
    try await withHouse { client, house in
      let body = #"{"items":[\#(item)],"at":"now"}"#
      try expectProblem(await client.ask("POST", Self.queue, body), 400)
      #expect(await house.requests.count == 1)
    }
  }

  @Test(arguments: ["../etc", "/etc", "Jazz/../../etc", "..", "./Jazz"])
  func `paths stay in the library`(path: String) async throws {
    try await withHouse { client, _ in
      let body = #"{"items":[{"folder":"\#(path)"}],"at":"now"}"#
      try expectProblem(await client.ask("POST", Self.queue, body), 404)
      try expectProblem(await client.ask("GET", "/api/v1/library/folders?path=\(path)"), 404)
      for path in [
        "/assets/..%2f..%2fetc%2fpasswd", "/assets/../../etc/passwd", "/..", "/etc/passwd",
      ] {
        try expectProblem(await client.ask("GET", path), 404)
      }
    }
  }

  @Test func `the queue is edited`() async throws {
    try await withHouse { client, house in
      func ids() async throws -> [Int] {
        try await client.ask("GET", Self.queue).json(QueuePage.self).entries.map(\.id)
      }
      _ = try await client.ask("POST", Self.queue, #"{"items":[{"albumId":"a1"}],"at":"now"}"#)
      _ = try await client.ask("PATCH", "\(Self.queue)/3", #"{"before":1}"#)
      #expect(try await ids() == [3, 1, 2])
      _ = try await client.ask("PATCH", "\(Self.queue)/3", #"{"before":null}"#)
      #expect(try await ids() == [1, 2, 3])
      _ = try await client.ask("POST", "\(Self.queue)/shuffle")
      _ = try await client.ask("DELETE", "\(Self.queue)/2")
      #expect(try await ids() == [3, 1])
      let played = try await client.ask("POST", "\(Self.queue)/1/play")
      #expect(try played.json(HouseState.Group.self).queue.index == 1)
      let saved = try await client.ask("POST", "\(Self.queue)/save", #"{"name":"Mine"}"#)
      #expect(saved.status == 201)
      #expect(try saved.json(StoredPlaylist.self).trackCount == 2)
      _ = try await client.ask("DELETE", Self.queue)
      #expect(try await ids() == [])
      _ = try await client.ask("POST", "\(Self.queue)/undo")
      #expect(try await ids() == [3, 1])
      _ = try await client.ask("POST", "\(Self.queue)/clear-others")
      #expect(await house.requests.last == .edit(group: "g1", .clearOthers, expected: nil))
      #expect(try await ids() == [1])
      try expectProblem(await client.ask("POST", "\(Self.queue)/undo"), 409, "undone")
      try expectProblem(await client.ask("DELETE", "\(Self.queue)/x"), 404)
    }
  }

  @Test func `entries are added and moved to a number, or before another`() async throws {
    try await withHouse { client, house in
      func add(_ place: String) async throws -> [Int] {
        let body = #"{"items":[{"radioId":"s1"}],\#(place)}"#
        try await expectStatus(200, client.ask("POST", Self.queue, body))
        return try await client.ask("GET", Self.queue).json(QueuePage.self).entries.map(\.id)
      }
      #expect(try await add(#""at":"end""#) == [1])
      #expect(try await add(#""at":1"#) == [2, 1])
      #expect(try await add(#""before":1"#) == [2, 3, 1])
      #expect(try await add(#""before":null"#) == [2, 3, 1, 4])
      for (place, order) in [
        (#""at":2"#, Order.Place.number(2)), (#""at":"next""#, .next), (#""before":1"#, .before(1)),
      ] {
        try await expectStatus(200, client.ask("PATCH", "\(Self.queue)/4", "{\(place)}"))
        #expect(await house.requests.last == .edit(group: "g1", .move(4, to: order), expected: nil))
      }
      for place in [
        #""at":0"#, #""at":1.5"#, #""at":"soon""#, #""at":1,"before":1"#, #""at":null"#,
      ] {
        let body = #"{"items":[{"radioId":"s1"}],\#(place)}"#
        try expectProblem(await client.ask("POST", Self.queue, body), 400)
        try expectProblem(await client.ask("PATCH", "\(Self.queue)/4", "{\(place)}"), 400)
      }
      // An existing entry cannot be moved to "now".
      try expectProblem(await client.ask("PATCH", "\(Self.queue)/4", #"{"at":"now"}"#), 400)
    }
  }

  @Test func `an edit of an old queue is refused, with its revision`() async throws {
    try await withHouse { client, _ in
      let old = try await client.ask("GET", Self.queue)
      let tag = try #require(old.headers["etag"])
      let first = try await client.ask("DELETE", Self.queue, headers: [("If-Match", tag)])
      #expect(first.status == 200)
      let second = try await client.ask("DELETE", Self.queue, headers: [("If-Match", tag)])
      try expectProblem(second, 412, "2")
      #expect(second.headers["etag"] == "\"2\"")
      let wrong = try await client.ask("DELETE", Self.queue, headers: [("If-Match", "W/1")])
      try expectProblem(wrong, 400)
    }
  }

  @Test(arguments: ["limit=0", "limit=1001", "limit=x", "offset=-1", "offset=99999999999999999999"])
  func `parts of lists have bounds`(query: String) async throws {
    try await withHouse { client, _ in
      try expectProblem(await client.ask("GET", "\(Self.queue)?\(query)"), 400)
      try expectProblem(await client.ask("GET", "/api/v1/library/albums?\(query)"), 400)
    }
  }

  @Test func `the library is told`() async throws {
    try await withHouse { client, _ in
      func get<T: Decodable>(_ path: String, _ type: T.Type) async throws -> T {
        try await client.ask("GET", "/api/v1/library/\(path)").json(type)
      }
      let albums = try await get("albums?sort=added&artistId=r1", AlbumPage.self)
      #expect(albums.albums.map(\.title) == ["Pastel Blues"])
      #expect(try await get("albums/a1", AlbumContents.self).tracks.count == 3)
      #expect(try await get("artists", ArtistPage.self).count == 1)
      #expect(try await get("folders?path=Jazz", FolderContents.self).path == "Jazz")
      #expect(try await get("search?q=sinner", SearchResult.self).tracks.count == 3)
      #expect(try await get("radios", [String: [Radio]].self)["radios"]?.map(\.name) == ["FIP"])
      #expect(try await get("playlists", [String: [StoredPlaylist]].self)["playlists"]?.count == 1)
      #expect(try await get("playlists/p1", PlaylistContents.self).playlist.name == "Sunday")
    }
  }

  @Test func `a playlist is made and edited`() async throws {
    try await withHouse { client, _ in
      let root = "/api/v1/library/playlists"
      func send(
        _ method: String, _ path: String, _ body: String? = nil, for revision: Int? = nil
      ) async throws -> WebAnswer {
        try await client.ask(
          method, root + path, body, headers: revision.map { [("If-Match", "\"\($0)\"")] } ?? [])
      }
      func entries(_ id: String) async throws -> [Int] {
        try await send("GET", "/\(id)").json(PlaylistContents.self).entries.map(\.id)
      }
      let made = try await send("POST", "", #"{"name":"Dinner"}"#)
      #expect(made.status == 201)
      let id = try made.json(StoredPlaylist.self).id
      let two = #"{"items":[{"trackId":"t1"},{"uri":"http://radio/"}]}"#
      let added = try await send("POST", "/\(id)/entries", two, for: 0)
      #expect(try added.json(StoredPlaylist.self).trackCount == 2)
      try expectProblem(await send("POST", "/\(id)/entries", two, for: 0), 412)
      try expectProblem(
        await send("POST", "/\(id)/entries", #"{"items":[{"inputId":"Turntable"}]}"#), 400)
      try expectProblem(await send("POST", "/\(id)/entries", #"{"items":[]}"#), 400)
      try await expectStatus(200, send("PATCH", "/\(id)/entries/1", #"{"before":0}"#))
      #expect(try await entries(id) == [1, 0])
      try await expectStatus(200, send("PATCH", "/\(id)/entries/1", #"{"before":null}"#))
      try expectProblem(await send("PATCH", "/\(id)/entries/1", "{}"), 400)
      try expectProblem(await send("PATCH", "/\(id)/entries/9", #"{"before":0}"#), 404)
      try await expectStatus(200, send("DELETE", "/\(id)/entries/0"))
      #expect(try await entries(id) == [1])
      let renamed = try await send("PATCH", "/\(id)", #"{"name":"Supper"}"#)
      #expect(try renamed.json(StoredPlaylist.self).name == "Supper")
      try expectProblem(await send("PATCH", "/\(id)", #"{"name":""}"#), 400)
    }
  }

  @Test func `the library is changed`() async throws {
    try await withHouse { client, _ in
      let root = "/api/v1/library"
      let radio = #"{"name":"R","uri":"http://r"}"#
      try await expectStatus(201, client.ask("POST", "\(root)/radios", radio))
      try await expectStatus(204, client.ask("DELETE", "\(root)/radios/s1"))
      try await expectStatus(204, client.ask("DELETE", "\(root)/playlists/p1"))
      try await expectStatus(202, client.ask("POST", "\(root)/scan"))
      try expectProblem(await client.ask("GET", "\(root)/albums?sort=size"), 400)
      try expectProblem(await client.ask("GET", "\(root)/search"), 400)
      let file = #"{"name":"R","uri":"/dev/sda"}"#
      try expectProblem(await client.ask("POST", "\(root)/radios", file), 400)
    }
  }

  @Test func `who asks for a picture that is still being made is told when to ask again`()
    async throws
  {
    try await withHouse { client, _ in
      let answer = try await client.ask("GET", "/api/v1/artwork/def456")
      try expectProblem(answer, 503, "being made")
      #expect(answer.headers["retry-after"] == "1")
    }
  }

  @Test func `pictures never change, and films come in parts`() async throws {
    try await withHouse { client, _ in
      let picture = try await client.ask("GET", "/api/v1/artwork/abc123?size=1200")
      #expect(picture.text == "a picture")
      #expect(picture.headers["cache-control"]?.contains("immutable") == true)
      try expectProblem(await client.ask("GET", "/api/v1/artwork/abc123?size=7"), 400)
      try expectProblem(await client.ask("GET", "/api/v1/artwork/..%2Fabc"), 404)
      let film = try await client.ask(
        "GET", "/api/v1/library/tracks/t1/media", headers: [("Range", "bytes=2-")])
      #expect(film.status == 206 && film.text == "film")
    }
  }
}
