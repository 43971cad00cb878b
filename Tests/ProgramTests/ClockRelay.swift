import Foundation
import Glibc
import Synchronization
import TestSupport
import WireProtocol

/// Relays a room's time requests to a player, and the answers back. Tags them again with the key that the reader
/// knows.
final class ClockRelay: Sendable {
  /// Manipulations of each datagram behind the tagging end, by somebody without a key.
  enum Meddling: CaseIterable, Sendable {
    /// The datagram comes once more, and again a while later.
    case replay
    /// The datagram comes after the next one.
    case reorder
    /// Only the first half comes, before the whole datagram.
    case truncate
    /// Copies come first, each with one byte changed, then the datagram itself.
    case flip
  }

  /// The port at which the room finds the relay.
  let port: UInt16
  private let meddling: Meddling?
  private let meddled = Mutex(0)
  private let socket: Int32
  private let isOver = Mutex(false)

  /// - Parameter player: the port of the player's clock.
  init(
    to player: UInt16, tagging sender: SecuredPeer, and receiver: SecuredPeer,
    meddling: Meddling? = nil
  ) {
    self.meddling = meddling
    let number = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var own = sockaddr_in.loopback(port: 0)
    own.withSocketAddress { bind(number, $0, $1) }
    var timeout = timeval(tv_sec: 0, tv_usec: 100_000)
    setsockopt(
      number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    own.withSocketAddress { address, _ in getsockname(number, address, &size) }
    socket = number
    port = own.sin_port.bigEndian
    let keys = (sender: ClockKey(sender.clockKey), receiver: ClockKey(receiver.clockKey))
    Thread { [self] in
      var room = sockaddr_in()
      // Datagrams for the player, and for the room.
      var earlier: (there: [[UInt8]], back: [[UInt8]]) = ([], [])
      while !isOver.withLock({ $0 }) {
        guard let (bytes, from) = receive() else { continue }
        let isAnswer = from.sin_port.bigEndian == player
        if !isAnswer { room = from }
        let tagged = tagged(bytes, isAnswer ? keys.receiver : keys.sender)
        let datagrams =
          isAnswer ? meddle(with: tagged, &earlier.back) : meddle(with: tagged, &earlier.there)
        for datagram in datagrams { send(datagram, isAnswer ? room : .loopback(port: player)) }
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

  private func tagged(_ bytes: [UInt8], _ key: ClockKey) -> [UInt8] {
    let covered = bytes.dropLast(8)
    return Array(covered + TimePacket.tag(of: covered, key: key))
  }

  /// Number of datagrams that were manipulated.
  var meddledCount: Int { meddled.withLock { $0 } }

  /// - Parameter earlier: earlier datagrams in the same direction, as far as they are needed.
  private func meddle(with bytes: [UInt8], _ earlier: inout [[UInt8]]) -> [[UInt8]] {
    guard let meddling else { return [bytes] }
    meddled.withLock { $0 += 1 }
    switch meddling {
    case .replay:
      earlier.append(bytes)
      return [bytes, bytes] + (earlier.count > 20 ? [earlier.removeFirst()] : [])
    case .reorder:
      // Only every fourth one, so that the room still gets current ones.
      earlier.append(bytes)
      guard earlier.count % 4 != 1 else { return [] }
      defer { earlier = earlier.count == 4 ? [] : earlier }
      return earlier.count == 2 ? [bytes, earlier[0]] : [bytes]
    case .truncate: return [Array(bytes.prefix(bytes.count / 2)), bytes]
    case .flip:
      let changed = bytes.indices.map { place in
        var copy = bytes
        copy[place] ^= 0x10
        return copy
      }
      return changed + [bytes]
    }
  }

  private func send(_ bytes: [UInt8], _ address: sockaddr_in) {
    var address = address
    _ = address.withSocketAddress { sendto(socket, bytes, bytes.count, 0, $0, $1) }
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
