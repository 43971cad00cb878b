import Foundation
import Glibc
import Synchronization
import TestSupport
import WireProtocol

/// Carries a room's time requests to a player and the answers back, tagged anew with the key that their reader knows.
final class ClockRelay: Sendable {
  /// Where the room finds it.
  let port: UInt16
  private let socket: Int32
  private let isOver = Mutex(false)

  /// - Parameter player: its clock's port.
  init(to player: UInt16, tagging sender: SecuredPeer, and receiver: SecuredPeer) {
    let number = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var own = sockaddr_in.loopback(port: 0)
    own.withSocketAddress { bind(number, $0, $1) }
    var patience = timeval(tv_sec: 0, tv_usec: 100_000)
    setsockopt(
      number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    own.withSocketAddress { address, _ in getsockname(number, address, &size) }
    socket = number
    port = own.sin_port.bigEndian
    let keys = (sender: ClockKey(sender.clockKey), receiver: ClockKey(receiver.clockKey))
    Thread { [self] in
      var room = sockaddr_in()
      while !isOver.withLock({ $0 }) {
        guard let (bytes, from) = receive() else { continue }
        let isAnswer = from.sin_port.bigEndian == player
        if !isAnswer { room = from }
        send(
          bytes, isAnswer ? room : .loopback(port: player),
          isAnswer ? keys.receiver : keys.sender)
      }
      close(socket)
    }.start()
  }

  func end() { isOver.withLock { $0 = true } }

  private func receive() -> ([UInt8], sockaddr_in)? {
    var (buffer, from) = ([UInt8](repeating: 0, count: 2048), sockaddr_in())
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let count = from.withSocketAddress { address, _ in
      recvfrom(socket, &buffer, buffer.count, 0, address, &size)
    }
    return count == TimePacket.byteCount ? (Array(buffer.prefix(count)), from) : nil
  }

  private func send(_ bytes: [UInt8], _ address: sockaddr_in, _ key: ClockKey) {
    let covered = bytes.dropLast(8)
    let tagged = covered + TimePacket.tag(of: covered, key: key)
    var address = address
    _ = address.withSocketAddress { sendto(socket, Array(tagged), tagged.count, 0, $0, $1) }
  }
}

extension sockaddr_in {
  @discardableResult
  fileprivate mutating func withSocketAddress<Result>(
    _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &self) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
