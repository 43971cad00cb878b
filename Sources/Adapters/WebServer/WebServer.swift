internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// An HTTP/1.1 server on a thread of its own, which runs the answers too and has a low priority. It bounds all that a
/// client can make it store, and refuses requests from pages of other sites.
package struct WebServer: Sendable {
  package typealias Answer = @Sendable (WebRequest) async -> WebResponse

  /// The reason in one line that says what to do.
  package struct ListenError: Error, CustomStringConvertible {
    package let description: String
  }

  private let configuration: WebServerConfiguration
  private let figures: WebFigures
  private let answer: Answer

  package init(
    _ configuration: WebServerConfiguration, figures: WebFigures, answer: @escaping Answer
  ) {
    (self.configuration, self.figures, self.answer) = (configuration, figures, answer)
  }

  /// Listens, and answers until the task is cancelled.
  ///
  /// - Parameters:
  ///   - began: called with the port once the server listens.
  ///   - work: runs alongside, on the same thread.
  package func run(
    began: @Sendable (Int) -> Void = { _ in },
    beside work: @escaping @Sendable () async -> Void = {}
  ) async throws(ListenError) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let pool = NIOThreadPool(numberOfThreads: 2)
    pool.start()
    let loop = group.next()
    loop.giveWayToMusic()
    defer {
      pool.shutdownGracefully { _ in }
      group.shutdownGracefully { _ in }
    }
    try await withTaskExecutorPreference(LoopExecutor(loop)) { () throws(ListenError) in
      let listeners = try await listen(on: group)
      began(listeners.first?.channel.localAddress?.port ?? 0)
      await withTaskGroup { tasks in
        for listener in listeners { tasks.addTask { await serve(listener, pool: pool) } }
        tasks.addTask(operation: work)
      }
    }
  }

  private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, ResponsePart>
  private typealias Listener = NIOAsyncChannel<Connection?, Never>

  private func listen(on group: MultiThreadedEventLoopGroup) async throws(ListenError)
    -> [Listener]
  {
    guard !configuration.addresses.isEmpty else {
      // The second address is for a machine without IPv6.
      return [try await listen(at: "::", else: "0.0.0.0", on: group)]
    }
    var listeners: [Listener] = []
    for address in configuration.addresses {
      do throws(ListenError) {
        listeners.append(try await listen(at: address, on: group))
      } catch {
        for listener in listeners { try? await listener.executeThenClose { _ in } }
        throw error
      }
    }
    return listeners
  }

  private func listen(
    at address: String, else other: String? = nil, on group: MultiThreadedEventLoopGroup
  ) async throws(ListenError) -> Listener {
    do {
      return try await bind(address, group)
    } catch let error as IOError {
      if let other, error.errnoCode != EADDRINUSE { return try await listen(at: other, on: group) }
      throw ListenError(description: sentence(on: error.errnoCode, at: address))
    } catch {
      throw ListenError(description: sentence(on: EADDRNOTAVAIL, at: address))
    }
  }

  private func sentence(on code: CInt, at address: String) -> String {
    let port = configuration.port
    return switch code {
    case EADDRINUSE:
      "cannot listen on port \(port): another program has it; end that, or choose another with --port"
    case EACCES: "cannot listen on port \(port): only root may; choose one above 1023 with --port"
    case EADDRNOTAVAIL:
      "cannot listen on \(address): it is no address of this machine; see: ip address"
    default: "cannot listen on port \(port): \(String(cString: strerror(code)))"
    }
  }

  private func bind(_ address: String, _ group: MultiThreadedEventLoopGroup) async throws
    -> Listener
  {
    let limits = WebServerConfiguration.Limits.self
    return try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 128)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPause())
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.socketOption(.so_sndbuf), value: limits.socket)
      // Drop a phone that has vanished as soon as a reader that takes nothing.
      .childChannelOption(
        .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)),
        value: Int(configuration.limits.readerTimeout / .milliseconds(1))
      )
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: limits.waiting / 2, high: limits.waiting)
      )
      .bind(to: .at(address, port: configuration.port)) { channel in
        channel.eventLoop.makeCompletedFuture { try setUp(channel) }
      }
  }

  /// Sets up a connection; nil if there are too many.
  private func setUp(_ channel: any Channel) throws -> Connection? {
    let address = channel.remoteAddress?.ipAddress ?? ""
    guard let place = figures.open(from: address, close: { channel.close(promise: nil) }) else {
      try channel.pipeline.syncOperations.addHandler(BusyAnswer())
      return nil
    }
    channel.closeFuture.whenComplete { [figures] _ in figures.close(place) }
    let clock = ConnectionClock(configuration.limits, on: channel) { [figures] canGiveWay in
      figures.note(place, canGiveWay: canGiveWay)
    }
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderListSize = WebServerConfiguration.Limits.head
    limits.maxHeaderFieldSize = WebServerConfiguration.Limits.head
    limits.maxHeaderFieldCount = WebServerConfiguration.Limits.headerCount
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ByteWatch(clock))
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false, withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(PartWatch(clock))
    return try Connection(wrappingChannelSynchronously: channel)
  }

  private func serve(_ listener: Listener, pool: NIOThreadPool) async {
    let screen = RequestScreen(configuration)
    try? await listener.executeThenClose { connections in
      await withDiscardingTaskGroup { group in
        var arrivals = connections.makeAsyncIterator()
        while let connection = try? await arrivals.next() {
          guard let connection else { continue }
          group.addTask {
            await WebConnection(
              channel: connection, screen: screen, figures: figures, pool: pool, answer: answer
            ).serve()
          }
        }
        group.cancelAll()
      }
    }
  }
}

/// Tells a client that there are too many connections, its own or those of all clients.
private final class BusyAnswer: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelActive(context: ChannelHandlerContext) {
    let response = WebResponse.problem(
      503, "Too many connections are open; close some pages, and try again.")
    guard case .bytes(let body, let type) = response.body else { return }
    let head =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    let buffer = ByteBuffer(bytes: [UInt8](head.utf8) + body)
    context.writeAndFlush(Self.wrapOutboundOut(buffer), promise: nil)
    context.close(promise: nil)
  }
}
