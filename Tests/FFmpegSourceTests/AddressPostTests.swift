import Sender
import Synchronization
import TestSupport
import Testing

@testable import FFmpegSource

/// Tests of requests that send something to a server.
@Suite struct AddressPostTests {
  private static let limit = 64 << 10

  private func post(
    _ server: TestServer, _ path: String = "/x", isSecure: Bool = false,
    authorities: String? = nil, time: Duration = .seconds(9)
  ) throws -> [UInt8] {
    var settings = NetworkSettings()
    settings.authorities = authorities
    let request = "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
    return try AddressPost(
      Array(request.utf8),
      to: .init(host: "127.0.0.1", port: server.port, isSecure: isSecure), limit: Self.limit,
      time: time, settings: settings
    ).answer
  }

  private func reason(_ body: () throws -> [UInt8]) -> String {
    do {
      return String(decoding: try body().prefix(100), as: UTF8.self)
    } catch {
      return "\(error)"
    }
  }

  @Test func `the answer comes with its head, and no more of it than the limit`() throws {
    let server = try TestServer { request, connection in
      connection.head("200 OK")
      switch request.path {
      case "/large":
        for _ in 0..<640 where !connection.send([UInt8](repeating: 32, count: 16_384)) { break }
      default: connection.send(Array("hello".utf8))
      }
    }
    defer { server.stop() }
    let answer = String(decoding: try post(server), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("hello"))
    #expect(try post(server, "/large").count == Self.limit)
    #expect(server.byteCount(of: "large") < 2 << 20)
  }

  @Test func `a redirect is an answer, and nobody goes there`() throws {
    let other = try TestServer { _, connection in connection.head("200 OK") }
    let server = try TestServer { _, connection in
      connection.head("307 Temporary Redirect", ["Location: \(other.url("x"))"])
    }
    defer {
      server.stop()
      other.stop()
    }
    #expect(reason { try post(server) }.hasPrefix("HTTP/1.1 307"))
    #expect(other.connectionCount == 0 && server.connectionCount == 1)
  }

  @Test func `a server that hangs, hangs up, or is not there is named`() throws {
    let server = try TestServer { request, connection in
      switch request.path {
      case "/head":
        connection.head("200 OK", ["Content-Length: 1000"])
        connection.fallSilent()
      case "/silent": connection.fallSilent()
      default: break
      }
    }
    defer { server.stop() }
    let time = Duration.milliseconds(400)
    #expect(reason { try post(server, "/silent", time: time) }.contains("within"))
    // A head that has come by then counts.
    #expect(reason { try post(server, "/head", time: time) }.hasPrefix("HTTP/1.1 200"))
    #expect(reason { try post(server, "/gone") }.contains("answers nothing"))
    let nobody = AddressPost.Server(host: "127.0.0.1", port: 1, isSecure: false)
    #expect(
      reason { try AddressPost([], to: nobody, limit: 9, time: .seconds(9)).answer }
        .contains("Connection refused"))
    let option = AddressPost.Server(host: "127.0.0.1:1?listen=1&x=", port: 1, isSecure: false)
    #expect(
      reason { try AddressPost([], to: option, limit: 9, time: .seconds(9)).answer }
        .contains("no host"))
  }

  @Test func `a server is trusted by its certificate alone, and gets nothing before`() throws {
    let folder = try TemporaryFolder()
    let certificate = try TestCertificate(for: "IP:127.0.0.1", in: folder)
    let stranger = try TestCertificate(for: "IP:127.0.0.1", "stranger", in: folder)
    let other = try TestCertificate(for: "DNS:example.org", "other", in: folder)
    let server = try TestServer(certificate) { _, connection in connection.head("200 OK") }
    let named = try TestServer(other) { _, connection in connection.head("200 OK") }
    defer {
      server.stop()
      named.stop()
    }
    #expect(
      reason { try post(server, isSecure: true, authorities: certificate.authority) }
        .hasPrefix("HTTP/1.1 200"))
    #expect(
      reason { try post(server, isSecure: true, authorities: stranger.authority) }
        .contains("certificate"))
    #expect(
      reason { try post(named, isSecure: true, authorities: other.authority) }
        .contains("certificate"))
    #expect(server.requestCount(of: "x") == 1 && named.requestCount(of: "x") == 0)
  }

  @Test func `the hash is MD5`() throws {
    #expect(try AddressPost.hash(of: Array("abc".utf8)) == "900150983cd24fb0d6963f7d28e17f72")
  }
}
