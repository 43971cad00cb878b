import Foundation
import Glibc
import OpenSSLSecurity
import SecurityTestSupport
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// A TCP connection on the loopback, for tests that misbehave on it. It blocks, and closes with its owner. One thread
/// may send while another receives.
final class TestConnection: Sendable {
  private let socket: Int32
  /// Nil while the connection is unencrypted.
  private let channel = Mutex<TLSChannel?>(nil)
  /// Bytes that came in the same piece as the end of the handshake.
  private let early = Mutex<[UInt8]>([])

  init(_ socket: Int32) { self.socket = socket }

  /// Starts TLS like our programs, with `key` as identity. Returns false if the other side does not take part.
  func secure(_ role: SecureRole, _ key: IdentityKey) -> Bool {
    channel.withLock { channel in
      channel = shakeHands(role, key)
      return channel != nil
    }
  }

  /// The other side; nil while unencrypted.
  var peer: SecuredPeer? { channel.withLock { $0?.peer } }

  private func shakeHands(_ role: SecureRole, _ key: IdentityKey) -> sending TLSChannel? {
    guard let context = try? TLSContext(key) else { return nil }
    let channel = context.channel(role)
    while sendRaw(channel.takeOutput()), channel.peer == nil {
      guard case let bytes = receiveRaw(), !bytes.isEmpty,
        let plain = try? channel.receive(bytes)
      else { return nil }
      early.withLock { $0 += plain }
    }
    guard channel.peer != nil, sendRaw(channel.takeOutput()) else { return nil }
    return channel
  }

  /// Lets a foreign program shake hands, and send `words` once it thinks that it may. Returns everything that it
  /// receives, up to the end.
  func converse(_ foreigner: ForeignPeer, saying words: [UInt8]) -> [UInt8] {
    var heard: [UInt8] = []
    var hasSpoken = false
    sendRaw(foreigner.takeOutput())
    while case let bytes = receiveRaw(), !bytes.isEmpty {
      heard += (try? foreigner.receive(bytes)) ?? []
      if foreigner.isComplete, !hasSpoken {
        foreigner.send(words)
        hasSpoken = true
      }
      sendRaw(foreigner.takeOutput())
    }
    return heard
  }

  /// A sender that has connected to a receiver, and has sent nothing yet.
  static func sender(
    to port: UInt16, fromHost host: UInt32 = 1, _ key: IdentityKey
  ) -> TestConnection? {
    guard let connection = TestConnection(port: port, fromHost: host),
      connection.secure(.dialled, key)
    else { return nil }
    return connection
  }

  /// Nil if nobody listens, or if no descriptors are left.
  ///
  /// - Parameter host: the connection comes from 127.0.0.`host`, so that limits by host see another host.
  convenience init?(port: UInt16, fromHost host: UInt32 = 1) {
    let number = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in.loopback(port: port)
    var own = sockaddr_in.loopback(port: 0, host: host)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    if host != 1 {
      _ = withUnsafePointer(to: &own) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, size) }
      }
    }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) }
    }
    guard number >= 0, result == 0 else {
      close(number)
      return nil
    }
    self.init(number)
  }

  /// Nil if no program listens on this path.
  convenience init?(path: String) {
    let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) }
    }
    guard number >= 0, result == 0 else {
      close(number)
      return nil
    }
    self.init(number)
  }

  deinit { close(socket) }

  /// Returns false once the other side has gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    // Data must be sent in the order of its encryption.
    channel.withLock { channel in
      guard let channel else { return sendRaw(bytes) }
      channel.send(bytes)
      return sendRaw(channel.takeOutput())
    }
  }

  @discardableResult
  private func sendRaw(_ bytes: [UInt8]) -> Bool {
    Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// Returns the next bytes; empty at the end.
  func receive() -> [UInt8] {
    let early = early.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
    if !early.isEmpty { return early }
    while case let bytes = receiveRaw(), !bytes.isEmpty {
      let plain = channel.withLock { channel in
        guard let channel else { return bytes }
        return (try? channel.receive(bytes)) ?? []
      }
      if !plain.isEmpty { return plain }
    }
    return []
  }

  private func receiveRaw() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &buffer, buffer.count, 0)
    return Array(buffer.prefix(max(0, count)))
  }

  /// Ends both directions, and every wait in `receive`.
  func end() { shutdown(socket, Int32(SHUT_RDWR)) }
  /// Like `receive`, but waits at most this long; empty if nothing comes.
  func receive(within seconds: Int32) -> [UInt8] {
    if early.withLock({ !$0.isEmpty }) { return receive() }
    var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&event, 1, seconds * 1000) == 1 ? receive() : []
  }

  /// Receives everything up to the end.
  func receiveAll() -> [UInt8] {
    var all: [UInt8] = []
    while case let bytes = receive(), !bytes.isEmpty { all += bytes }
    return all
  }
}

/// Listens on the loopback, and passes each connection to `serve` on a thread of its own.
final class TestPeer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let count: Counter

  private final class Counter: Sendable {
    let value = Mutex(0)
  }

  init(_ serve: @escaping @Sendable (TestConnection) -> Void) throws {
    let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let count = Counter()
    var address = sockaddr_in.loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0
          ? getsockname(listener, address, &size) : -1
      }
    }
    try #require(result == 0)
    port = address.sin_port.bigEndian
    (self.listener, self.count) = (listener, count)
    Thread {
      while case let number = accept(listener, nil, nil), number >= 0 {
        count.value.withLock { $0 += 1 }
        let connection = TestConnection(number)
        Thread { serve(connection) }.start()
      }
    }.start()
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var address: String { "127.0.0.1:\(port)" }
  var connectionCount: Int { count.value.withLock { $0 } }
}

/// The specification's `hello`, from the sender with this key.
func greeting(of key: IdentityKey) throws -> [UInt8] {
  var hello = try Specification.example("control.hello")
  hello.replaceSubrange(14..<30, with: key.identifier.bytes)
  return hello
}

extension sockaddr_in {
  static func loopback(port: UInt16, host: UInt32 = 1) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0000 | host).bigEndian
    return address
  }
}

/// Sends datagrams to a UDP port of this host.
func sendDatagrams(_ datagrams: [[UInt8]], to port: UInt16) {
  let number = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
  defer { close(number) }
  var address = sockaddr_in.loopback(port: port)
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  for bytes in datagrams {
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(number, bytes, bytes.count, 0, $0, size)
      }
    }
  }
}

/// Returns the UDP ports that a process has open, from the kernel's tables.
func udpPorts(of process: Process) throws -> [UInt16] {
  let folder = "/proc/\(process.processIdentifier)/fd"
  let inodes = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
  }
  let table =
    try String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
    + String(contentsOfFile: "/proc/net/udp6", encoding: .utf8)
  let ports = table.split(separator: "\n").compactMap { line -> UInt16? in
    let words = line.split(separator: " ")
    guard words.count > 9, inodes.contains("socket:[\(words[9])]") else { return nil }
    return words[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
  }
  try #require(!ports.isEmpty)
  return ports
}
