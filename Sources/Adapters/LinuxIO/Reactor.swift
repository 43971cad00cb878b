internal import CSys
package import Clock
internal import Glibc

/// The event loop of one thread: it owns sockets, waits for them and reports events. It decides nothing.
///
/// The thread calls `wait` over and over and acts on the events; everything except `waker` belongs to that thread.
/// `send` queues output, which leaves in the next `wait`, so that the output of one turn leaves in few packets.
package final class Reactor {
  /// Largest number of bytes in one `received` event. Each connection gets one read per turn, so that none starves
  /// another.
  package static let readSize = 64 << 10
  /// Largest number of bytes written to one connection in one turn.
  static let writeSize = 256 << 10
  /// Largest number of datagrams, and of transmit stamps, taken from one socket in one turn.
  static let datagramsPerTurn = 64
  /// Pause of a listener after a failed accept. Without it, the loop would spin on the peers that still wait.
  static let acceptPause = Nanoseconds.milliseconds(250)
  /// Largest number of connections that wait for their peers to close: more than any program ends at a time, and
  /// few against a process's descriptors, which peers that never close would use up.
  static let mostFarewells = 64

  package let waker: Waker
  let epoll: FileDescriptor
  let buffer: UnsafeMutableRawBufferPointer
  private var entries: [UInt64: Entry] = [:]
  private var lastToken: UInt64 = 0
  private var ready = Array(repeating: csys_ready(), count: 64)
  private var pending: [ReactorEvent] = []
  private var unflushed: [ConnectionID] = []
  /// Sockets that never end a wait.
  private var quietSockets: [DatagramID] = []
  /// Sockets that end no wait until they have been read again.
  private var restingSockets: [(id: DatagramID, until: LocalTime)] = []
  private var restingListeners: [(id: ListenerID, until: LocalTime)] = []
  /// Connections after `finish`, oldest first; some may be gone already.
  private var farewells: [(id: ConnectionID, until: LocalTime)] = []

  enum Entry {
    case waker
    case listener(Listener)
    case connection(Connection)
    case datagrams(TimestampedSocket)
    case descriptor(Int32)
    case signals(SignalDescriptor)
  }

  package init() throws(IOError) {
    waker = try Waker()
    epoll = FileDescriptor(try IOError.check("epoll_create", csys_epoll(), "event loop"))
    buffer = .allocate(byteCount: Self.readSize, alignment: 16)
    let token = insert(.waker)
    try watch(waker.descriptor.number, token: token)
  }

  deinit {
    for entry in entries.values {
      if case .listener(let listener) = entry { removeFile(of: listener) }
    }
    buffer.deallocate()
  }

  /// Sends the queued bytes, then waits until something happens or `deadline` has passed; `nil` waits for ever.
  /// May return without events before the deadline.
  package func wait(until deadline: LocalTime?) throws(IOError) -> [ReactorEvent] {
    flushQueues()
    let count = csys_epoll_wait(
      epoll.number, &ready, Int32(ready.count), timeout(until: deadline))
    try IOError.check("epoll_wait", count, "event loop")
    readQuietSockets()
    readRestedSockets()
    for index in 0..<Int(count) { handle(ready[index]) }
    wakeListeners()
    endFarewells()
    defer { pending = [] }
    return pending
  }

  private func timeout(until deadline: LocalTime?) -> Int64 {
    if !pending.isEmpty { return 0 }
    let end = LocalTime?.earliest([
      deadline, restingListeners.lazy.map(\.until).min(), farewells.lazy.map(\.until).min(),
      restingSockets.lazy.map(\.until).min(),
    ])
    guard let end else { return -1 }
    return max(0, (end - HostClock.now).count)
  }

  private func handle(_ ready: csys_ready) {
    // A descriptor closed earlier in this turn has no entry any more.
    guard let entry = entries[ready.token] else { return }
    switch entry {
    case .waker:
      waker.clear()
      report(.woken)
    case .listener(let listener): accept(ListenerID(token: ready.token), listener)
    case .connection(let connection):
      handle(ConnectionID(token: ready.token), connection, events: ready.events)
    case .datagrams(let socket):
      let id = DatagramID(token: ready.token)
      read(id, socket)
      if let rest = socket.rest { restingSockets.append((id, HostClock.now + rest)) }
    case .descriptor: report(.readable(DescriptorID(token: ready.token)))
    case .signals(let signals): for signal in signals.waiting() { report(.signal(signal)) }
    }
  }

  private func readQuietSockets() {
    for id in quietSockets {
      if case .datagrams(let socket)? = entries[id.token] { read(id, socket) }
    }
  }

  /// Reads sockets whose rest is over. A socket keeps resting while datagrams arrive, and wakes again after a rest
  /// without any.
  private func readRestedSockets() {
    guard !restingSockets.isEmpty else { return }
    let now = HostClock.now
    let rested = restingSockets.filter { $0.until <= now }.map(\.id)
    restingSockets.removeAll { $0.until <= now }
    for id in rested {
      guard case .datagrams(let socket)? = entries[id.token], let rest = socket.rest else {
        continue
      }
      let count = read(id, socket)
      if count == 0, (try? watch(socket.descriptor.number, token: id.token, .again)) != nil {
        continue
      }
      restingSockets.append((id, count < Self.datagramsPerTurn ? now + rest : now))
    }
  }

  /// Returns the number of datagrams read.
  @discardableResult
  private func read(_ id: DatagramID, _ socket: TimestampedSocket) -> Int {
    // Transmit stamps come first, because the answer to a datagram is worth more when its stamp is known. Each
    // datagram has up to two.
    for _ in 0..<2 * Self.datagramsPerTurn {
      guard let stamp = socket.nextTransmitStamp() else { break }
      report(.transmitted(id, stamp))
    }
    for count in 0..<Self.datagramsPerTurn {
      guard let datagram = socket.receive(into: buffer) else { return count }
      report(.datagram(id, datagram))
    }
    return Self.datagramsPerTurn
  }

  private func flushQueues() {
    let list = unflushed
    unflushed.removeAll(keepingCapacity: true)
    for id in list {
      guard let connection = connection(id) else { continue }
      connection.isUnflushed = false
      flush(id, connection)
    }
  }

  private func wakeListeners() {
    guard !restingListeners.isEmpty else { return }
    let now = HostClock.now
    for (id, until) in restingListeners where until <= now {
      guard case .listener(let listener)? = entries[id.token] else { continue }
      try? watch(listener.descriptor.number, token: id.token)
    }
    restingListeners.removeAll { $0.until <= now }
  }
}

