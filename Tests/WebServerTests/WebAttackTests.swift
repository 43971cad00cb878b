import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import WebServer

/// Tests of clients that try to break or fill a server: they are refused, and others are served as
/// before.
@Suite struct WebAttackTests {
  /// Limits of which one is short; a busy machine does not reach the others.
  private static func hurried(
    _ timeout: WritableKeyPath<WebServerConfiguration.Limits, Duration>
  ) -> WebServerConfiguration.Limits {
    var limits = WebServerConfiguration.Limits()
    limits.requestTimeout = .seconds(60)
    limits[keyPath: timeout] = .milliseconds(200)
    return limits
  }

  @Test func `a body that says it is too long is not read`() async throws {
    try await withServer { client in
      let connection = try WebConnectionClient(port: client.port)
      let headers = [("Content-Type", "application/json"), ("Content-Length", "1000000000")]
      await connection.send(client.request("POST", "/", headers: headers))
      try expectProblem(await WebReader(connection).answer(), 413)
    }
  }

  @Test func `a body without an end is cut off`() async throws {
    try await withServer { client in
      let connection = try WebConnectionClient(port: client.port)
      let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
      await connection.send(client.request("POST", "/", headers: headers))
      let chunk = [UInt8]("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 1 << 16) + [13, 10]
      var sent = 0
      while sent < 16_384, await connection.send(chunk) { sent += 1 }
      // Far less than a gigabyte: data that the kernel took, and data that is read after the
      // answer.
      #expect(sent < 512)
    }
  }

  @Test func `a body of the greatest length is taken`() async throws {
    try await withServer { client in
      let body = String(repeating: " ", count: 65_536)
      try await expectStatus(200, client.ask("POST", "/", body))
      try expectProblem(await client.ask("POST", "/", body + " "), 413)
    }
  }

  @Test(arguments: [
    ("GARBAGE\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: 1\r\n\r\n", 400),
    ("GET / HTTP/9.9\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n", 400),
    (
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      400
    ),
    ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
    (
      "GET / HTTP/1.1\r\nHost: localhost\r\nA: \(String(repeating: "a", count: 20_000))\r\n\r\n",
      431
    ),
    ("GET / HTTP/1.1\r\n\(String(repeating: "A: 1\r\n", count: 70))\r\n", 431),
    ("GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
  ])
  func `what is no request is told so`(bytes: String, status: Int) async throws {
    try await withServer { client in
      let connection = try WebConnectionClient(port: client.port)
      await connection.send(bytes)
      try expectProblem(await WebReader(connection).answer(), status)
      #expect(await connection.end())
      try await expectStatus(200, client.ask("GET", "/"))
    }
  }

  @Test func `a request that comes by single bytes is ended`() async throws {
    try await withServer(limits: Self.hurried(\.requestTimeout)) { client in
      let connection = try WebConnectionClient(port: client.port)
      await connection.send("GET / HTTP/1.1\r\nHost: loc")
      try expectProblem(await WebReader(connection).answer(), 408)
      #expect(await connection.end())
    }
  }

  @Test func `a body that does not come is not waited for`() async throws {
    try await withServer(limits: Self.hurried(\.requestTimeout)) { client in
      let connection = try WebConnectionClient(port: client.port)
      let headers = [("Content-Type", "application/json"), ("Content-Length", "10")]
      await connection.send(client.request("POST", "/", headers: headers) + "{")
      try expectProblem(await WebReader(connection).answer(), 408)
    }
  }

  @Test func `a connection that asks nothing more is closed`() async throws {
    try await withServer(limits: Self.hurried(\.idleTimeout)) { client in
      let connection = try WebConnectionClient(port: client.port)
      await connection.send(client.request("GET", "/"))
      #expect(await WebReader(connection).answer()?.status == 200)
      #expect(await connection.end())
    }
  }

  @Test func `more listeners than there is room for are told so`() async throws {
    let figures = WebFigures()
    try await withServer(figures: figures) { client in
      var listeners: [WebConnectionClient] = []
      for number in 0..<32 {
        let connection = try WebConnectionClient(
          port: client.port, fromHost: 1 + UInt32(number % 4))
        await connection.send(client.request("GET", "/one"))
        #expect(await WebReader(connection).head()?.contains("200 OK") == true)
        listeners.append(connection)
      }
      #expect(figures.eventStreamCount == 32)
      let answer = try await client.ask("GET", "/one")
      try expectProblem(answer, 503, "events")
      #expect(answer.headers["retry-after"] == "5")
      withExtendedLifetime(listeners) {}
    }
  }

  @Test func `half a request keeps nobody out`() async throws {
    let figures = WebFigures()
    try await withServer(figures: figures) { client in
      var open: [WebConnectionClient] = []
      for number in 0..<280 {
        let connection = try WebConnectionClient(
          port: client.port, fromHost: 2 + UInt32(number / 70))
        await connection.send("GET /asset HTTP/1.1\r\nHost: ")
        open.append(connection)
        if number % 70 == 0 { #expect(try await client.ask("GET", "/asset").status == 200) }
      }
      #expect(try await client.ask("GET", "/asset").status == 200)
      #expect(figures.refusedCount == 0)
      #expect(figures.connectionCount <= 256)
      withExtendedLifetime(open) {}
    }
  }

  @Test func `a host of IPv6 is counted with all its addresses, one of IPv4 by itself`() {
    let network = WebFigures.network
    #expect(network("2001:db8:1:2:3:4:5:6") == network("2001:db8:1:2::1"))
    #expect(network("2001:db8:1:2::1") != network("2001:db8:1:3::1"))
    #expect(network("::ffff:10.0.0.1") != network("::ffff:10.0.0.2"))
    #expect(network("10.0.0.1") != network("10.0.0.2"))
  }

  @Test func `addresses of one IPv6 network of 64 bits make room for each other alone`() {
    let figures = WebFigures()
    let closed = Mutex<[String]>([])
    func open(_ address: String) -> Int? {
      figures.open(from: address) { closed.withLock { $0.append(address) } }
    }
    let places = (0..<128).map { open("2001:db8:0:1::\(String($0, radix: 16))") }
    #expect(Set(places.compactMap(\.self)).count == 128)
    #expect(open("2001:db8:0:1:ffff::1") != nil)
    #expect(closed.withLock { $0 } == ["2001:db8:0:1::0"])
    // Another network may have as many connections, and those of the first network stay.
    for host in 0..<128 { #expect(open("2001:db8:0:2:\(host)::1") != nil) }
    #expect(closed.withLock { $0.count } == 1)
    #expect(figures.connectionCount == 256)
    // A connection that is being answered does not give way to another of its network.
    for place in 1...300 { figures.note(place, canGiveWay: false) }
    #expect(open("2001:db8:0:2::5") == nil)
    #expect(figures.refusedCount == 1)
  }

  @Test func `connections of one machine and of all are bounded`() async throws {
    let figures = WebFigures()
    let folder = try TemporaryFolder()
    let file = try folder.write([UInt8](repeating: 0, count: 16 << 20), to: "film")
    try await withServer(figures: figures, file: file) { client in
      var open: [WebConnectionClient] = []
      var refusedCount = 0
      for number in 0..<300 {
        let connection = try WebConnectionClient(
          port: client.port, fromHost: 2 + UInt32(number / 140))
        // The file is larger than the buffers of a client that does not read.
        await connection.send(client.request("GET", "/file"))
        let answer = await WebReader(connection).head()
        if answer?.contains("200 OK") == true { open.append(connection) } else { refusedCount += 1 }
      }
      // 128 of the 140 connections of each machine, and no more than 256 in total.
      #expect(open.count == 2 * 128)
      #expect(refusedCount == 300 - open.count)
      #expect(figures.refusedCount == refusedCount)
      #expect(figures.connectionCount == open.count)
      try expectProblem(await client.ask("GET", "/"), 503)
    }
  }

  @Test func `who sends requests ahead and reads nothing is ended`() async throws {
    try await withServer(limits: Self.hurried(\.readerTimeout)) { client in
      let connection = try WebConnectionClient(port: client.port)
      let requests = String(repeating: client.request("GET", "/asset"), count: 1_000)
      var count = 0
      while count < 1_000, await connection.send(requests) { count += 1 }
      #expect(count < 1_000)
    }
  }
}
