import Foundation
import House
import Pairing
import Sender
import Service
import Testing
import WebAPI
import WebServer
import WebTestSupport

/// Tests of who may ask for what over HTTP. The header of a proxy makes a request come from the
/// network.
@Suite struct AccessRoutesTests {
  private static let network = ("X-Forwarded-For", "192.168.1.30")

  private struct Access: Decodable {
    let asker: String
    let open: Bool
  }

  private struct Browser: Decodable {
    let id: String
    let name: String
    let isAsker: Bool
  }

  private struct Code: Decodable { let code: String? }

  private static func cookie(_ answer: WebAnswer) throws -> (String, String) {
    let cookie = try #require(answer.headers["set-cookie"])
    #expect(cookie.contains("HttpOnly; SameSite=Strict") && cookie.contains("Max-Age=31536000"))
    return ("Cookie", String(cookie.prefix { $0 != ";" }))
  }

  private static func pair(_ client: WebClient, _ body: String) async throws -> WebAnswer {
    let agent = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0 Safari/537.36")
    return try await client.ask("POST", "/api/v1/browsers", body, headers: [network, agent])
  }

  @Test func `a stranger learns nothing, and this machine is asked nothing`() async throws {
    try await withHouse { client, house in
      let page = try await client.ask("GET", "/", headers: [Self.network])
      #expect(page.status == 200 && page.text.contains(#"data-asker="stranger""#))
      for word in ["Kitchen", "study", "Turntable"] { #expect(!page.text.contains(word)) }
      let answer = try await client.ask("GET", "/api/v1/state", headers: [Self.network])
      try expectProblem(answer, 401)
      #expect(try answer.json(Code.self).code == "unpaired")
      try await expectStatus(200, client.ask("GET", "/api/v1/state"))
      let own = try await client.ask("GET", "/")
      #expect(own.text.contains(#"data-asker="machine""#) && own.text.contains("Kitchen"))
    }
  }

  @Test func `a browser is paired by the PIN, and steers until it is removed`() async throws {
    let access = try FakeAccess.make()
    let pin = try #require(access.pin).written
    try await withHouse(access: access) { client, _ in
      let answer = try await Self.pair(client, #"{"pin":"\#(pin)"}"#)
      #expect(answer.status == 201)
      let browser = try answer.json(Browser.self)
      #expect(browser.name == "Chrome on Linux")
      let headers = [Self.network, try Self.cookie(answer)]
      let page = try await client.ask("GET", "/", headers: headers)
      #expect(page.text.contains(#"data-asker="browser""#) && page.text.contains("Kitchen"))
      #expect(try Self.cookie(page) == Self.cookie(answer))
      struct List: Decodable { let browsers: [Browser] }
      let list = try await client.ask("GET", "/api/v1/browsers", headers: headers)
      #expect(try list.json(List.self).browsers.map(\.isAsker) == [true])
      let path = "/api/v1/browsers/\(browser.id)"
      let renamed = try await client.ask(
        "PATCH", path, #"{"name":"Phone of Ann"}"#, headers: headers)
      #expect(try renamed.json(Browser.self).name == "Phone of Ann")
      try await expectStatus(204, client.ask("DELETE", path, headers: headers))
      try expectProblem(await client.ask("GET", "/api/v1/state", headers: headers), 401)
    }
  }

  @Test func `the code that the page shows pairs one browser`() async throws {
    struct Shown: Decodable {
      let address: String
      let rows: [String]
      let pin: String
    }
    try await withHouse { client, _ in
      let shown = try await client.ask("POST", "/api/v1/browsers/invitations").json(Shown.self)
      #expect(shown.rows.count >= 21 && shown.rows.allSatisfy { $0.count == shown.rows.count })
      let secret = try #require(shown.address.split(separator: "#pair=").last)
      let answer = try await Self.pair(client, #"{"secret":"\#(secret)"}"#)
      let headers = [Self.network, try Self.cookie(answer)]
      try await expectStatus(200, client.ask("GET", "/api/v1/state", headers: headers))
      try expectProblem(await Self.pair(client, #"{"secret":"\#(secret)"}"#), 401, "used before")
      try expectProblem(await Self.pair(client, "{}"), 400, "pin and secret")
    }
  }

  @Test func `a phone is sent to the address that the page has, where phones find it`() async throws
  {
    struct Shown: Decodable { let address: String }
    let daemon = "http://192.168.1.20:8770"
    try await withHouse { client, _ in
      for (host, base) in [
        ("127.0.0.1:80", daemon), ("study", daemon), ("study.local", daemon),
        ("10.0.0.2:8770", "http://10.0.0.2:8770"), ("[fd00::1]:8770", "http://[fd00::1]:8770"),
      ] {
        let access = try await client.ask(
          "POST", "/api/v1/browsers",
          #"{"pin":"\#(try #require(try await client.ask("POST", "/api/v1/access/pin").json([String: String].self)["pin"]))"}"#
        )
        let headers = [("Host", host), ("Origin", "http://\(host)"), try Self.cookie(access)]
        let shown = try await client.ask("POST", "/api/v1/browsers/invitations", headers: headers)
        #expect(try shown.json(Shown.self).address.hasPrefix("\(base)/#pair="), "\(host)")
      }
    }
  }

  @Test func `wrong PINs over HTTP cost time, but not at the machine itself`() async throws {
    let access = try FakeAccess.make()
    let right = try #require(access.pin)
    let wrong = (1...9).map { PIN(random: $0).digits }.filter { $0 != right.digits }
    try await withHouse(access: access) { client, _ in
      for pin in wrong.prefix(3) {
        try expectProblem(await Self.pair(client, #"{"pin":"\#(pin)"}"#), 401, "tutti pin")
      }
      let slowed = try await Self.pair(client, #"{"pin":"\#(right.digits)"}"#)
      try expectProblem(slowed, 429)
      #expect(slowed.headers["retry-after"] == "30")
      let body = #"{"pin":"\#(right.digits)"}"#
      try await expectStatus(201, client.ask("POST", "/api/v1/browsers", body))
      try expectProblem(await Self.pair(client, #"{"pin":"1234"}"#), 422, "eight digits")
    }
  }

  @Test func `the token counts in a header and in a cookie`() async throws {
    try await withHouse(token: "correct-horse") { client, _ in
      for (header, status) in [
        (("Authorization", "Bearer correct-horse"), 200),
        (("Cookie", "a=b; tutti-token=correct-horse"), 200),
        (("Authorization", "Basic correct-horse"), 401), (("Cookie", "tutti-token="), 401),
        (("Cookie", "xtutti-token=correct-horse"), 401), (("X-None", "1"), 401),
        (("Authorization", "Bearer correct-hors"), 401),
        (("Cookie", "tutti-token=correct-horse2"), 401), (("Cookie", "tutti-token=x"), 401),
        (("Authorization", "Bearer y"), 429), (("Authorization", "Bearer correct-horse"), 429),
      ] {
        try await expectStatus(status, client.ask("GET", "/api/v1/state", headers: [header]))
      }
    }
  }

  // MARK: - Events

  @Test(arguments: [true, false])
  func `events end when the browser is removed, or guests may steer no more`(
    isGuest: Bool
  ) async throws {
    let access = try FakeAccess.make()
    var rhythm = EventFeed.Rhythm()
    // Nothing else may wake the stream.
    rhythm.sync = .seconds(3_600)
    try await access.setOpen(isGuest)
    let key = try await access.pair(pin: try #require(access.pin).digits, name: "x")
    try await withHouse(access: access, rhythm: rhythm) { client, _ in
      let connection = try WebConnectionClient(port: client.port)
      let cookie = isGuest ? "" : "Cookie: tutti-browser=\(key.text)\r\n"
      await connection.send(
        "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Real-IP: 10.0.0.1\r\n\(cookie)\r\n")
      let reader = WebReader(connection)
      #expect(await reader.head()?.contains("200 OK") == true)
      #expect(await reader.chunk() != nil)
      if isGuest {
        try await access.setOpen(false)
      } else {
        try await access.remove(key.browser.id)
      }
      #expect(await reader.chunk() == nil)
    }
  }

  // MARK: - All routes

  private struct Operation: Decodable {
    let responses: [String: Response]
    let permission: Permission

    struct Response: Decodable {}
    enum Permission: String, Decodable { case anyone, guest, household }
    enum CodingKeys: String, CodingKey {
      case responses
      case permission = "x-tutti-permission"
    }
  }

  private static func operations() throws -> [(method: String, path: String, Operation)] {
    struct Document: Decodable { let paths: [String: [String: Operation]] }
    let file = URL(filePath: #filePath).appending(path: "../../../docs/openapi.json").standardized
    let document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: file))
    return document.paths.flatMap { path, operations in
      operations.map { ($0.key.uppercased(), path, $0.value) }
    }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
  }

  @Test func `the document says of every route who may ask`() throws {
    for (method, path, operation) in try Self.operations() {
      let permission = WebAPI.permissions["\(method) \(path)"]
      #expect(permission?.rawValue == operation.permission.rawValue, "\(method) \(path)")
    }
  }

  /// Bodies with which each route does something for askers who may.
  private static let bodies = [
    "POST /api/v1/login": #"{"token":"guess-guess"}"#,
    "POST /api/v1/browsers": #"{"secret":"guess"}"#,
    "POST /api/v1/groups": #"{"roomIds":["\#(room(2))"]}"#,
    "PATCH /api/v1/groups/{id}": #"{"volume":20}"#,
    "POST /api/v1/groups/{id}/seek": #"{"positionS":1}"#,
    "POST /api/v1/groups/{id}/rooms": #"{"roomId":"\#(room(2))"}"#,
    "POST /api/v1/groups/{id}/merge": #"{"groupId":"g1"}"#,
    "POST /api/v1/groups/{id}/queue": #"{"items":[{"radioId":"s1"}],"at":"end"}"#,
    "PATCH /api/v1/groups/{id}/queue/{entryId}": #"{"before":null}"#,
    "PATCH /api/v1/rooms/{id}": #"{"volume":20}"#,
  ]

  private static func ask(
    _ client: WebClient, _ method: String, _ path: String
  ) async throws -> WebAnswer {
    let isRoom = path.contains("rooms/{id}")
    let target = path.replacing("{id}", with: isRoom ? room(1) : "g1")
      .replacing("{roomId}", with: room(2)).replacing("{entryId}", with: "1")
      .replacing("{name}", with: "app.js").replacing("{kind}", with: "album").replacing(
        "{hash}", with: "abc123")
    let query = path.hasSuffix("events") ? "?limit=1" : path.hasSuffix("search") ? "?q=s" : ""
    return try await client.ask(
      method, target + query, bodies["\(method) \(path)"] ?? "", headers: [network])
  }

  @Test func `closed, every route answers 401 or a file of the page`() async throws {
    let files = ["GET /", "GET /assets/{name}", "GET /api/v1/openapi.json"]
    try await withHouse { client, house in
      let before = await house.requests.count
      for (method, path, _) in try Self.operations() {
        let isFile = files.contains("\(method) \(path)")
        let answer = try await Self.ask(client, method, path)
        #expect(answer.status == (isFile ? 200 : 401), "\(method) \(path): \(answer.text)")
        #expect(!answer.text.contains("Kitchen"))
      }
      #expect(await house.requests.count == before)
    }
  }

  @Test func `open, exactly the documented routes answer guests`() async throws {
    for (method, path, operation) in try Self.operations() {
      try await withHouse(access: FakeAccess.make(isOpen: true)) { client, _ in
        let item = #"{"items":[{"trackId":"t1"}],"at":"now"}"#
        _ = try await client.ask("POST", "/api/v1/groups/g1/queue", item)
        let answer = try await Self.ask(client, method, path)
        let name = "\(method) \(path): \(answer.status) \(answer.text)"
        if operation.permission == .household {
          #expect(answer.status == 403, "\(name)")
          #expect(try answer.json(Code.self).code == "guests-may-not", "\(name)")
        } else {
          #expect(![403, 405].contains(answer.status) && answer.status < 500, "\(name)")
          let isKey = ["/api/v1/login", "/api/v1/browsers"].contains(path)
          #expect((answer.status == 401) == isKey, "\(name)")
        }
      }
    }
  }

  @Test(arguments: [
    ("PATCH", "/api/v1/groups/g1", #"{"name":"Mine"}"#),
    ("PATCH", "/api/v1/groups/g1", #"{"effects":{"rate":2}}"#),
    ("POST", "/api/v1/groups", #"{"roomIds":["22222222222222222222222222222222"],"name":"x"}"#),
    ("PATCH", "/api/v1/rooms/11111111111111111111111111111111", #"{"delayMs":9}"#),
    ("PATCH", "/api/v1/rooms/11111111111111111111111111111111", #"{"channels":"left"}"#),
    ("PATCH", "/api/v1/rooms/11111111111111111111111111111111", #"{"volumeLimit":100}"#),
    (
      "POST", "/api/v1/groups/g1/rooms",
      #"{"roomId":"22222222222222222222222222222222","take":true}"#
    ),
    ("POST", "/api/v1/groups/g1/queue", #"{"items":[{"inputId":"Turntable"}],"at":"now"}"#),
    ("POST", "/api/v1/groups/g1/queue", #"{"items":[{"uri":"http://10.0.0.1/x"}],"at":"now"}"#),
  ])
  func `guests change nothing that lasts`(
    method: String, path: String, body: String
  ) async throws {
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, house in
      let before = await house.requests.count
      let answer = try await client.ask(method, path, body, headers: [Self.network])
      try expectProblem(answer, 403, "Guests may not")
      #expect(await house.requests.count == before)
      #expect(try await client.ask(method, path, body).status < 300)
    }
  }

  @Test(arguments: [
    ("http://radio.example.org/x", true), ("https://1.1.1.1/", true),
    ("http://[2a00:1450::1]:80/", true), ("http://a.b.co:8000/x?y", true),
    ("http://127.0.0.1/", false), ("http://10.1.2.3/", false), ("http://172.16.0.1/", false),
    ("http://192.168.0.1:80/", false), ("http://169.254.169.254/", false),
    ("http://100.64.0.1/", false), ("http://0.0.0.0/", false), ("http://255.255.255.255/", false),
    ("http://2130706433/", false), ("http://127.1/", false), ("http://0177.0.0.1/", false),
    ("http://0x7f.0.0.1/", false), ("http://1.2.3.0x7f/", false), ("http://router/", false),
    ("http://nas.local/", false), ("http://nas.LAN./", false), ("http://x.home.arpa/", false),
    ("http://localhost:8770/", false), ("http://[::1]/", false), ("http://[::ffff:7f00:1]/", false),
    ("http://[fe80::1]/", false), ("http://[fd00::1]/", false), ("http://[2002:7f00:1::]/", false),
    ("http://[64:ff9b::7f00:1]/", false), ("http://[2001:db8::1]/", false),
  ])
  func `guests play only public addresses`(uri: String, isPublic: Bool) async throws {
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, house in
      let body = #"{"items":[{"uri":"\#(uri)"}],"at":"end"}"#
      let path = "/api/v1/groups/g1/queue"
      try await expectStatus(200, client.ask("POST", path, body))
      let answer = try await client.ask("POST", path, body, headers: [Self.network])
      #expect(answer.status == (isPublic ? 200 : 403), "\(answer.text)")
      // The target of an address is checked again when the connection is made.
      #expect(await Self.reaches(house) == (isPublic ? [.network, .internet] : [.network]))
    }
  }

  private static func reaches(_ house: FakeHouse) async -> [SourceReach] {
    await house.requests.compactMap { request in
      if case .edit(_, .add(let entries, _), _) = request { entries.first?.reach } else { nil }
    }
  }

  @Test func `a guest's address leads no further when the household adds it again`() async throws {
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, house in
      let items = #""items":[{"uri":"http://radio.example.org/x"}]"#
      let (queue, lists) = ("/api/v1/groups/g1/queue", "/api/v1/library/playlists")
      let add = "{\(items),\"at\":\"end\"}"
      // The queue has it, then a playlist alone, and then nothing.
      try await expectStatus(200, client.ask("POST", queue, add, headers: [Self.network]))
      try await expectStatus(200, client.ask("POST", queue, add))
      let made = try await client.ask("POST", lists, "{\"name\":\"Dinner\",\(items)}")
      let list = try made.json(StoredPlaylist.self).id
      try await expectStatus(200, client.ask("DELETE", queue))
      try await expectStatus(200, client.ask("POST", queue, add))
      try await expectStatus(204, client.ask("DELETE", "\(lists)/\(list)"))
      try await expectStatus(200, client.ask("DELETE", queue))
      try await expectStatus(200, client.ask("POST", queue, add))
      #expect(await Self.reaches(house) == [.internet, .internet, .internet, .network])
    }
  }

  // MARK: - Names

  @Test(arguments: [
    ("Mozilla/5.0 (X11; Linux x86_64) Chrome/130 Safari/537.36", "Chrome on Linux"),
    ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18 Mobile Safari/604", "Safari on iPhone"),
    ("Mozilla/5.0 (Android 14; Mobile; rv:130) Gecko/130 Firefox/130", "Firefox on Android"),
    ("curl/8.5", "curl"), ("", "Program"), ("\u{1b}[31m<b>", "Program"),
    (String(repeating: "x", count: 9_000), String(repeating: "x", count: 24)),
  ])
  func `a browser is called by what it says of itself`(agent: String, name: String) async throws {
    let access = try FakeAccess.make()
    let pin = try #require(access.pin).digits
    try await withHouse(access: access) { client, _ in
      let answer = try await client.ask(
        "POST", "/api/v1/browsers", #"{"pin":"\#(pin)"}"#,
        headers: agent.isEmpty ? [] : [("User-Agent", agent)])
      // A header cannot contain control characters.
      guard answer.status != 400 else { return #expect(agent.contains("\u{1b}")) }
      #expect(try answer.json(Browser.self).name == name)
    }
  }
}
