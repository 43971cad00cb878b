import Driver
import Foundation
import House
import Service
import TestSupport
import Testing
import WebServer
import WebTestSupport
import WireProtocol

@testable import Sender
@testable import WebAPI

/// Tests of the page, the token, the metrics and the API's document.
@Suite struct PageRoutesTests {
  @Test func `the page has the state in it, and nothing in the state can end it`() async throws {
    try await withHouse { client, _ in
      let page = try await client.ask("GET", "/")
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      let state = try #require(page.text.split(separator: #"id="state">"#).last)
      #expect(state.contains(#""name":"study \u003c/script>""#))
      let json = state.prefix { $0 != "<" }
      let told = try JSONDecoder().decode(HouseState.self, from: Data(json.utf8))
      #expect(told.server.name == "study </script>")
    }
  }

  @Test func `the parts of the page are served, and kept until they change`() async throws {
    try await withHouse { client, _ in
      let page = try await client.ask("GET", "/")
      let parts = page.text.matches(of: /(?:src|href)="(assets\/[^"]+)"/).map { String($0.1) }
      #expect(parts.count > 3)
      for part in parts {
        let answer = try await client.ask("GET", "/\(part)")
        #expect(answer.status == 200 && !answer.body.isEmpty, "\(part)")
        let tag = try #require(answer.headers["etag"])
        let again = [("If-None-Match", tag)]
        try await expectStatus(304, client.ask("GET", "/\(part)", headers: again))
      }
      try expectProblem(await client.ask("GET", "/assets/none.js"), 404)
    }
  }

  /// The files of the page as they are written.
  private static let written = URL(filePath: #filePath).appending(
    path: "../../../Sources/Page/web"
  ).standardized

  @Test func `the page weighs at most 180 kB as it is served`() async throws {
    try await withHouse { client, _ in
      var weight = 0
      for name in try FileManager.default.contentsOfDirectory(atPath: Self.written.path()) {
        let answer = try await client.ask("GET", "/assets/\(name)")
        #expect(answer.status == 200, "\(name)")
        weight += answer.body.count
      }
      print("The page weighs \(weight) bytes.")
      #expect(weight > 100_000 && weight <= 180_000)
    }
  }

  @Test func `only comments and idle spaces are missing in what is served`() async throws {
    try await withHouse { client, _ in
      for name in try FileManager.default.contentsOfDirectory(atPath: Self.written.path()) {
        guard [".js", ".css", ".html"].contains(where: name.hasSuffix) else { continue }
        let text = try String(contentsOf: Self.written.appending(path: name), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.trimmingPrefix(/\t+/) }
        for line in lines {
          let opens = line.matches(of: /\/\*/).count
          #expect(opens == line.matches(of: /\*\//).count, "\(name): \(line)")
          #expect(line.count(where: { $0 == "`" }).isMultiple(of: 2), "\(name): \(line)")
          #expect(
            !line.hasPrefix("/*")
              || line.dropFirst(2).firstRange(of: "*/")?.upperBound == line.endIndex,
            "\(name): \(line)")
        }
        let code = lines.filter { !$0.hasPrefix("//") && !$0.hasPrefix("/*") }
        let served = try await client.ask("GET", "/assets/\(name)").text.split(separator: "\n")
        if name.hasSuffix(".css") {
          let strings = code.flatMap { $0.matches(of: /"[^"]*"/).map(\.output) }
          #expect(strings.allSatisfy { !$0.contains(/[{};:,>\/][ ]|[ ][{}>!\/]/) }, "\(name)")
          let whole = Self.packed(code.joined(separator: "\n")[...])
          #expect(Self.packed(served.joined(separator: "\n")[...]) == whole, "\(name)")
          #expect(served.joined().count < code.joined().count, "\(name)")
        } else if name.hasSuffix(".js") {
          #expect(code.allSatisfy { !$0.contains(/\b(return|typeof|case|in|of) \//) }, "\(name)")
          // A line that opens something goes on with the next, and one that closes something follows at once.
          let whole = zip(code, code.dropFirst() + [""]).reduce(into: "") { text, pair in
            let goesOn = pair.0.contains(/[{(\[,]$/) || pair.1.contains(/^[})\]]/)
            text += pair.0 + (goesOn && !pair.0.contains("//") ? "" : "\n")
          }.split(separator: "\n")
          #expect(served.count == whole.count && served.count <= code.count)
          for (line, written) in zip(served, whole) { expectScript(line, written, name) }
        } else {
          #expect(served.elementsEqual(code), "\(name)")
        }
      }
    }
  }

  /// Only spaces are missing, none of them in strings and templates, nor between words or signs.
  private func expectScript(_ served: Substring, _ written: Substring, _ name: String) {
    #expect(
      served.filter { $0 != " " } == written.filter { $0 != " " }, "\(name): \(written)")
    let strings = /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/
    #expect(
      served.matches(of: strings).map(\.output.0) == written.matches(of: strings).map(\.output.0),
      "\(name): \(written)")
    let words = /[A-Za-z0-9_$]+ +[A-Za-z0-9_$]+|[+-] +[+-]/
    #expect(
      served.matches(of: words).map(\.output) == written.matches(of: words).map(\.output),
      "\(name): \(written)")
  }

  @Test(arguments: [
    (
      "const f = async (a, b = 1) => ({ ...a, b: [a - b, a + +b] })",
      "const f=async(a,b=1)=>({...a,b:[a-b,a+ +b]})"
    ),
    (
      "x = y ? `${a ? `b, ${c + 1} = d` : \"e, f\"} : g` : 'h = i'",
      "x=y?`${a?`b, ${c+1} = d`:\"e, f\"} : g`:'h = i'"
    ),
    (
      "} else if (s.match(/[/ ]= \\/ /) || a / b > 2) return i++ - -1 // why, not",
      "}else if(s.match(/[/ ]= \\/ /)||a/ b>2)return i++ - -1// why, not"
    ),
    (
      "case \"a b\" : return 'c' in `d ${e / 2 + 'f'}`",
      "case\"a b\":return'c'in`d ${e/ 2+'f'}`"
    ),
  ])
  func `a script keeps its strings, templates and expressions`(line: String, served: String) {
    #expect(String(decoding: ScriptText.served(Array(line.utf8)[...]), as: UTF8.self) == served)
  }

  /// A style sheet without the spaces that separate nothing: a mark ends a word and begins the next.
  private static func packed(_ text: Substring) -> Substring {
    text.replacing(/([{};:,>\/])[ \n]+/) { $0.output.1 }
      .replacing(/[ \n]+([{}>!\/])/) { $0.output.1 }
  }

  @Test func `with a token nothing is told or done without it`() async throws {
    try await withHouse(token: "correct-horse") { client, house in
      for (method, path) in [
        ("GET", "/api/v1/state"), ("GET", "/api/v1/events"), ("GET", "/metrics"),
        ("POST", "/api/v1/groups/g1/play"), ("GET", "/api/v1/library/tracks/t1/media"),
      ] {
        let answer = try await client.ask(method, path)
        try expectProblem(answer, 401, "Pair")
        #expect(answer.headers["www-authenticate"] == "Bearer")
      }
      let page = try await client.ask("GET", "/")
      #expect(page.status == 200 && !page.text.contains("Kitchen"))
      try await expectStatus(200, client.ask("GET", "/api/v1/openapi.json"))
      try expectProblem(await client.ask("POST", "/api/v1/login", #"{"token":"wrong"}"#), 401)
      let login = try await client.ask("POST", "/api/v1/login", #"{"token":"correct-horse"}"#)
      #expect(login.status == 204)
      let cookie = try #require(login.headers["set-cookie"])
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
      let pair = String(cookie.prefix { $0 != ";" })
      for header in [("Cookie", pair), ("Authorization", "Bearer correct-horse")] {
        try await expectStatus(200, client.ask("GET", "/api/v1/state", headers: [header]))
      }
      #expect(await house.requests.count == 1)
    }
  }

  @Test func `figures are those of the rooms`() async throws {
    try await withHouse { client, house in
      let sync = try JSONDecoder().decode(
        RoomSync.self,
        from: Data(
          #"{"errorUs":-3,"p50Us":2,"p99Us":9,"maxUs":31,"boundUs":15,"roundTripUs":250,"clockDriftPpm":-12.5,"deviceDriftPpm":0,"bufferedS":182.2,"bufferedBytes":7340032,"underruns":1,"late":2,"lost":3,"corrupt":4}"#
            .utf8))
      await house.hold(sync: sync, room: 0)
      _ = try await client.ask("GET", "/api/v1/state")
      _ = try await client.ask("GET", "/no/such/thing")
      let answer = try await client.ask("GET", "/metrics")
      #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      let kitchen = #"{room="Kitchen",id="\#(room(1))""#
      for line in [
        #"tutti_build_info{version="1.0.0"} 1"#, "tutti_room_up\(kitchen)} 1",
        #"tutti_room_sync_error_seconds\#(kitchen),quantile="0.99"} 9e-06"#,
        "tutti_room_clock_drift_ratio\(kitchen)} -1.25e-05",
        "tutti_room_buffered_bytes\(kitchen)} 7340032",
        "tutti_room_packets_lost_total\(kitchen)} 3", "tutti_room_volume_ratio\(kitchen)} 0.5",
        #"tutti_group_playing{group="Kitchen",id="g1"} 0"#,
        #"tutti_http_requests_total{route="/api/v1/state",code="200"} 1"#,
        #"tutti_http_requests_total{route="none",code="404"} 1"#, "tutti_events_clients 0",
      ] { #expect(answer.text.split(separator: "\n").contains { $0 == line }, "\(line)") }
    }
  }

  // MARK: - Beside a program's own loop

  @Test func `a service listens once it is there, and tells why it cannot`() async throws {
    let configuration = WebServerConfiguration(addresses: ["127.0.0.1"], port: 0)
    let house = FakeHouse()
    let service = try WebService(
      configuration, house: house, library: NoLibrary(), pairing: NoPairing(),
      access: FakeAccess.make())
    let client = WebClient(port: service.port)
    let albums = try await client.ask("GET", "/api/v1/library/albums")
    #expect(try albums.json(AlbumPage.self).count == 0)
    try expectProblem(await client.ask("POST", "/api/v1/library/scan"), 409, "library = ")
    var taken = configuration
    taken.port = service.port
    #expect(throws: WebServer.ListenError.self) {
      try WebService(
        taken, house: house, library: NoLibrary(), pairing: NoPairing(), access: FakeAccess.make())
    }
  }

  private struct SyncReport: Decodable {
    struct Room: Decodable {
      let id: String
      let points: [[Double]]
    }

    let nowMs: Double
    let rooms: [Room]
  }

  @Test func `a page gets the sync errors of the minutes before it was opened`() async throws {
    try await withHouse { client, house in
      var sync = RoomSync(.made())
      (sync.errorUs, sync.boundUs) = (-3.5, 15)
      await house.hold(sync: sync, room: 0)
      for second in 1...4 { try await house.remember(atMs: Double(second) * 1_000) }
      let all = try await client.ask("GET", "/api/v1/sync").json(SyncReport.self)
      #expect(all.nowMs == 4_000)
      #expect(all.rooms.map(\.id) == [room(1)])
      #expect(all.rooms.first?.points.first == [1_000, -3.5, 15])
      let last = try await client.ask("GET", "/api/v1/sync?lastS=2").json(SyncReport.self)
      #expect(last.rooms.first?.points.map(\.first) == [3_000, 4_000])
      for wrong in ["0", "301", "x"] {
        try expectProblem(await client.ask("GET", "/api/v1/sync?lastS=\(wrong)"), 400, "1 to 300")
      }
    }
  }

  @Test func `inputs are listed, and each can be played by its name`() async throws {
    struct Inputs: Decodable { let inputs: [HouseState.Input] }
    try await withHouse { client, house in
      let inputs = try await client.ask("GET", "/api/v1/inputs").json(Inputs.self).inputs
      #expect(inputs.map(\.name) == ["Turntable"])
      #expect(inputs.first?.levelDb == -31.5)
      let state = try await client.ask("GET", "/api/v1/state").json(HouseState.self)
      #expect(state.inputs.map(\.name) == ["Turntable"])
      func add(_ item: String) async throws -> WebAnswer {
        let body = #"{"items":[\#(item)],"at":"now"}"#
        return try await client.ask("POST", "/api/v1/groups/g1/queue", body)
      }
      try await expectStatus(200, add(#"{"inputId":"Turntable"}"#))
      let added = Order.NewEntry(input: "Turntable")
      let requests = await house.requests
      #expect(requests.last == .edit(group: "g1", .add([added], at: .now), expected: nil))
      try expectProblem(await add(#"{"inputId":"Radio"}"#), 404, "There is no input Radio")
      try expectProblem(await add(#"{"inputId":"Turntable","trackId":"t1"}"#), 400, "inputId")
    }
  }

  // MARK: - The document

  private struct Document: Decodable {
    let openapi: String
    let paths: [String: [String: Operation]]

    struct Operation: Decodable {
      let responses: [String: Response]
    }

    struct Response: Decodable {}
  }

  private static func document() throws -> Document {
    let file = URL(filePath: #filePath).appending(path: "../../../docs/openapi.json").standardized
    return try JSONDecoder().decode(Document.self, from: Data(contentsOf: file))
  }

  @Test func `the document that is served is that of the docs`() async throws {
    try await withHouse { client, _ in
      let answer = try await client.ask("GET", "/api/v1/openapi.json")
      let file = URL(filePath: #filePath).appending(path: "../../../docs/openapi.json").standardized
      #expect(try Data(answer.body) == Data(contentsOf: file))
    }
  }

  @Test func `every route is in the document, and all that is in it is a route`() throws {
    let documented = try Self.document().paths.flatMap { path, operations in
      operations.keys.map { "\($0.uppercased()) \(path)" }
    }
    #expect(Set(documented) == Set(WebAPI.permissions.keys))
  }

  @Test func `every documented path answers with a documented code`() async throws {
    let document = try Self.document()
    try await withHouse { client, _ in
      for (path, operations) in document.paths {
        let values = [
          "kind": "album", "id": path.contains("rooms/{id}") ? room(1) : "g1", "name": "x",
          "hash": "abc123",
        ]
        let filled = values.reduce(path) { $0.replacing("{\($1.key)}", with: $1.value) }
          .replacing("{roomId}", with: room(1)).replacing("{entryId}", with: "1")
        for (method, operation) in operations.sorted(by: { $0.key > $1.key }) {
          let target = path.hasSuffix("events") ? "\(filled)?limit=1" : filled
          let answer = try await client.ask(method.uppercased(), target)
          #expect(
            operation.responses["\(answer.status)"] != nil, "\(method) \(path): \(answer.status)")
          #expect(answer.status != 405 && answer.status < 500)
        }
      }
    }
  }
}
