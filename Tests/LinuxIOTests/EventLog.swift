import Clock
import Glibc
import Testing

@testable import LinuxIO

/// A reactor and its events, for tests that wait for an event and not for a time.
final class EventLog {
  struct TimedOut: Error, CustomStringConvertible {
    let description: String
  }

  let reactor: Reactor
  private(set) var events: [ReactorEvent] = []
  private var streams: [ConnectionID: [UInt8]] = [:]

  init() throws { reactor = try Reactor() }

  /// Returns the first value that `pick` finds in past and future events.
  func first<Value>(_ what: String, _ pick: (ReactorEvent) -> Value?) throws -> Value {
    let deadline = HostClock.now + .seconds(20)
    var seen = 0
    while true {
      while seen < events.count {
        if let value = pick(events[seen]) { return value }
        seen += 1
      }
      guard HostClock.now < deadline else {
        throw TimedOut(description: "no \(what) among \(events.suffix(20))")
      }
      try turn(until: deadline)
    }
  }

  /// Runs the loop until `isDone` returns true.
  func run(until what: String, _ isDone: () -> Bool) throws {
    let deadline = HostClock.now + .seconds(20)
    while !isDone() {
      guard HostClock.now < deadline else { throw TimedOut(description: "never: \(what)") }
      try turn(until: deadline)
    }
  }

  func turn(until deadline: LocalTime) throws {
    for event in try reactor.wait(until: deadline) {
      if case .received(let id, let bytes) = event {
        streams[id, default: []] += bytes
      } else {
        events.append(event)
      }
    }
  }

  func accepted(by listener: ListenerID) throws -> ConnectionID {
    try first("accepted") {
      if case .accepted(let id, by: listener, _) = $0 { id } else { nil }
    }
  }

  func closeReason(_ id: ConnectionID) throws -> CloseReason {
    try first("closed") { if case .closed(id, let reason) = $0 { reason } else { nil } }
  }

  /// Returns all bytes that have arrived on a connection.
  func received(_ id: ConnectionID) -> [UInt8] { streams[id] ?? [] }

  /// Returns the two ends of one connection, both in this reactor.
  func pair(_ address: SocketAddress, options: ConnectionOptions = .init()) throws -> (
    near: ConnectionID, far: ConnectionID
  ) {
    let listener = try reactor.listen(on: address, options: options)
    let local = try #require(reactor.localAddress(of: listener))
    let near = reactor.connect(to: local, options: options)
    _ = try first("connected") { if case .connected(near) = $0 { true } else { nil } }
    let far = try accepted(by: listener)
    reactor.close(listener)
    return (near, far)
  }
}

/// A directory of its own that is removed after the test.
final class TemporaryDirectory {
  let path: String

  init() throws {
    var template = Array("/tmp/tutti-test-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  deinit {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      unlink("\(path)/\(name)")
      rmdir("\(path)/\(name)")
    }
    closedir(directory)
    rmdir(path)
  }
}

/// The addresses for tests; IPv6 only if this machine has it.
let loopbacks: [SocketAddress] = {
  let v6 = SocketAddress.loopback6(port: 0)
  let hasIPv6 = (try? Reactor().listen(on: v6)) != nil
  return [SocketAddress.loopback(port: 0)] + (hasIPv6 ? [v6] : [])
}()

/// Bytes in which a shift or a gap shows.
func pattern(_ count: Int) -> [UInt8] {
  let block = (0..<min(count, 65_521)).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + block.count)
  while bytes.count < count { bytes += block }
  return [UInt8](bytes.prefix(count))
}
