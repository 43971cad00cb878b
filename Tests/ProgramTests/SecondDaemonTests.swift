import Foundation
import LinuxIO
import TestSupport
import Testing

/// A daemon that follows, of a household whose first daemon is not there.
@Suite struct SecondDaemonTests {
  private static let clientLimit = 32
  private static let requestLimit = 8 << 10

  private let folder: TemporaryFolder
  private let program: Program
  private let port: UInt16
  private var directory: String { folder.file("daemon") }

  init() throws {
    folder = try TemporaryFolder()
    let reactor = try Reactor()
    let listener = try reactor.listen(on: .loopback(port: 0))
    port = try #require(reactor.localAddress(of: listener)?.port)
    reactor.close(listener)
    // Nobody listens on the port of the first daemon.
    let record = "first no\nterm 1\nleads no\naddress 127.0.0.1:1\nname home\n"
    try folder.write(Array(record.utf8), to: "daemon/second")
    let none = try folder.write([], to: "empty.conf")
    program = try Program(
      "tutti",
      ["serve", "--config", none, "--port", "\(port)", "--state-dir", folder.file("daemon")])
    // It has asked the rooms: there are none.
    try program.line(with: "nor a room answers")
  }

  private func ask(_ request: String) throws -> String {
    let connection = try #require(TestConnection(port: port))
    connection.send(Array(request.utf8))
    return String(decoding: connection.receiveAll(), as: UTF8.self)
  }

  @Test func `a follower that knows no leader's page says so, and takes no commands`() throws {
    for request in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n", "\r\n\r\n"] {
      let answer = try ask(request)
      #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer)")
      #expect(answer.hasSuffix("does not answer yet.\n") && !answer.contains("Location"))
    }
    let command = try Program("tutti", ["pause", "--state-dir", directory])
    #expect(try command.exitCode() != 0)
    #expect(!command.lines(with: "nor a room answers").isEmpty, "\(command.lines)")
    #expect(try program.stop() == 0)
  }

  @Test func `a request without end is answered at the limit of a sign`() throws {
    let connection = try #require(TestConnection(port: port))
    connection.send([UInt8](repeating: 0x61, count: Self.requestLimit))
    // Not yet: the limit itself is allowed.
    #expect(connection.receive(within: 0) == [])
    connection.send([0x61])
    let answer = String(decoding: connection.receiveAll(), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
    #expect(try program.stop() == 0)
  }

  @Test func `no more browsers wait at a sign than the limit`() throws {
    let oldest = try #require(TestConnection(port: port))
    let others = try (1...Self.clientLimit).map { _ in try #require(TestConnection(port: port)) }
    // The one too many has taken its place.
    #expect(oldest.receive() == [])
    for connection in others {
      connection.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
      #expect(!connection.receiveAll().isEmpty)
    }
    #expect(try program.stop() == 0)
  }
}
