import Foundation
import OpenSSLSecurity
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Stands between a player and a receiver, with the keys of both. Passes their messages on, and lets a test change the
/// sender's messages or send more in its name.
final class Interceptor: Sendable {
  /// Returns the replacement for a message of this type, framing included.
  typealias Rewrite = @Sendable (_ type: UInt16, _ message: [UInt8]) -> [UInt8]

  static let packet: UInt16 = 0x0303
  private static let hello: UInt16 = 0x0001
  private static let prove: UInt16 = 0x0008
  private static let attach: UInt16 = 0x0301

  /// The keys of the two programs, read from their files: each takes the interceptor for the other.
  private struct Keys {
    let player: IdentityKey
    let receiver: IdentityKey

    init(_ folder: TemporaryFolder, player: String, receiver: String) throws {
      func key(_ path: String) throws -> IdentityKey {
        try IdentityKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: folder.file(path)))))
      }
      self.player = try key("\(player)/sender-key.pem")
      self.receiver = try key("\(receiver)/receiver-key.pem")
    }
  }

  /// Connections to the receiver, by kind.
  private final class Connections: Sendable {
    let control = Mutex<TestConnection?>(nil)
    let media = Mutex<TestConnection?>(nil)
    let clock = Mutex<ClockRelay?>(nil)
    let clockMeddling: ClockRelay.Meddling?
    /// The receiver's port; nil while nothing gets through.
    let port: Mutex<UInt16?>

    init(to port: UInt16, _ clockMeddling: ClockRelay.Meddling?) {
      self.port = Mutex(port)
      self.clockMeddling = clockMeddling
    }
  }

  private let peer: TestPeer
  private let connections: Connections

  /// - Parameters:
  ///   - room: The receiver's name.
  ///   - player: The player's state directory in `folder`, which need not exist before the player connects.
  ///   - clock: Manipulation of the clock's datagrams.
  ///   - hear: Called with the receiver's bytes on the control connection.
  init(
    to port: UInt16, of room: String, in folder: TemporaryFolder, player: String = "player",
    clock: ClockRelay.Meddling? = nil,
    rewriting rewrite: @escaping Rewrite = { $1 },
    hearing hear: @escaping @Sendable (_ bytes: [UInt8]) -> Void = { _ in }
  ) throws {
    let connections = Connections(to: port, clock)
    self.connections = connections
    peer = try TestPeer { sender in
      guard let port = connections.port.withLock({ $0 }),
        let keys = try? Keys(folder, player: player, receiver: "state-\(room)"),
        sender.secure(.accepted, keys.receiver),
        let receiver = TestConnection.sender(to: port, keys.player)
      else { return sender.end() }
      Thread {
        while case let bytes = receiver.receive(), !bytes.isEmpty {
          hear(bytes)
          sender.send(bytes)
        }
        sender.end()
      }.start()
      Self.pass(from: sender, to: receiver, of: connections, rewrite)
      receiver.end()
    }
  }

  deinit { connections.clock.withLock { $0?.end() } }

  var address: String { peer.address }
  /// Number of manipulated datagrams of the clock.
  var meddledDatagrams: Int { connections.clock.withLock { $0?.meddledCount ?? 0 } }

  /// Sends complete messages to the receiver, like the sender on its control connection. Returns false if there is no
  /// such connection, or if the receiver has closed it.
  func sayOnControl(_ bytes: [UInt8]) -> Bool {
    connections.control.withLock { $0?.send(bytes) ?? false }
  }

  /// Moves the receiver to this port, or cuts it off if nil. Existing connections end.
  func move(to port: UInt16?) {
    connections.port.withLock { $0 = port }
    connections.control.withLock { $0?.end() }
    connections.media.withLock { $0?.end() }
  }

  private static func pass(
    from sender: TestConnection, to receiver: TestConnection, of connections: Connections,
    _ rewrite: Rewrite
  ) {
    var waiting: [UInt8] = []
    var isControl: Bool?
    while case let bytes = sender.receive(), !bytes.isEmpty {
      waiting += bytes
      var whole: [UInt8] = []
      while waiting.count >= 6 {
        let length = 4 + waiting[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard waiting.count >= length else { break }
        let type = UInt16(waiting[4]) << 8 | UInt16(waiting[5])
        if isControl == nil { isControl = type != Self.attach }
        var message = Array(waiting[..<length])
        waiting.removeFirst(length)
        // A proof is valid for one channel only.
        if type == Self.prove { continue }
        if type == Self.hello { relayClock(of: sender, receiver, in: connections, &message) }
        whole += rewrite(type, message)
      }
      guard !whole.isEmpty else { continue }
      if isControl == true {
        connections.control.withLock { connection in
          connection = receiver
          receiver.send(whole)
        }
      } else {
        connections.media.withLock { $0 = receiver }
        receiver.send(whole)
      }
    }
  }

  /// From now on the receiver asks the relay for the time.
  private static func relayClock(
    of sender: TestConnection, _ receiver: TestConnection, in connections: Connections,
    _ hello: inout [UInt8]
  ) {
    guard let one = sender.peer, let other = receiver.peer else { return }
    // The place after magic, version, flags, identifier, session and clock id.
    let place = 6 + 4 + 2 + 2 + Identifier.byteCount + 8 + 8
    let relay = ClockRelay(
      to: UInt16(hello[place]) << 8 | UInt16(hello[place + 1]), tagging: one, and: other,
      meddling: connections.clockMeddling)
    hello[place] = UInt8(relay.port >> 8)
    hello[place + 1] = UInt8(relay.port & 0xFF)
    connections.clock.withLock { clock in
      clock?.end()
      clock = relay
    }
  }
}
