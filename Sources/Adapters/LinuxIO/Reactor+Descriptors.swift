internal import CSys
package import Clock
internal import Glibc

// MARK: datagrams, descriptors and signals

extension Reactor {
  /// Opens a UDP socket with kernel stamps. On `.any` it takes IPv4 and, if the host has it, IPv6.
  ///
  /// If it does not wake, it ends no `wait`: its datagrams are reported when something else has happened, or the
  /// deadline has passed. It wakes all the same if the kernel stamps no arrivals, because the time would be lost.
  ///
  /// With a `rest`, the first datagram wakes, and later ones no more often than once per `rest`: meanwhile datagrams
  /// and transmit stamps are collected and reported together.
  package func openDatagrams(
    on address: SocketAddress, trafficClass: TrafficClass = .standard, wakes: Bool = true,
    rest: Nanoseconds? = nil
  ) throws(IOError) -> DatagramID {
    let socket: TimestampedSocket
    do {
      socket = try TimestampedSocket(address: address, trafficClass: trafficClass)
    } catch {
      guard let substitute = error.substitute(for: address) else { throw error }
      socket = try TimestampedSocket(address: substitute, trafficClass: trafficClass)
    }
    let id = DatagramID(token: insert(.datagrams(socket)))
    if wakes || socket.stamps == .none {
      socket.rest = socket.stamps == .none ? nil : rest
      try watch(
        socket.descriptor.number, token: id.token, socket.rest == nil ? .always : .once)
    } else {
      readQuietly(id)
    }
    return id
  }

  /// Sends at once. The id is that of the `transmitted` events, of which there may be none. Fails with EAGAIN if the
  /// network takes nothing now.
  @discardableResult
  package func send(_ bytes: [UInt8], to address: SocketAddress, from id: DatagramID)
    throws(IOError) -> TransmitID
  {
    guard case .datagrams(let socket)? = entry(id.token) else {
      throw IOError(call: "sendto", code: EBADF, subject: "\(address)")
    }
    return try socket.send(bytes, to: address)
  }

  package func localAddress(of id: DatagramID) -> SocketAddress? {
    guard case .datagrams(let socket)? = entry(id.token) else { return nil }
    return socket.localAddress
  }

  package func close(_ id: DatagramID) { remove(token: id.token) }

  /// Reports when `descriptor`, such as a terminal's or a pipe's, can be read; a file cannot be watched. It still
  /// belongs to the caller, who closes it after `unwatch`.
  package func watch(descriptor: Int32) throws(IOError) -> DescriptorID {
    let token = insert(.descriptor(descriptor))
    do {
      try watch(descriptor, token: token)
    } catch {
      remove(token: token)
      throw error
    }
    return DescriptorID(token: token)
  }

  package func unwatch(_ id: DescriptorID) {
    guard case .descriptor(let number)? = entry(id.token) else { return }
    _ = csys_epoll_set(epoll.number, Int32(CSYS_REMOVE), number, 0, id.token)
    remove(token: id.token)
  }

  /// Reports these signals from now on. Call it once, before the program starts another thread: a thread that exists
  /// already would still die of them.
  package func watch(signals: [ProcessSignal]) throws(IOError) {
    var numbers = signals.map(\.number)
    let result = csys_signals(&numbers, Int32(numbers.count))
    let number = try IOError.check("signalfd", result, "signals")
    let token = insert(.signals(SignalDescriptor(number, signals: signals)))
    try watch(number, token: token)
  }
}

extension IOError {
  /// If IPv6 is switched off, "any address" means those of IPv4.
  func substitute(for address: SocketAddress) -> SocketAddress? {
    guard address == .any(port: address.port), code == EAFNOSUPPORT || code == EADDRNOTAVAIL
    else { return nil }
    return .any4(port: address.port)
  }
}
