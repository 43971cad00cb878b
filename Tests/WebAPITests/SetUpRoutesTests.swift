import House
import Service
import Testing
import WebTestSupport

@testable import WebAPI

/// Tests of setting a household up over HTTP.
@Suite struct SetUpRoutesTests {
  private struct Folders: Decodable {
    let folders: [LibraryFolder]
  }

  @Test func `folders are listed, chosen, added and removed`() async throws {
    try await withHouse { client, house in
      let folders = try await client.ask("GET", "/api/v1/folders").json(Folders.self).folders
      #expect(folders.map(\.path) == ["/srv/Music"] && folders[0].isFixed)
      let choices = "/api/v1/folders/choices"
      let top = try await client.ask("GET", choices).json(FolderChoices.self)
      #expect(top.folders.map(\.path) == ["/srv"])
      let below = try await client.ask("GET", choices + "?path=%2Fsrv").json(FolderChoices.self)
      #expect(below.folders.map(\.path) == ["/srv/Jazz"])
      try expectProblem(await client.ask("GET", choices + "?path=/etc"), 404)
      try await expectStatus(204, client.ask("POST", "/api/v1/folders", #"{"path":"/srv/Jazz"}"#))
      try await expectStatus(204, client.ask("DELETE", "/api/v1/folders?path=/srv/Jazz"))
      try expectProblem(
        await client.ask("DELETE", "/api/v1/folders?path=/srv/Music"), 409, "configuration")
      let orders = await house.requests
      #expect(orders.contains(.setUp(.addFolder("/srv/Jazz"))))
      #expect(orders.contains(.setUp(.removeFolder("/srv/Jazz"))))
    }
  }

  @Test(arguments: [
    (#"{}"#, 400), (#"{"path":""}"#, 400), (#"{"path":"/a","x":1}"#, 400),
    (#"{"path":"srv"}"#, 422), (#"{"path":"/srv/../etc"}"#, 422),
    (#"{"path":"/srv/Music/Jazz"}"#, 422),
  ])
  func `what is no folder is refused`(body: String, status: Int) async throws {
    try await withHouse { client, _ in
      try await expectStatus(status, client.ask("POST", "/api/v1/folders", body))
    }
  }

  @Test func `rooms get names, and dates a language`() async throws {
    try await withHouse { client, _ in
      let room = "/api/v1/rooms/" + String(repeating: "1", count: 32)
      let named = try await client.ask("PATCH", room, #"{"name":"Küche","volume":20}"#)
      #expect(try named.json(HouseState.Room.self).volume == 20)
      #expect(try named.json(HouseState.Room.self).name == "Küche")
      try await expectStatus(200, client.ask("PATCH", room, #"{"name":""}"#))
      try await expectStatus(204, client.ask("PATCH", "/api/v1/settings", #"{"dates":"de-AT"}"#))
      let server = try await client.ask("GET", "/api/v1/state").json(HouseState.self).server
      #expect(server.dates == "de-AT" && server.fixed == ["library"])
      try await expectStatus(204, client.ask("PATCH", "/api/v1/settings", #"{"dates":""}"#))
      for (wrong, status) in [(#"{"dates":"x"}"#, 422), (#"{}"#, 400)] {
        try await expectStatus(status, client.ask("PATCH", "/api/v1/settings", wrong))
      }
    }
  }

  @Test func `a station is called as it calls itself, else as its host`() async throws {
    try await withHouse { client, _ in
      let radios = "/api/v1/library/radios"
      let named = try await client.ask("POST", radios, #"{"uri":"http://a.example/named"}"#)
      #expect(try named.json(Radio.self).name == "Radio Fake")
      let other = try await client.ask("POST", radios, #"{"uri":"http://a.example:80/b?c"}"#)
      #expect(try other.json(Radio.self).name == "a.example:80")
    }
  }
}
