import LinuxIO
import Receiver

/// Connections, between the session's numbers for them and the reactor's.
struct ConnectionTable {
  private struct Row {
    let id: Receiver.ConnectionID
    let connection: LinuxIO.ConnectionID
    let host: SocketAddress?
  }

  /// A receiver has few connections: two of its sender, and the lobby's.
  private var rows: [Row] = []
  private var last = 0

  mutating func insert(
    _ connection: LinuxIO.ConnectionID, from host: SocketAddress?
  ) -> Receiver.ConnectionID {
    last += 1
    let id = Receiver.ConnectionID(last)
    rows.append(Row(id: id, connection: connection, host: host))
    return id
  }

  subscript(id: Receiver.ConnectionID) -> LinuxIO.ConnectionID? {
    rows.first { $0.id == id }?.connection
  }

  func id(of connection: LinuxIO.ConnectionID) -> Receiver.ConnectionID? {
    rows.first { $0.connection == connection }?.id
  }

  func host(of id: Receiver.ConnectionID) -> SocketAddress? { rows.first { $0.id == id }?.host }

  mutating func remove(_ id: Receiver.ConnectionID) -> LinuxIO.ConnectionID? {
    defer { rows.removeAll { $0.id == id } }
    return self[id]
  }

  mutating func forget(_ connection: LinuxIO.ConnectionID) -> Receiver.ConnectionID? {
    defer { rows.removeAll { $0.connection == connection } }
    return id(of: connection)
  }
}
