internal import CSys
internal import Clock

/// A stream socket and its queue. `Reactor` decides when to read and write.
final class Connection {
  enum State {
    case connecting, open
    /// Sends the queued bytes, then ends the stream, and drops arriving bytes.
    case finishing
    /// The same, after all bytes have been sent.
    case awaitingEnd
    /// Sending failed. The peer's earlier bytes are still to be read.
    case broken(IOError)
  }

  let descriptor: FileDescriptor
  /// The peer's name in messages.
  let peer: String
  var options: ConnectionOptions
  var state: State
  var queue = OutputQueue()
  var isReading = true
  /// Bytes that the connection may still send in this turn; nil for no limit.
  var turn: Int?
  /// True if the queue has been above the low mark since `drained` was last reported.
  var isAboveMark = false
  /// True while the connection is in the reactor's list of those to flush.
  var isUnflushed = false
  /// Events that epoll watches for; zero means that it does not know the socket.
  var interest: UInt32 = 0

  init(descriptor: consuming FileDescriptor, peer: String, options: ConnectionOptions, state: State)
  {
    self.descriptor = descriptor
    self.peer = peer
    self.options = options
    self.state = state
  }

  var wantedInterest: UInt32 {
    let reading = UInt32(CSYS_READ)
    let writing = UInt32(CSYS_WRITE)
    return switch state {
    case .connecting: writing
    case .open: (isReading ? reading : 0) | (mayWrite ? writing : 0)
    case .finishing: reading | (mayWrite ? writing : 0)
    case .awaitingEnd, .broken: reading
    }
  }

  var mayWrite: Bool { !queue.isEmpty && turn != 0 }

  var acceptsOutput: Bool {
    switch state {
    case .connecting, .open: true
    case .finishing, .awaitingEnd, .broken: false
    }
  }

  /// Sets the options of a TCP connection; Unix-domain sockets have none of them.
  func configure() throws(IOError) {
    let timeout = (options.answerTimeout?.count ?? 0) / 1_000_000
    let keepAlive = options.keepAlive.count / 1_000_000_000
    var system = csys_stream_options(
      keepalive_s: Int32(clamping: max(1, keepAlive)), user_timeout_ms: Int32(clamping: timeout),
      unsent_limit: options.unsentLimit ?? 0, receive_buffer: options.receiveLimit ?? 0,
      traffic_class: options.trafficClass.rawValue)
    try IOError.check("setsockopt", csys_stream_configure(descriptor.number, &system), peer)
  }
}

/// A socket that accepts connections.
final class Listener {
  let descriptor: FileDescriptor
  let options: ConnectionOptions
  let place: Place

  enum Place {
    case address(SocketAddress)
    /// The listener owns the file, and removes it.
    case path(String)
  }

  init(descriptor: consuming FileDescriptor, options: ConnectionOptions, place: Place) {
    self.descriptor = descriptor
    self.options = options
    self.place = place
  }
}
