internal import CSys
package import Clock
internal import Glibc

extension Reactor {
  /// Starts to connect; `connected` or `connectFailed` follows. Bytes sent before then are queued.
  package func connect(to address: SocketAddress, options: ConnectionOptions = .init())
    -> ConnectionID
  {
    open(peer: "\(address)", family: address.family, options: options) { descriptor in
      var target = address.system
      return csys_connect(descriptor, &target)
    }
  }

  /// Does the same for a listener's path on this host.
  package func connect(toPath path: String, options: ConnectionOptions = .init()) -> ConnectionID {
    open(peer: path, family: Int32(CSYS_UNIX), options: options) { descriptor in
      csys_connect_path(descriptor, path)
    }
  }

  /// Queues bytes. A connection that is gone, or finishing, drops them; one whose queue grows beyond its limit is
  /// closed with `outputOverflow`.
  package func send(_ bytes: [UInt8], on id: ConnectionID) {
    guard let connection = connection(id), connection.acceptsOutput else { return }
    guard connection.queue.count + bytes.count <= connection.options.outputLimit else {
      return close(id, .outputOverflow)
    }
    connection.queue.append(bytes)
    if connection.queue.count > connection.options.lowMark { connection.isAboveMark = true }
    flushLater(id, connection)
  }

  /// Number of bytes that `send` took and the kernel has not; zero for a connection that is gone.
  package func queuedBytes(on id: ConnectionID) -> Int { connection(id)?.queue.count ?? 0 }

  /// Returns the address of this host's end of the connection; `nil` for one on a path.
  package func localAddress(of id: ConnectionID) -> SocketAddress? {
    guard let connection = connection(id) else { return nil }
    var address = csys_address()
    guard csys_local_address(connection.descriptor.number, &address) == 0 else { return nil }
    return SocketAddress(address)
  }

  /// TCP's measurements of the path to the peer.
  package struct Path: Hashable, Sendable {
    /// The recent round trip, and the shortest of some minutes.
    package var roundTrip: Nanoseconds
    package var shortest: Nanoseconds
    /// Recent rate of arrival in bytes per second; 0 while not known.
    package var deliveryRate: UInt64
    /// Bytes that the kernel took, and that the peer has not acknowledged.
    package var unacknowledged: Int
  }

  /// Returns `nil` for a connection that is gone or not TCP, and before the peer has answered anything.
  package func path(of id: ConnectionID) -> Path? {
    guard let connection = connection(id) else { return nil }
    var path = csys_path()
    guard csys_path(connection.descriptor.number, &path) == 0, path.round_trip_us > 0,
      path.least_round_trip_us < .max
    else { return nil }
    return Path(
      roundTrip: .microseconds(Int64(path.round_trip_us)),
      shortest: .microseconds(Int64(path.least_round_trip_us)), deliveryRate: path.delivery_rate,
      unacknowledged: Int(path.unacknowledged))
  }

  /// Makes the kernel send no faster than this.
  package func pace(_ id: ConnectionID, bytesPerSecond: UInt32) {
    guard let connection = connection(id) else { return }
    // If the kernel cannot limit the rate, the connection continues as before.
    _ = csys_pace(connection.descriptor.number, bytesPerSecond)
  }

  /// Lets a connection send this many bytes, and no more before the next call. Nil, the initial value, sets no limit.
  package func setTurn(_ id: ConnectionID, bytes: Int?) {
    guard let connection = connection(id) else { return }
    connection.turn = bytes.map { max($0, 0) }
    flushLater(id, connection)
  }

  /// Changes the settings of an open connection.
  package func configure(_ id: ConnectionID, _ options: ConnectionOptions) throws(IOError) {
    guard let connection = connection(id) else { return }
    connection.options = options
    if localAddress(of: id) != nil { try connection.configure() }
  }

  /// Stops or resumes reading, so that the peer slows down to a usable rate. While nothing is read and nothing is
  /// queued, the end of the connection is not noticed either.
  package func setReading(_ isReading: Bool, on id: ConnectionID) {
    guard let connection = connection(id) else { return }
    connection.isReading = isReading
    updateInterest(id, connection)
  }

  /// Closes at once, drops the queued bytes, and reports no more events for the connection.
  package func close(_ id: ConnectionID) {
    guard connection(id) != nil else { return }
    remove(token: id.token)
  }

  /// Sends the queued bytes, then ends the stream and waits for the peer to do the same; `closed` follows, after
  /// `farewellTime` at the latest.
  package func finish(_ id: ConnectionID) {
    guard let connection = connection(id), connection.acceptsOutput else { return }
    if case .connecting = connection.state { return close(id, .finished) }
    connection.state = .finishing
    connection.turn = nil
    bidFarewell(id, connection)
    flushLater(id, connection)
    updateInterest(id, connection)
  }

