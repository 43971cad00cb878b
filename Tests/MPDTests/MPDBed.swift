import Foundation
import House
import MPD
import Service
import Synchronization
import TestSupport
import WebServer
import WebTestSupport

/// A client's connection, which sends lines and reads answers.
actor MPDConnection {
  private let connection: WebConnectionClient
  private var bytes: [UInt8] = []

  init(port: Int, from host: UInt32, saying first: String = "") throws {
    connection = try WebConnectionClient(port: port, fromHost: host, saying: first)
  }

  /// Returns the lines up to the one that ends an answer, which is the last. Empty once the server has closed.
  func answer() async -> [String] {
    var lines: [String] = []
    while let line = await line() {
      lines.append(line)
      if line == "OK" || line.hasPrefix("OK MPD") || line.hasPrefix("ACK") { return lines }
    }
    return []
  }

  func ask(_ lines: String...) async -> [String] {
    await connection.send(lines.map { $0 + "\n" }.joined())
    return await answer()
  }

  @discardableResult
  func send(_ text: String) async -> Bool { await connection.send(text) }

  func line() async -> String? {
    while true {
      if let end = bytes.firstIndex(of: 0x0a) {
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        bytes.removeFirst(end + 1)
        return line
      }
      let more = await connection.receive()
      if more.isEmpty { return nil }
      bytes += more
    }
  }

  /// Returns true once the server has ended the connection.
  func end() async -> Bool { await connection.end() }
}

extension LineServerLimits {
  /// Tests that run beside this one may hold up a client for minutes, and it is not cut off for that.
  static let patient: LineServerLimits = {
    var limits = LineServerLimits()
    (limits.silence, limits.reader) = (.seconds(3_600), .seconds(3_600))
    return limits
  }()
}

/// Answers clients of MPD for a household that lives in the test, with a group `g1` of one room.
func withMPD<T: Sendable>(
  access: HouseAccess? = nil, limits: LineServerLimits = .patient,
  numbers: String? = nil, _ body: @Sendable (MPDHost) async throws -> T
) async throws -> T {
  let folder = try TemporaryFolder()
  try Data(repeating: 7, count: 20_000).write(to: URL(filePath: folder.file("picture.jpg")))
  let house = FakeHouse()
  _ = try await house.perform(
    .createGroup(rooms: [String(repeating: "1", count: 32)], name: nil))
  let host = MPDHost(house)
  let (ports, port) = AsyncStream.makeStream(of: Int?.self)
  let service = MPDService(
    port: 0, addresses: ["127.0.0.1"], limits: limits, house: house,
    library: FakeLibrary(folder: folder.path), access: try access ?? FakeAccess.make(),
    numbers: numbers,
    means: .init(
      now: { 1_700_000_000 }, keep: { text in host.kept.withLock { $0 = text } },
      announce: { ports in host.published.withLock { $0 = ports } },
      report: { line in host.lines.withLock { $0.append(line) } }),
    began: { port.yield($0) })
  for await number in ports {
    host.port.withLock { $0 = number ?? 0 }
    break
  }
  let result = try await body(host)
  withExtendedLifetime((service, folder)) {}
  return result
}

final class MPDHost: Sendable {
  struct NoGreeting: Error {}

  let house: FakeHouse
  let port = Mutex(0)
  let kept = Mutex("")
  let published = Mutex([PublishedPort]())
  let lines = Mutex([String]())

  init(_ house: FakeHouse) { self.house = house }

  /// A connection that has been greeted.
  ///
  /// - Parameter first: said without waiting for the greeting.
  func connect(from host: UInt32 = 1, saying first: String = "") async throws -> MPDConnection {
    let connection = try MPDConnection(port: port.withLock { $0 }, from: host, saying: first)
    guard await connection.answer() == ["OK MPD 0.23.5"] else {
      throw NoGreeting()
    }
    return connection
  }

  /// The orders that clients have given.
  func orders() async -> [Order] { Array(await house.requests.dropFirst()) }
}
