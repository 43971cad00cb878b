internal import Synchronization

/// Hands a browser's events to another thread. It keeps only the latest change of each service, so there are never
/// more entries than services, and no service is lost however long nobody takes them.
package final class ServiceNews: Sendable {
  private struct Key: Hashable {
    var name: String
    var hostName: String
    var identifier: String?
  }

  private struct State {
    /// In order of their first change.
    var order: [Key] = []
    var changes: [Key: ServiceBrowser.Event] = [:]
    /// Services that were taken as found and not yet as lost.
    var known: Set<Key> = []
    /// The latest event of each other kind.
    var others: [ServiceBrowser.Event] = []
  }

  private let identifierKey: String
  private let state = Mutex(State())
  private let wake: @Sendable () -> Void

  /// - Parameters:
  ///   - identifierKey: the same as the browser's.
  ///   - wake: called after each event, on the thread that posts it.
  package init(identifierKey: String, wake: @escaping @Sendable () -> Void) {
    self.identifierKey = identifierKey
    self.wake = wake
  }

  package func post(_ event: ServiceBrowser.Event) {
    state.withLock { state in
      switch event {
      case .found(let service), .updated(let service):
        let key = key(of: service)
        if state.changes[key] == nil { state.order.append(key) }
        state.changes[key] = state.known.contains(key) ? .updated(service) : .found(service)
      case .lost(let service):
        let key = key(of: service)
        if state.changes.removeValue(forKey: key) != nil { state.order.removeAll { $0 == key } }
        guard state.known.contains(key) else { return }
        state.order.append(key)
        state.changes[key] = event
      case .daemonAppeared, .daemonVanished, .settled, .failed:
        state.others.removeAll { $0.kind == event.kind }
        state.others.append(event)
      }
    }
    wake()
  }

  /// Returns the changes since the last call, services first.
  package func take() -> [ServiceBrowser.Event] {
    state.withLock { state in
      let changes = state.order.compactMap { key -> ServiceBrowser.Event? in
        let change = state.changes[key]
        if case .lost? = change { state.known.remove(key) } else { state.known.insert(key) }
        return change
      }
      defer {
        state.order.removeAll()
        state.changes.removeAll()
        state.others.removeAll()
      }
      return changes + state.others
    }
  }

  private func key(of service: DiscoveredService) -> Key {
    Key(name: service.name, hostName: service.hostName, identifier: service[identifierKey])
  }
}

extension ServiceBrowser.Event {
  fileprivate enum Kind { case service, daemon, settled, failed }

  /// Daemon events replace each other; only the latest counts.
  fileprivate var kind: Kind {
    switch self {
    case .found, .updated, .lost: .service
    case .daemonAppeared, .daemonVanished: .daemon
    case .settled: .settled
    case .failed: .failed
    }
  }
}