  private func open(
    peer: String, family: Int32, options: ConnectionOptions, connect: (Int32) -> Int32
  ) -> ConnectionID {
    let number = csys_stream(family)
    let connection = Connection(
      descriptor: FileDescriptor(number), peer: peer, options: options, state: .connecting)
    let id = ConnectionID(token: insert(.connection(connection)))
    guard number >= 0 else {
      failConnecting(id, connection, code: -number)
      return id
    }
    if family != Int32(CSYS_UNIX) { try? connection.configure() }
    let result = connect(number)
    if result < 0, result != -EINPROGRESS {
      failConnecting(id, connection, code: -result)
    } else {
      updateInterest(id, connection)
    }
    return id
  }

  private func failConnecting(_ id: ConnectionID, _ connection: Connection, code: Int32) {
    remove(token: id.token)
    report(.connectFailed(id, .connecting(to: connection.peer, code: code)))
  }

  func close(_ id: ConnectionID, _ reason: CloseReason) {
    remove(token: id.token)
    report(.closed(id, reason))
  }
}

// MARK: reading and writing

extension Reactor {
  func handle(_ id: ConnectionID, _ connection: Connection, events: UInt32) {
    if case .connecting = connection.state {
      let error = csys_pending_error(connection.descriptor.number)
      if error != 0 { return failConnecting(id, connection, code: error) }
      connection.state = .open
      report(.connected(id))
      return flush(id, connection)
    }
    let readable = UInt32(CSYS_READ | CSYS_HANGUP | CSYS_FAULT)
    if events & readable != 0, connection.wantedInterest & UInt32(CSYS_READ) != 0 {
      read(id, connection)
    }
    if events & UInt32(CSYS_WRITE | CSYS_HANGUP | CSYS_FAULT) != 0, self.connection(id) != nil {
      flush(id, connection)
    }
  }

  private func read(_ id: ConnectionID, _ connection: Connection) {
    let count = csys_receive(connection.descriptor.number, buffer.baseAddress, buffer.count)
    if count == -Int(EAGAIN) || count == -Int(EINTR) { return }
    if count > 0 {
      switch connection.state {
      case .connecting, .open, .broken: report(.received(id, [UInt8](buffer[..<count])))
      case .finishing, .awaitingEnd: break
      }
      return
    }
    switch connection.state {
    case .awaitingEnd: close(id, .finished)
    case .broken(let error): close(id, .failed(error))
    case .connecting, .open, .finishing:
      close(id, count == 0 ? .endOfStream : .failed(lost(connection, code: Int32(-count))))
    }
  }

  func flush(_ id: ConnectionID, _ connection: Connection) {
    switch connection.state {
    case .connecting, .awaitingEnd, .broken: return
    case .open, .finishing: break
    }
    var written = 0
    while connection.mayWrite, written < Self.writeSize {
      let count = min(connection.queue.copyPrefix(into: buffer), connection.turn ?? .max)
      let sent = csys_send(connection.descriptor.number, buffer.baseAddress, count)
      if sent == -Int(EAGAIN) || sent == -Int(EINTR) { break }
      if sent < 0 { return breakOff(id, connection, code: Int32(-sent)) }
      connection.queue.removePrefix(sent)
      connection.turn? -= sent
      written += sent
    }
    if connection.isAboveMark, connection.queue.count <= connection.options.lowMark {
      connection.isAboveMark = false
      report(.drained(id))
    }
    if case .finishing = connection.state, connection.queue.isEmpty {
      _ = csys_shutdown_sending(connection.descriptor.number)
      connection.state = .awaitingEnd
    }
    updateInterest(id, connection)
  }

  /// Handles a failure to send. Reads the peer's last bytes, perhaps the reason, before the end is reported.
  private func breakOff(_ id: ConnectionID, _ connection: Connection, code: Int32) {
    let error = lost(connection, code: code)
    guard connection.isReading else { return close(id, .failed(error)) }
    connection.queue.removeAll()
    connection.state = .broken(error)
    updateInterest(id, connection)
  }

  private func lost(_ connection: Connection, code: Int32) -> IOError {
    let reason =
      code == ETIMEDOUT ? "it does not answer any more" : IOError.reason(code)
    return IOError(
      call: "connection", code: code, text: "the connection to \(connection.peer) broke: \(reason)")
  }

  func updateInterest(_ id: ConnectionID, _ connection: Connection) {
    let wanted = connection.wantedInterest
    guard wanted != connection.interest else { return }
    // An unwatched socket leaves epoll, which would otherwise report a hang-up over and over.
    let operation =
      connection.interest == 0 ? CSYS_ADD : wanted == 0 ? CSYS_REMOVE : CSYS_MODIFY
    let result = csys_epoll_set(
      epoll.number, Int32(operation), connection.descriptor.number, wanted, id.token)
    guard result >= 0 else {
      return close(id, .failed(lost(connection, code: -result)))
    }
    connection.interest = wanted
  }
}
