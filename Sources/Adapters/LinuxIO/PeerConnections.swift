package import Clock
package import WireProtocol

/// Makes, accepts, drains and closes encrypted connections to peers of the protocol, up to a limit. The user names
/// them, and never reuses a name. For the thread of its `Reactor`.
///
/// Every byte between a peer and its session passes through here and through the connection's secure channel, out
/// through `send` and in through `take`. Nothing is reported of a peer before its handshake is complete.
package final class PeerConnections<Name: Hashable & Sendable> {
  package enum Event {
    /// The handshake is complete, on a dialled or accepted connection.
    case connected(Name, SecuredPeer)
    /// A dialled connection failed before it was `connected`.
    case failed(Name, reason: String)
    case received(Name, [UInt8])
    case closed(Name, reason: String)
  }

  /// Largest number of bytes that a peer may send before its handshake is complete. Tutti's takes about 1 kB.
  static var handshakeLimit: Int { 64 << 10 }

  private struct Peer {
    let name: Name
    let address: SocketAddress?
    let role: SecureRole
    /// Nil until there are bytes to send or receive, so that a silent connection costs little.
    var channel: (any SecureChannel)?
    var handshakeBytes = 0

    var isSecured: Bool { channel?.peer != nil }

    func named(_ reason: String) -> String { address.map { "\($0): \(reason)" } ?? reason }
  }

  private let reactor: Reactor
  private let limit: Int
  private let secure: (SecureRole) -> any SecureChannel
  private var peers: [ConnectionID: Peer] = [:]
  private var connections: [Name: ConnectionID] = [:]
  /// Connections closed here that still have bytes to send. Those that the reactor has given up are removed late.
  private var closing: [ConnectionID] = []

  /// Allows `limit` connections at a time, not counting those that are closing. `secure` makes a channel for each.
  package init(
    reactor: Reactor, limit: Int, secure: @escaping (SecureRole) -> any SecureChannel
  ) {
    self.reactor = reactor
    self.limit = limit
    self.secure = secure
  }

  /// Starts to connect; `connected` or `failed` follows. Returns false if there are too many connections.
  package func connect(
    to address: SocketAddress, as name: Name, options: ConnectionOptions = .init()
  ) -> Bool {
    guard peers.count < limit else { return false }
    insert(
      Peer(name: name, address: address, role: .dialled),
      reactor.connect(to: address, options: options))
    return true
  }

  /// Names a connection that the reactor accepted; `connected` or `closed` follows. If there are too many, closes it
  /// and returns false.
  package func accept(
    _ connection: ConnectionID, from address: SocketAddress?, as name: Name
  ) -> Bool {
    guard peers.count < limit else {
      reactor.close(connection)
      return false
    }
    insert(Peer(name: name, address: address, role: .accepted), connection)
    return true
  }

  private func insert(_ peer: Peer, _ connection: ConnectionID) {
    peers[connection] = peer
    connections[peer.name] = connection
  }

  /// Queues bytes; drops them before the handshake is complete. A peer that takes nothing is closed when
  /// `ConnectionOptions.outputLimit` is reached.
  package func send(_ bytes: [UInt8], to name: Name) {
    guard let connection = connections[name], let channel = peers[connection]?.channel,
      channel.peer != nil
    else { return }
    channel.send(bytes)
    flush(channel, connection)
  }

  private func flush(_ channel: any SecureChannel, _ connection: ConnectionID) {
    let bytes = channel.takeOutput()
    if !bytes.isEmpty { reactor.send(bytes, on: connection) }
  }

  /// Closes a connection once its queued bytes have left; an attempt to connect, or a handshake, ends at once. No more
  /// events follow for it.
  package func close(_ name: Name) {
    guard let connection = connections[name], let peer = remove(connection) else { return }
    guard peer.isSecured else { return reactor.close(connection) }
    finish(connection, peer.channel)
  }

  private func finish(_ connection: ConnectionID, _ channel: (any SecureChannel)?) {
    if let channel {
      channel.finish()
      flush(channel, connection)
    }
    closing.removeAll { reactor.queuedBytes(on: $0) == 0 }
    closing.append(connection)
    reactor.finish(connection)
  }

  // MARK: - Events

  /// Translates an event of the reactor into none, one or two events of a peer. `tell` may call every method of this
  /// class.
  package func take(_ event: ReactorEvent, _ tell: (Event) -> Void) {
    switch event {
    case .connected(let id): if let channel = channel(of: id) { flush(channel, id) }
    case .received(let id, let bytes): received(bytes, on: id, tell)
    case .connectFailed(let id, let error):
      if let peer = remove(id) { tell(.failed(peer.name, reason: error.text)) }
    case .closed(let id, let reason):
      guard let peer = remove(id) else { return }
      tell(peer.isSecured ? .closed(peer.name, reason: "\(reason)") : ended(peer, reason))
    case .accepted, .acceptFailed, .drained, .datagram, .transmitted, .woken, .signal, .readable:
      return
    }
  }

  private func received(_ bytes: [UInt8], on id: ConnectionID, _ tell: (Event) -> Void) {
    guard let channel = channel(of: id) else { return }
    let wasSecured = channel.peer != nil
    do throws(SecureChannelError) {
      let plain = try channel.receive(bytes)
      if !wasSecured { try countHandshake(bytes.count, channel, id) }
      flush(channel, id)
      if !wasSecured, let secured = channel.peer, let name = peers[id]?.name {
        tell(.connected(name, secured))
      }
      // The receiver of the first event may have closed the peer.
      if !plain.isEmpty, let name = peers[id]?.name { tell(.received(name, plain)) }
    } catch {
      guard let peer = remove(id) else { return }
      finish(id, channel)
      tell(Self.event(peer, wasSecured: wasSecured, peer.named(error.reason)))
    }
  }

  private func channel(of id: ConnectionID) -> (any SecureChannel)? {
    guard let peer = peers[id] else { return nil }
    if let channel = peer.channel { return channel }
    let channel = secure(peer.role)
    peers[id]?.channel = channel
    return channel
  }

  private func countHandshake(
    _ count: Int, _ channel: any SecureChannel, _ id: ConnectionID
  ) throws(SecureChannelError) {
    peers[id]?.handshakeBytes += count
    guard channel.peer == nil, let sum = peers[id]?.handshakeBytes, sum > Self.handshakeLimit else {
      return
    }
    throw SecureChannelError(
      reason: "it sent \(sum) bytes without a complete handshake: another program, not Tutti")
  }

  private func ended(_ peer: Peer, _ reason: CloseReason) -> Event {
    let text =
      reason == .endOfStream
      ? peer.named(
        "it ended the handshake: it is too busy, an older version of Tutti, or another program")
      : "\(reason)"
    return Self.event(peer, wasSecured: false, text)
  }

  private static func event(_ peer: Peer, wasSecured: Bool, _ reason: String) -> Event {
    !wasSecured && peer.role == .dialled
      ? .failed(peer.name, reason: reason) : .closed(peer.name, reason: reason)
  }

  private func remove(_ id: ConnectionID) -> Peer? {
    guard let peer = peers.removeValue(forKey: id) else { return nil }
    connections[peer.name] = nil
    return peer
  }

  /// Returns the peer's address; nil for a peer on this host's file system.
  package func address(of name: Name) -> SocketAddress? {
    connections[name].flatMap { peers[$0]?.address }
  }

  // MARK: - Output

  /// True if closed connections still have bytes to send.
  package var isSending: Bool { closing.contains { reactor.queuedBytes(on: $0) > 0 } }

  /// Waits up to `span` for the last bytes to leave.
  package func drain(for span: Nanoseconds) throws(IOError) {
    let end = HostClock.now + span
    while HostClock.now < end, isSending { _ = try reactor.wait(until: end) }
  }

  /// Number of bytes that the kernel has not taken.
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
