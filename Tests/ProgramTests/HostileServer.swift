import Dispatch
import Foundation
import TestSupport

/// A web server that answers each path with what a stranger has put there.
final class HostileServer: Sendable {
  /// The answer to a path.
  enum Answer: Sendable {
    case file([UInt8])
    /// The first bytes once, then the second ones again and again, until nobody reads them.
    case endless([UInt8], [UInt8])
    case redirect(String)
  }

  private let peer: TestPeer
  private let asked = DispatchSemaphore(value: 0)

  init(_ answer: @escaping @Sendable (_ path: String) -> Answer?) throws {
    peer = try TestPeer { [asked] connection in
      var head = ""
      while !head.contains("\r\n\r\n") {
        let bytes = connection.receive()
        guard !bytes.isEmpty else { return }
        head += String(decoding: bytes, as: UTF8.self)
      }
      let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
      asked.signal()
      Self.send(answer(path), to: connection)
    }
  }

  func url(_ path: String) -> String { "http://\(peer.address)/\(path)" }

  var requestCount: Int { peer.connectionCount }

  /// Returns once somebody has sent a request, which counts once.
  func waitUntilAsked() { asked.wait() }

  private static func send(_ answer: Answer?, to connection: TestConnection) {
    func head(_ lines: String...) {
      let text = "HTTP/1.1 " + (lines + ["Connection: close", "", ""]).joined(separator: "\r\n")
      connection.send(Array(text.utf8))
    }
    switch answer {
    case .file(let bytes):
      head("200 OK", "Content-Length: \(bytes.count)")
      connection.send(bytes)
    case .endless(let first, let rest):
      head("200 OK", "Content-Type: audio/mpeg")
      connection.send(first)
      while connection.send(rest) {}
    case .redirect(let place): head("302 Found", "Location: \(place)")
    case nil: head("404 Not Found")
    }
  }
}
