internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A TCP server for clients that speak in lines, on ports that come and go. It runs on a thread of its own, which runs the
/// answers too and has a low priority, and bounds all that a client can make it store.
package final class LineServer: Sendable {
  package typealias Serve = @Sendable (LineConnection) async -> Void

  /// Why a port cannot be had.
  package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    package let isTaken: Bool
    package let description: String
  }

  private let addresses: [String]
  private let limits: LineServerLimits
  private let group: MultiThreadedEventLoopGroup
  private let pool: NIOThreadPool
  private let arrivals: AsyncStream<LineConnection>
  private let arrive: AsyncStream<LineConnection>.Continuation
  private let seats = LineSeats()

  /// - Parameter addresses: those of this machine to listen on; none means all.
  package init(addresses: [String] = [], limits: LineServerLimits = LineServerLimits()) {
    (self.addresses, self.limits) = (addresses, limits)
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    // As many as there may be connections, as each has a seat.
    (arrivals, arrive) = AsyncStream.makeStream()
    group.next().giveWayToMusic()
  }

  deinit {
    pool.shutdownGracefully { _ in }
    group.shutdownGracefully { _ in }
  }

  /// Serves all connections until the task is cancelled.
  ///
  /// - Parameter work: runs alongside, on the same thread.
  package func run(
    beside work: @escaping @Sendable () async -> Void, serve: @escaping Serve
  ) async {
    await withTaskExecutorPreference(LoopExecutor(group.next())) {
      await withDiscardingTaskGroup { tasks in
        tasks.addTask(operation: work)
        for await connection in arrivals {
          tasks.addTask { [seats] in
            await withTaskCancellationHandler {
              await serve(connection)
              connection.close()
            } onCancel: {
              connection.close()
            }
            // Not before: who hangs up in the middle of long work may not begin another at once.
            seats.leave(connection.address)
          }
        }
        tasks.cancelAll()
      }
    }
  }

  /// Listens on a port; 0 lets the system choose.
  package func listen(on port: Int) async throws(ListenError) -> LineListener {
    guard (0...Int(UInt16.max)).contains(port) else {
      throw ListenError(isTaken: false, description: "ports end at \(UInt16.max)")
    }
    var channels: [any Channel] = []
    // The second address is for a machine without IPv6.
    let wanted = addresses.isEmpty ? [("::", "0.0.0.0")] : addresses.map { ($0, $0) }
    for (address, other) in wanted {
      do {
        let number = channels.first?.localAddress?.port ?? port
        channels.append(try await bind(address, else: other, port: number))
      } catch {
        for channel in channels { channel.close(promise: nil) }
        let code = (error as? IOError)?.errnoCode ?? EADDRNOTAVAIL
        throw ListenError(
          isTaken: code == EADDRINUSE, description: String(cString: strerror(code)))
      }
    }
    return LineListener(channels)
  }

  /// Reads a part of a file on a thread that may wait for a disk; nil if there is no such file.
  package func read(
    _ path: String, from start: Int, count: Int
  ) async -> (size: Int, bytes: [UInt8])? {
    try? await pool.runIfActive {
      // A pipe of that name would make the thread wait forever.
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw Missing() }
      defer { Glibc.close(descriptor) }
      var facts = stat()
      guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
        throw Missing()
      }
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(start)))
      }
      return (Int(facts.st_size), bytes)
    }
  }

  private struct Missing: Error {}

  private func bind(_ address: String, else other: String, port: Int) async throws -> any Channel {
    do {
      return try await bind(address, port: port)
    } catch let error as IOError where error.errnoCode != EADDRINUSE && other != address {
      return try await bind(other, port: port)
    }
  }

  private func bind(_ address: String, port: Int) async throws -> any Channel {
    try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 128)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPause())
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.socketOption(.so_keepalive), value: 1)
      .childChannelOption(.socketOption(.so_sndbuf), value: LineServerLimits.socket)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { [limits, seats, arrive] channel in
        channel.eventLoop.makeCompletedFuture {
          let address = channel.remoteAddress?.ipAddress ?? ""
          guard seats.take(address) else { return channel.close(promise: nil) }
          let connection = LineConnection(channel, address: address, limits: limits)
          try channel.pipeline.syncOperations.addHandler(LineHandler(connection))
          arrive.yield(connection)
        }
      }
      .bind(to: .at(address, port: port)).get()
  }
}

/// A port on which a server listens, until it is closed.
package final class LineListener: Sendable {
  package let port: Int
  private let channels: [any Channel]

  fileprivate init(_ channels: [any Channel]) {
    self.channels = channels
    port = channels.first?.localAddress?.port ?? 0
  }

  /// Clients that are connected stay so.
  package func close() { for channel in channels { channel.close(promise: nil) } }
}

/// Counts the connections, of all clients and of each host.
final class LineSeats: Sendable {
  private let taken = Mutex<[String: Int]>([:])

  func take(_ address: String) -> Bool {
    let network = WebFigures.network(of: address)
    return taken.withLock { taken in
      guard taken.values.reduce(0, +) < LineServerLimits.connections,
        taken[network, default: 0] < LineServerLimits.connectionsOfOneAddress
      else { return false }
      taken[network, default: 0] += 1
      return true
    }
  }

  func leave(_ address: String) {
    let network = WebFigures.network(of: address)
    taken.withLock { taken in
      let rest = taken[network, default: 1] - 1
      taken[network] = rest > 0 ? rest : nil
    }
  }
}
