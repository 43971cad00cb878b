import Foundation
import OpenSSLSecurity
import Synchronization
import Testing
import WireProtocol

/// Stands between a player and a receiver, passes on what they say, and lets a test change what the sender says or
/// say more in its name. The clock's datagrams go past it.
final class Interceptor: Sendable {
  /// What becomes of a message, framing included, of this type.
  typealias Rewrite = @Sendable (_ type: UInt16, _ message: [UInt8]) -> [UInt8]

  static let packet: UInt16 = 0x0303

  /// To the receiver, by kind.
  private final class Connections: Sendable {
    let control = Mutex<TestConnection?>(nil)
    let media = Mutex<TestConnection?>(nil)
    /// The receiver's, and nil while nothing gets through.
    let port: Mutex<UInt16?>

    init(to port: UInt16) { self.port = Mutex(port) }
  }

  private let peer: TestPeer
  private let connections: Connections

  init(to port: UInt16, rewriting rewrite: @escaping Rewrite = { $1 }) throws {
    let connections = Connections(to: port)
    self.connections = connections
    let key = try IdentityKey.generate()
    peer = try TestPeer { sender in
      guard let port = connections.port.withLock({ $0 }), sender.secure(.accepted, key),
        let receiver = TestConnection.sender(to: port, key)
      else { return sender.end() }
      Thread {
        while case let bytes = receiver.receive(), !bytes.isEmpty { sender.send(bytes) }
        sender.end()
      }.start()
      Self.pass(from: sender, to: receiver, of: connections, rewrite)
      receiver.end()
    }
  }

  var address: String { peer.address }

  /// Says `bytes`, whole messages, to the receiver as the sender does on its control connection. False where there is
  /// none, or the receiver has closed it.
  func sayOnControl(_ bytes: [UInt8]) -> Bool {
    connections.control.withLock { $0?.send(bytes) ?? false }
  }

  /// From now on the receiver is at this port, and nowhere where it is nil; what was connected is not any more.
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
        if isControl == nil { isControl = type == 0x0001 }
        whole += rewrite(type, Array(waiting[..<length]))
        waiting.removeFirst(length)
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
}
