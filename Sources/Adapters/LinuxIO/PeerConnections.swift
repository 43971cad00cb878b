package import Clock

/// Connections to peers of the protocol: made or accepted, bounded in number, drained and closed. Its user names them;
/// a name is never used twice. For the thread of its `Reactor`.
///
/// Every byte between a peer and its session passes through here, out through `send` and in through `event`. A secure
/// channel belongs at these two places: `Peer` owns its state, and `connected` waits for its handshake.
package final class PeerConnections<Name: Hashable & Sendable> {
  package enum Event {
    case connected(Name)
    case failed(Name, reason: String)
    case received(Name, [UInt8])
    case closed(Name, reason: String)
  }

  private struct Peer {
    let name: Name
    let address: SocketAddress?
    var isConnected: Bool
  }

  private let reactor: Reactor
  private let limit: Int
  private var peers: [ConnectionID: Peer] = [:]
  private var connections: [Name: ConnectionID] = [:]
  /// Closed here, and still to be sent something. Those that the reactor has given up are removed late.
  private var closing: [ConnectionID] = []

  /// At most `limit` connections at a time, not counting those that are closing.
  package init(reactor: Reactor, limit: Int) {
    self.reactor = reactor
    self.limit = limit
  }

  /// Begins to connect; `connected` or `failed` follows. False where there are too many connections.
  package func connect(
    to address: SocketAddress, as name: Name, options: ConnectionOptions = .init()
  ) -> Bool {
    guard peers.count < limit else { return false }
    insert(
      Peer(name: name, address: address, isConnected: false),
      reactor.connect(to: address, options: options))
    return true
  }

  /// Names a connection that the reactor accepted. False where there are too many: then it is closed.
  package func accept(
    _ connection: ConnectionID, from address: SocketAddress?, as name: Name
  ) -> Bool {
    guard peers.count < limit else {
      reactor.close(connection)
      return false
    }
    insert(Peer(name: name, address: address, isConnected: true), connection)
    return true
  }

  private func insert(_ peer: Peer, _ connection: ConnectionID) {
    peers[connection] = peer
    connections[peer.name] = connection
  }

  /// Queues bytes. A peer that takes nothing is closed when `ConnectionOptions.outputLimit` is reached.
  package func send(_ bytes: [UInt8], to name: Name) {
    if let connection = connections[name] { reactor.send(bytes, on: connection) }
  }

  /// Lets what was sent leave first; an attempt to connect ends at once. Nothing more is reported of it.
  package func close(_ name: Name) {
    guard let connection = connections.removeValue(forKey: name),
      let peer = peers.removeValue(forKey: connection)
    else { return }
    guard peer.isConnected else { return reactor.close(connection) }
    closing.removeAll { reactor.queuedBytes(on: $0) == 0 }
    closing.append(connection)
    reactor.finish(connection)
  }

  /// What an event of the reactor means for a peer; nil where it concerns none.
  package func event(_ event: ReactorEvent) -> Event? {
    switch event {
    case .connected(let id):
      peers[id]?.isConnected = true
      return peers[id].map { .connected($0.name) }
    case .connectFailed(let id, let error):
      return remove(id).map { .failed($0.name, reason: error.text) }
    case .received(let id, let bytes): return peers[id].map { .received($0.name, bytes) }
    case .closed(let id, let reason):
      return remove(id).map { .closed($0.name, reason: "\(reason)") }
    case .accepted, .acceptFailed, .drained, .datagram, .transmitted, .woken, .signal, .readable:
      return nil
    }
  }

  private func remove(_ id: ConnectionID) -> Peer? {
    guard let peer = peers.removeValue(forKey: id) else { return nil }
    connections[peer.name] = nil
    return peer
  }

  /// Where the peer is; nil for one on this host's file system.
  package func address(of name: Name) -> SocketAddress? {
    connections[name].flatMap { peers[$0]?.address }
  }

  // MARK: - Output

  /// Whether connections that were closed still have something to send.
  package var isSending: Bool { closing.contains { reactor.queuedBytes(on: $0) > 0 } }

  /// Gives what was sent last so much time to leave.
  package func drain(for span: Nanoseconds) throws(IOError) {
    let end = HostClock.now + span
    while HostClock.now < end, isSending { _ = try reactor.wait(until: end) }
  }

  /// Bytes that the kernel has not taken.
  package func queuedBytes(to name: Name) -> Int {
    connections[name].map { reactor.queuedBytes(on: $0) } ?? 0
  }

  package func path(to name: Name) -> Reactor.Path? {
    connections[name].flatMap { reactor.path(of: $0) }
  }

  /// See `Reactor.pace`.
  package func pace(_ name: Name, bytesPerSecond: UInt32) {
    if let connection = connections[name] {
      reactor.pace(connection, bytesPerSecond: bytesPerSecond)
    }
  }

  /// See `Reactor.setTurn`.
  package func setTurn(_ name: Name, bytes: Int?) {
    if let connection = connections[name] { reactor.setTurn(connection, bytes: bytes) }
  }
}
