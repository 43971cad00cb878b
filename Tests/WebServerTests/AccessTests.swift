import Testing
import WebServer
import WebTestSupport

/// Tests of who may ask: pages of other sites reach nothing.
@Suite struct AccessTests {
  @Test(arguments: [
    "127.0.0.1", "127.0.0.1:80", "192.168.1.20:7777", "[::1]", "[fe80::1%25eth0]:80", "localhost",
    "LOCALHOST:1", "study", "Study.local", "study.local.:80", "music.example.org",
  ])
  func `the server answers to its names`(host: String) async throws {
    try await withServer(hostNames: ["study", "music.example.org"]) { client in
      try await expectStatus(200, client.ask("GET", "/", headers: [("Host", host)]))
    }
  }

  @Test(arguments: [
    ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example", 421),
    ("1.2.3", 421), ("2130706433", 421), ("study:x", 400), ("a b", 400), ("[::1", 400),
    ("study@evil.example", 400), ("", 400), ("study:99999", 400),
  ])
  func `a name that leads here from elsewhere is refused`(host: String, status: Int) async throws {
    try await withServer { client in
      try expectProblem(await client.ask("GET", "/", headers: [("Host", host)]), status)
    }
  }

  @Test func `two names are none`() async throws {
    try await withServer { client in
      let headers = [("Host", "localhost"), ("Host", "evil.example")]
      try expectProblem(await client.ask("GET", "/", headers: headers), 400)
    }
  }

  @Test(arguments: [
    ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "http://127.0.0.1:1"),
    ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
  ])
  func `pages of other sites change nothing`(name: String, value: String) async throws {
    try await withServer { client in
      for method in ["POST", "PATCH", "DELETE", "PUT", "OPTIONS"] {
        try expectProblem(await client.ask(method, "/", headers: [(name, value)]), 403)
      }
      try await expectStatus(200, client.ask("GET", "/", headers: [(name, value)]))
    }
  }

  @Test func `the server's own pages change what they like`() async throws {
    try await withServer { client in
      for scheme in ["http", "https"] {
        let headers = [
          ("Origin", "\(scheme)://127.0.0.1:\(client.port)"), ("Sec-Fetch-Site", "same-origin"),
        ]
        try await expectStatus(200, client.ask("POST", "/", "{}", headers: headers))
      }
    }
  }

  @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
  func `what is no JSON is refused`(type: String) async throws {
    try await withServer { client in
      let answer = try await client.ask("POST", "/", "{}", headers: [("Content-Type", type)])
      try expectProblem(answer, 415)
    }
  }

  @Test func `JSON may tell its characters, and no body needs no kind`() async throws {
    try await withServer { client in
      let type = ("Content-Type", "Application/JSON; charset=utf-8")
      try await expectStatus(200, client.ask("POST", "/", "{}", headers: [type]))
      try await expectStatus(200, client.ask("POST", "/"))
    }
  }

  @Test(
    arguments: [
      ([], true), ([("Host", "localhost:1")], true), ([("Host", "Study")], true),
      ([("Host", "study.local:80")], true), ([("Host", "[::1]:80")], true),
      ([("Host", "127.8.0.1")], true), ([("Host", "music.example.org")], false),
      ([("Host", "192.168.1.20")], false), ([("Host", "127.0.0.1.")], true),
      ([("X-Forwarded-For", "10.0.0.1")], false), ([("Forwarded", "for=10.0.0.1")], false),
      ([("Via", "1.1 proxy")], false), ([("X-Real-IP", "127.0.0.1")], false),
    ] as [([(String, String)], Bool)])
  func `only this machine itself, with nobody in between, is trusted`(
    headers: [(String, String)], isLocal: Bool
  ) async throws {
    try await withServer(hostNames: ["music.example.org"], ownName: "study") { client in
      let answer = try await client.ask("GET", "/", headers: headers)
      #expect(answer.text.hasPrefix("GET|\(isLocal)|"), "\(answer.text)")
    }
  }

  @Test func `a proxy that says nothing of itself is not this machine`() async throws {
    try await withServer { client in
      let connection = try WebConnectionClient(port: client.port)
      await connection.send("GET / HTTP/1.0\r\nHost: 127.0.0.1:8770\r\n\r\n")
      #expect(await WebReader(connection).answer()?.text.hasPrefix("GET|false|") == true)
    }
  }

  @Test func `a token fits into a header and a cookie`() {
    #expect(WebToken.isUsable("correct-horse"))
    for text in ["short", "with a space in it", "semicolons;are;wrong", "ümläuteümläute"] {
      #expect(!WebToken.isUsable(text))
    }
  }
}
