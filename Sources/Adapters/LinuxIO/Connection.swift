internal import CSys
internal import Clock

/// A stream socket and its queue. `Reactor` decides when to read and write.
final class Connection {
  enum State {
    case connecting, open
    /// Sends what is queued, then says so to the peer, and drops what arrives.
    case finishing
    /// The same, after everything has been sent.
    case awaitingEnd
    /// Sending failed. What the peer said before that is still to be read.
    case broken(IOError)
  }

  let descriptor: FileDescriptor
  /// For messages.
  let peer: String
  var options: ConnectionOptions
  var state: State
  var queue = OutputQueue()
  var isReading = true
  /// What it may still send in this turn, in bytes; nil where there is no limit.
  var turn: Int?
  /// The queue has been above the low mark since `drained` was last reported.
  var isAboveMark = false
  /// Stands in the reactor's list of connections to flush.
  var isUnflushed = false
  /// What epoll watches for; zero means that it does not know the socket.
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

  /// Sets what a TCP connection needs; nothing of it exists on a Unix-domain socket.
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
    /// The file goes when the listener does.
    case path(String)
  }

  init(descriptor: consuming FileDescriptor, options: ConnectionOptions, place: Place) {
    self.descriptor = descriptor
    self.options = options
    self.place = place
  }
}
