internal import Synchronization

/// What a server has done and does, counted from any thread.
package final class WebFigures: Sendable {
  package struct Request: Hashable, Sendable {
    package let route: String
    package let code: Int
  }

  private struct Counts {
    var requests: [Request: Int] = [:]
    var connections: [String: Int] = [:]
    var connectionCount = 0
    var eventStreamCount = 0
    var refusedCount = 0
  }

  private let counts = Mutex(Counts())

  package init() {}

  package var requests: [Request: Int] { counts.withLock { $0.requests } }
  package var connectionCount: Int { counts.withLock { $0.connectionCount } }
  package var eventStreamCount: Int { counts.withLock { $0.eventStreamCount } }
  /// Connections beyond the limits.
  package var refusedCount: Int { counts.withLock { $0.refusedCount } }

  func count(_ route: String, _ code: Int) {
    counts.withLock { $0.requests[Request(route: route, code: code), default: 0] += 1 }
  }

  /// Whether one more connection may come from an address.
  func open(from address: String) -> Bool {
    counts.withLock {
      guard $0.connectionCount < WebServerConfiguration.Limits.connections,
        $0.connections[address, default: 0]
          < WebServerConfiguration.Limits.connectionsOfOneAddress
      else {
        $0.refusedCount += 1
        return false
      }
      $0.connectionCount += 1
      $0.connections[address, default: 0] += 1
      return true
    }
  }

  func close(from address: String) {
    counts.withLock {
      $0.connectionCount -= 1
      let left = $0.connections[address, default: 1] - 1
      $0.connections[address] = left > 0 ? left : nil
    }
  }

  func openEventStream() -> Bool {
    counts.withLock {
      guard $0.eventStreamCount < WebServerConfiguration.Limits.eventStreams else { return false }
      $0.eventStreamCount += 1
      return true
    }
  }

  func closeEventStream() { counts.withLock { $0.eventStreamCount -= 1 } }
}
