import Clock
import WireProtocol

/// Media connections of sessions that ended with a goodbye. The senders close them: if the end of media overtook the
/// goodbye on control, it would look like a broken network, and the sender would ask for the room again.
struct PartingMedia {
  /// Timeout after which the receiver closes the connection, because its sender does not listen.
  static let grace = ProtocolLimits.parting
  /// Limit: the number of senders that could take the room from each other in that time. Beyond it, the oldest is
  /// closed.
  static let limit = 4

  /// In the order of their deadlines.
  private var connections: [(id: ConnectionID, leavesAt: LocalTime)] = []

  var nextDeadline: LocalTime? { connections.first?.leavesAt }

  /// Adds a connection. Returns the one to close for it, if there are too many.
  mutating func add(_ id: ConnectionID, at now: LocalTime) -> ConnectionID? {
    connections.append((id, now + Self.grace))
    return connections.count > Self.limit ? connections.removeFirst().id : nil
  }

  mutating func remove(_ id: ConnectionID) { connections.removeAll { $0.id == id } }

  mutating func overdue(at now: LocalTime) -> [ConnectionID] {
    let late = connections.filter { $0.leavesAt <= now }.map(\.id)
    connections.removeAll { $0.leavesAt <= now }
    return late
  }
}
