import Foundation
import TestSupport
import Testing
import WebServer
import WebTestSupport

/// Tests of a server's answers, over real sockets.
@Suite struct WebServerTests {
  @Test func `a request arrives with its parts decoded`() async throws {
    try await withServer { client in
      let get = try await client.ask("GET", "/a%20b/%C3%A4/?q=x+y%26z&empty")
      #expect(get.status == 200)
      #expect(get.text == "GET|true|a b|ä||q=x y&z|empty=\n")
      let post = try await client.ask("POST", "/a", #"{"a":1}"#)
      #expect(post.text == "POST|true|a\n{\"a\":1}")
      #expect(post.headers["content-security-policy"]?.hasPrefix("default-src 'self'") == true)
      #expect(post.headers["x-content-type-options"] == "nosniff")
      #expect(post.headers["referrer-policy"] == "no-referrer")
      #expect(post.headers["access-control-allow-origin"] == nil)
    }
  }

  @Test(arguments: ["/%zz", "/%", "/%00", "/%ff", "http://study/", "*"])
  func `a path that cannot be read is refused`(path: String) async throws {
    try await withServer { client in
      try expectProblem(await client.ask("GET", path), 400)
    }
  }

  @Test func `HEAD is answered without a body`() async throws {
    try await withServer { client in
      let answer = try await client.ask("HEAD", "/asset")
      #expect(answer.status == 200)
      #expect(answer.headers["content-length"] == "7")
    }
  }

  @Test func `requests on one connection are answered in their order`() async throws {
    try await withServer { client in
      let connection = try WebConnectionClient(port: client.port)
      let reader = WebReader(connection)
      let paths = (0..<200).map { "/\($0)" }
      await connection.send(paths.map { client.request("GET", $0) }.joined())
      for path in paths {
        let answer = try #require(await reader.answer())
        #expect(answer.text == "GET|true|\(path.dropFirst())\n")
      }
    }
  }

  // MARK: - Caching and files

  @Test func `what a browser has is not sent again`() async throws {
    try await withServer { client in
      let first = try await client.ask("GET", "/asset")
      #expect(first.headers["etag"] == "\"v1\"")
      #expect(first.headers["cache-control"] == "public, max-age=31536000, immutable")
      let again = try await client.ask("GET", "/asset", headers: [("If-None-Match", "\"v1\"")])
      #expect(again.status == 304)
      let other = try await client.ask("GET", "/asset", headers: [("If-None-Match", "\"v0\"")])
      #expect(other.status == 200)
    }
  }

  @Test(arguments: [
    ("bytes=0-9", 206, 0..<10), ("bytes=199990-", 206, 199_990..<200_000),
    ("bytes=-5", 206, 199_995..<200_000), ("bytes=0-999999", 206, 0..<200_000),
    ("bytes=5-4", 200, 0..<200_000), ("bytes=0-1,3-4", 200, 0..<200_000),
    ("lines=0-1", 200, 0..<200_000), ("bytes=99999999999999999999-", 416, 0..<0),
    ("bytes=200000-", 416, 0..<0), ("bytes=-0", 416, 0..<0),
  ])
  func `a file is sent in the part that is asked for`(
    range: String, status: Int, expected: Range<Int>
  ) async throws {
    let folder = try TemporaryFolder()
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try Data(bytes).write(to: URL(filePath: folder.file("film")))
    try await withServer(file: folder.file("film")) { client in
      let answer = try await client.ask("GET", "/file", headers: [("Range", range)])
      guard status < 400 else { return try expectProblem(answer, status, "200000") }
      #expect(answer.status == status)
      #expect(answer.body == Array(bytes[expected]))
      let place = "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/200000"
      #expect(answer.headers["content-range"] == (status == 206 ? place : nil))
    }
  }

  @Test func `a part of another content is not asked for`() async throws {
    let folder = try TemporaryFolder()
    try Data("new content".utf8).write(to: URL(filePath: folder.file("film")))
    try await withServer(file: folder.file("film")) { client in
      let headers = [("Range", "bytes=0-2"), ("If-Range", "\"old\"")]
      #expect(try await client.ask("GET", "/file", headers: headers).text == "new content")
      let tag = try #require(try await client.ask("HEAD", "/file").headers["etag"])
      let same = [("Range", "bytes=0-2"), ("If-Range", tag)]
      #expect(try await client.ask("GET", "/file", headers: same).text == "new")
    }
  }

  @Test func `what is no file is not sent`() async throws {
    let folder = try TemporaryFolder()
    mkfifo(folder.file("pipe"), 0o600)
    for path in [folder.path, folder.file("pipe"), folder.file("none"), "/dev/zero"] {
      try await withServer(file: path) { client in
        try expectProblem(await client.ask("GET", "/file"), 404)
      }
    }
  }

  // MARK: - Listening

  @Test func `who cannot listen says in one line what to do`() async throws {
    try await withServer { client in
      let port = client.port
      let error = await #expect(throws: WebServer.ListenError.self) {
        try await WebServer(
          WebServerConfiguration(addresses: ["127.0.0.1"], port: port), figures: WebFigures()
        ) { _ in WebResponse() }.run()
      }
      #expect(
        error?.description
          == "cannot listen on port \(port): another program has it; end that, or choose another with --port"
      )
    }
    let error = await #expect(throws: WebServer.ListenError.self) {
      try await WebServer(
        WebServerConfiguration(addresses: ["127.0.0.1", "192.0.2.7"], port: 0),
        figures: WebFigures()
      ) { _ in WebResponse() }.run()
    }
    #expect(
      error?.description
        == "cannot listen on 192.0.2.7: it is no address of this machine; see: ip address")
  }
}
