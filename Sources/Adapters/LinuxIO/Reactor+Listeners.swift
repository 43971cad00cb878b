internal import CSys
internal import Glibc

extension Reactor {
  /// Accepts TCP connections. `.any(port:)` takes IPv4 and IPv6; with port 0 the system chooses.
  package func listen(on address: SocketAddress, options: ConnectionOptions = .init())
    throws(IOError) -> ListenerID
  {
    do {
      return try openListener(on: address, options: options)
    } catch {
      guard let substitute = error.substitute(for: address) else { throw error }
      return try openListener(on: substitute, options: options)
    }
  }

  /// Accepts connections of this user's programs through a file of mode 0600. Replaces a file left there by a dead
  /// program. A file that `isShared` has mode 0660, and the group of its directory.
  package func listen(
    onPath path: String, isShared: Bool = false, options: ConnectionOptions = .init()
  ) throws(IOError) -> ListenerID {
    // Two programs that start together would both take the file for a dead one's, and one would remove the
    // other's.
    let lock = try lockFile(path + ".lock")
    defer { withExtendedLifetime(lock) {} }
    let number = try IOError.check("socket", csys_stream(Int32(CSYS_UNIX)), path)
    let descriptor = FileDescriptor(number)
    var result = csys_bind_path(number, path)
    if result == -EADDRINUSE, try isStale(path) {
      unlink(path)
      result = csys_bind_path(number, path)
    }
    if result == -EADDRINUSE {
      throw IOError(call: "bind", code: EADDRINUSE, text: "\(path) is in use by another program")
    }
    try IOError.check("bind", result, path)
    let listener = Listener(descriptor: descriptor, options: options, place: .path(path))
    do {
      // Nobody can connect before `listen`, so the mode is set in time.
      if isShared { try share(path) }
      let mode: mode_t = isShared ? 0o660 : 0o600
      try IOError.check("chmod", chmod(path, mode) == 0 ? 0 : -errno, path)
      return try start(listener)
    } catch {
      removeFile(of: listener)
      throw error
    }
  }

  private func share(_ path: String) throws(IOError) {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    var (status, own) = (stat(), stat())
    try IOError.check("stat", stat(folder, &status) == 0 ? 0 : -errno, folder)
    // A process that systemd confines may not call `chown`, and need not if the group is its own.
    if stat(path, &own) == 0, own.st_gid == status.st_gid { return }
    let result = chown(path, uid_t.max, status.st_gid)
    try IOError.check("chown", result == 0 ? 0 : -errno, path)
  }

  /// Locks a file while a bound socket is not listening yet, which is a short time.
  private func lockFile(_ path: String) throws(IOError) -> FileDescriptor {
    let number = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw IOError(call: "open", code: errno, subject: path) }
    let file = FileDescriptor(number)
    guard flock(number, LOCK_EX) == 0 else {
      throw IOError(call: "flock", code: errno, subject: path)
    }
    return file
  }

  /// Returns the listener's actual address; `nil` for one on a path.
  package func localAddress(of id: ListenerID) -> SocketAddress? {
    guard case .listener(let listener)? = entry(id.token),
      case .address(let address) = listener.place
    else { return nil }
    return address
  }

  package func close(_ id: ListenerID) {
    guard case .listener(let listener)? = entry(id.token) else { return }
    removeFile(of: listener)
    remove(token: id.token)
  }

  private func openListener(on address: SocketAddress, options: ConnectionOptions)
    throws(IOError) -> ListenerID
  {
    let number = try IOError.check("socket", csys_stream(address.family), "\(address)")
    let descriptor = FileDescriptor(number)
    let bound = try bindSocket(number, to: address)
    return try start(
      Listener(descriptor: descriptor, options: options, place: .address(bound)))
  }

  private func start(_ listener: Listener) throws(IOError) -> ListenerID {
    let result = csys_listen(listener.descriptor.number)
    guard result >= 0 else {
      if case .address(let address) = listener.place {
        throw .binding(to: address, code: -result)
      }
      throw IOError(call: "listen", code: -result, subject: "listener")
    }
    let token = insert(.listener(listener))
    try watch(listener.descriptor.number, token: token)
    return ListenerID(token: token)
  }

  /// True if `path` is a socket on which no program listens.
  private func isStale(_ path: String) throws(IOError) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
    let number = try IOError.check("socket", csys_stream(Int32(CSYS_UNIX)), path)
    let probe = FileDescriptor(number)
    return csys_connect_path(probe.number, path) == -ECONNREFUSED
  }

  /// Accepts one connection; the others wait for the next turn.
  func accept(_ id: ListenerID, _ listener: Listener) {
    var peer = csys_address()
    let number = csys_accept(listener.descriptor.number, &peer)
    guard number >= 0 else {
      switch -number {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        rest(id, listener)
        report(.acceptFailed(id, IOError(call: "accept", code: -number, subject: "listener")))
      default: break  // The peer went away again, or another wake-up took it.
      }
      return
    }
    let address = SocketAddress(peer)
    let connection = Connection(
      descriptor: FileDescriptor(number), peer: address?.description ?? "local peer",
      options: listener.options, state: .open)
    let isConfigured = address == nil || (try? connection.configure()) != nil
    // A peer that has gone already refuses its settings.
    guard isConfigured else { return }
    let connectionID = ConnectionID(token: insert(.connection(connection)))
    report(.accepted(connectionID, by: id, from: address))
    updateInterest(connectionID, connection)
  }
}