// MARK: what the parts of the reactor share

extension Reactor {
  func report(_ event: ReactorEvent) { pending.append(event) }

  func insert(_ entry: Entry) -> UInt64 {
    lastToken += 1
    entries[lastToken] = entry
    return lastToken
  }

  func remove(token: UInt64) { entries[token] = nil }

  /// Reports this socket's datagrams with the next event, or at the next deadline.
  func readQuietly(_ id: DatagramID) {
    quietSockets.removeAll { entries[$0.token] == nil }
    quietSockets.append(id)
  }

  func entry(_ token: UInt64) -> Entry? { entries[token] }

  func connection(_ id: ConnectionID) -> Connection? {
    guard case .connection(let connection)? = entries[id.token] else { return nil }
    return connection
  }

  func flushLater(_ id: ConnectionID, _ connection: Connection) {
    guard !connection.isUnflushed else { return }
    connection.isUnflushed = true
    unflushed.append(id)
  }

  enum Watch {
    case always
    /// Once, until it has woken the thread.
    case once
    /// Once more, after `once`.
    case again
  }

  func watch(_ descriptor: Int32, token: UInt64, _ watch: Watch = .always) throws(IOError) {
    let interest = watch == .always ? UInt32(CSYS_READ) : UInt32(CSYS_READ | CSYS_ONCE)
    let operation = watch == .again ? Int32(CSYS_MODIFY) : Int32(CSYS_ADD)
    let result = csys_epoll_set(epoll.number, operation, descriptor, interest, token)
    try IOError.check("epoll_ctl", result, "descriptor \(descriptor)")
  }

  func rest(_ id: ListenerID, _ listener: Listener) {
    _ = csys_epoll_set(epoll.number, Int32(CSYS_REMOVE), listener.descriptor.number, 0, id.token)
    restingListeners.append((id, HostClock.now + Self.acceptPause))
  }

  /// Gives the peer of a finished connection some time to close. Ends the oldest farewell if there are too many.
  func bidFarewell(_ id: ConnectionID, _ connection: Connection) {
    farewells.removeAll { self.connection($0.id) == nil }
    if farewells.count >= Self.mostFarewells { endFarewell(farewells.removeFirst().id) }
    farewells.append((id, HostClock.now + connection.options.farewellTime))
  }

  private func endFarewells() {
    guard !farewells.isEmpty else { return }
    let now = HostClock.now
    for (id, until) in farewells where until <= now { endFarewell(id) }
    farewells.removeAll { $0.until <= now || connection($0.id) == nil }
  }

  private func endFarewell(_ id: ConnectionID) {
    guard let connection = connection(id) else { return }
    close(id, connection.queue.isEmpty ? .finished : .outputOverflow)
  }

  func removeFile(of listener: Listener) {
    if case .path(let path) = listener.place { unlink(path) }
  }
}
