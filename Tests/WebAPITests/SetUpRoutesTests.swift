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

  @Test func `servers are listed, added and removed, and nobody is told a password`() async throws {
    struct Servers: Decodable {
      let servers: [LibraryServer]
    }
    try await withHouse { client, house in
      let path = "/api/v1/servers"
      let answer = try await client.ask("GET", path)
      let listed = try answer.json(Servers.self).servers
      #expect(listed.map(\.name) == ["Home"] && listed[0].isFixed)
      #expect(listed[0].awaySinceS == 1_700_000_000 && listed[0].trackCount == 7)
      #expect(!String(decoding: answer.body, as: UTF8.self).contains("sesame"))
      let work =
        #"{"name":"Work","subsonic":"https://b.example","user":"anna","password":"p","login":"password"}"#
      try await expectStatus(204, client.ask("POST", path, work))
      let loft = #"{"name":"Loft","upnp":"http://192.168.1.5:8200/rootDesc.xml"}"#
      try await expectStatus(204, client.ask("POST", path, loft))
      try await expectStatus(204, client.ask("DELETE", path + "?name=Work"))
      try expectProblem(await client.ask("DELETE", path + "?name=Home"), 409, "configuration")
      let wrong = #"{"name":"W","subsonic":"https://b.example","user":"a","password":"wrong"}"#
      try expectProblem(await client.ask("POST", path, wrong), 409, "refuses the password")
      var server = ChosenServer(name: "Work", kind: .subsonic, address: "https://b.example")
      (server.user, server.secret, server.login) = ("anna", "p", .password)
      #expect(await house.requests.contains(.setUp(.addServer(server))))
    }
  }

  @Test func `media servers of the network are found`() async throws {
    struct Found: Decodable {
      let servers: [FoundServer]
    }
    try await withHouse { client, _ in
      let found = try await client.ask("GET", "/api/v1/servers/found").json(Found.self).servers
      #expect(found.map(\.name) == ["Loft"])
      #expect(found.map(\.address) == ["http://192.168.1.5:8200/rootDesc.xml"])
    }
  }

  @Test(arguments: [
    (#"{}"#, 400), (#"{"name":"A"}"#, 400), (#"{"name":"A","upnp":"http://a","x":1}"#, 400),
    (#"{"name":"A","upnp":"http://a","subsonic":"http://b"}"#, 400),
    (#"{"name":"A","upnp":"http://a","user":"anna"}"#, 422),
    (#"{"name":"A","upnp":"ftp://a"}"#, 422),
    (#"{"name":"A","subsonic":"http://a","user":"anna"}"#, 422),
    (#"{"name":"a/b","upnp":"http://a"}"#, 422), (#"{"name":"home","upnp":"http://a"}"#, 422),
  ])
  func `what is no server is refused`(body: String, status: Int) async throws {
    try await withHouse { client, _ in
      try await expectStatus(status, client.ask("POST", "/api/v1/servers", body))
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
      let typed = try await client.ask("POST", radios, #"{"uri":"b.example/named"}"#)
      #expect(try typed.json(Radio.self).uri == "http://b.example/named")
      try await expectStatus(422, client.ask("POST", radios, #"{"uri":"http://a.example/page"}"#))
    }
  }
}
