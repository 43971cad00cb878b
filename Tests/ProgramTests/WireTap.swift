import Foundation
import Synchronization
import TestSupport

/// Stands between a player and a receiver without a key. It passes on the bytes of each connection record by record,
/// keeps them, and lets a test change them.
final class WireTap: Sendable {
  enum Direction: Hashable, Sendable { case toReceiver, toSender }

  /// One TLS record, including its header.
  struct Record: Sendable {
    /// The first connection is 0. A player opens control first, then media.
    var connection: Int
    var direction: Direction
    /// Number within its connection and direction; the first is 0.
    var number: Int
    /// Time since the connection began.
    var age: Duration
    var bytes: [UInt8]
  }

  /// Returns the replacements for a record; nil ends the connection.
  typealias Meddling = @Sendable (Record) -> [[UInt8]]?

  private final class Tape: Sendable {
    private struct State {
      var connectionCount = 0
      var records: [Record] = []
    }

    private let state = Mutex(State())

    func newConnection() -> Int {
      state.withLock { state in
        defer { state.connectionCount += 1 }
        return state.connectionCount
      }
    }

    func keep(_ record: Record) { state.withLock { $0.records.append(record) } }
    var records: [Record] { state.withLock(\.records) }
    var connectionCount: Int { state.withLock(\.connectionCount) }
  }

  private let peer: TestPeer
  private let tape: Tape

  init(to port: UInt16, meddling: @escaping Meddling = { [$0.bytes] }) throws {
    let tape = Tape()
    self.tape = tape
    peer = try TestPeer { sender in
      let number = tape.newConnection()
      guard let receiver = TestConnection(port: port) else { return sender.end() }
      Thread {
        Self.pass(from: receiver, to: sender, number, .toSender, tape, meddling)
      }.start()
      Self.pass(from: sender, to: receiver, number, .toReceiver, tape, meddling)
    }
  }

  var address: String { peer.address }
  /// The records as the two programs sent them.
  var records: [Record] { tape.records }
  var connectionCount: Int { tape.connectionCount }

  private static func pass(
    from source: TestConnection, to target: TestConnection, _ connection: Int,
    _ direction: Direction, _ tape: Tape, _ meddling: Meddling
  ) {
    defer { for end in [source, target] { end.end() } }
    var (waiting, number): ([UInt8], Int) = ([], 0)
    let start = ContinuousClock.now
    while case let bytes = source.receive(), !bytes.isEmpty {
      waiting += bytes
      while waiting.count >= 5, waiting.count >= 5 + Int(waiting[3]) << 8 + Int(waiting[4]) {
        let length = 5 + Int(waiting[3]) << 8 + Int(waiting[4])
        let record = Record(
          connection: connection, direction: direction, number: number,
          age: ContinuousClock.now - start, bytes: Array(waiting[..<length]))
        waiting.removeFirst(length)
        number += 1
        tape.keep(record)
        guard let passed = meddling(record) else { return }
        for bytes in passed where !bytes.isEmpty { target.send(bytes) }
      }
    }
    // Bytes that are no record are passed on and kept as well.
    guard !waiting.isEmpty else { return }
    tape.keep(
      Record(
        connection: connection, direction: direction, number: number,
        age: ContinuousClock.now - start, bytes: waiting))
    target.send(waiting)
  }
}

extension WireTap.Record {
  static let handshake: UInt8 = 22
  static let applicationData: UInt8 = 23

  /// The type in the unencrypted header.
  var type: UInt8 { bytes[0] }

  /// The extensions of an unencrypted hello, by number; nil for other records. RFC 8446, sections 4.1.2 and 4.1.3.
  var helloExtensions: [UInt16: [UInt8]]? {
    guard type == Self.handshake, bytes.count > 5, bytes[5] == 1 || bytes[5] == 2 else {
      return nil
    }
    let isOffer = bytes[5] == 1
    // Skip the headers of record and handshake, version and random number.
    var rest = bytes.dropFirst(5 + 4 + 2 + 32)
    func take(_ count: Int) -> [UInt8] {
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    func number(_ size: Int) -> Int { take(size).reduce(0) { $0 << 8 | Int($1) } }
    _ = take(number(1))
    _ = isOffer ? take(number(2)) : take(2)
    _ = isOffer ? take(number(1)) : take(1)
    _ = number(2)
    var extensions: [UInt16: [UInt8]] = [:]
    while rest.count >= 4 {
      let kind = UInt16(number(2))
      extensions[kind] = take(number(2))
    }
    return extensions
  }
}
