import Clock
import WireProtocol

/// Media connections of sessions that ended with a goodbye. Their senders close them: an end of media that overtakes the
/// goodbye on control would look like a network that broke, and such a room is asked for again.
struct PartingMedia {
  /// A sender that has not closed by then does not listen.
  static let patience = ProtocolLimits.parting
  /// As many senders as could hurry each other out of the room in that time. The oldest goes when there are more.
  static let limit = 4

  /// In the order in which they leave.
  private var connections: [(id: ConnectionID, leavesAt: LocalTime)] = []

  var nextDeadline: LocalTime? { connections.first?.leavesAt }

  /// Returns the one that has to leave for it.
  mutating func add(_ id: ConnectionID, at now: LocalTime) -> ConnectionID? {
    connections.append((id, now + Self.patience))
    return connections.count > Self.limit ? connections.removeFirst().id : nil
  }

  mutating func remove(_ id: ConnectionID) { connections.removeAll { $0.id == id } }

  mutating func overdue(at now: LocalTime) -> [ConnectionID] {
    let late = connections.filter { $0.leavesAt <= now }.map(\.id)
    connections.removeAll { $0.leavesAt <= now }
    return late
  }
}
