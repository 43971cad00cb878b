internal import NIOCore
internal import NIOHTTP1

typealias ResponsePart = HTTPPart<HTTPResponseHead, ByteBuffer>

/// A request that did not arrive in time.
struct Slowness: Error {}

/// Ends a connection that is idle or too slow: a request that arrives byte by byte, a client that does not read, or
/// one that sends nothing. On the connection's event loop.
final class ConnectionClock {
  private enum Phase {
    /// Until the first byte of a request.
    case idle
    case receiving
    case answering
    /// An answer about the slowness is on its way.
    case ending
  }

  private let limits: WebServerConfiguration.Limits
  private let channel: any Channel
  private var phase = Phase.receiving
  private var isFull = false
  /// Number of complete requests without an answer.
  private var openCount = 0
  private var timer: Scheduled<Void>?
  /// Called with true when the connection may be closed for another one, with false when it may not.
  private let canGiveWay: (Bool) -> Void

  init(
    _ limits: WebServerConfiguration.Limits, on channel: any Channel,
    canGiveWay: @escaping (Bool) -> Void
  ) {
    (self.limits, self.channel, self.canGiveWay) = (limits, channel, canGiveWay)
    wait(limits.requestTimeout)
  }

  fileprivate func bytesArrived() { if phase == .idle { enter(.receiving) } }

  fileprivate func requestEnded() {
    openCount += 1
    if phase != .ending { enter(.answering) }
  }

  /// - Parameter isLast: true if the connection ends with this answer, once the client has taken it.
  fileprivate func answerEnded(isLast: Bool) {
    openCount = max(0, openCount - 1)
    if isLast { return enter(.ending) }
    if phase == .answering { enter(openCount > 0 ? .answering : .idle) }
  }

  fileprivate func writabilityChanged(_ isWritable: Bool) {
    isFull = !isWritable
    if phase == .answering { enter(.answering) }
  }

  fileprivate func end() { timer?.cancel() }

  private func enter(_ next: Phase) {
    if (next == .answering) != (phase == .answering) { canGiveWay(next != .answering) }
    phase = next
    switch next {
    case .idle: wait(limits.idleTimeout)
    case .receiving, .ending: wait(limits.requestTimeout)
    case .answering: if isFull { wait(limits.readerTimeout) } else { end() }
    }
  }

  private func wait(_ time: Duration) {
    timer?.cancel()
    timer = channel.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { [self] in
      guard phase == .receiving else { return channel.close(promise: nil) }
      enter(.ending)
      channel.pipeline.fireErrorCaught(Slowness())
    }
  }
}

/// Reports bytes to the clock, in front of the parser, which would hide single bytes.
final class ByteWatch: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let clock: ConnectionClock

  init(_ clock: ConnectionClock) { self.clock = clock }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    clock.bytesArrived()
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    clock.end()
    context.fireChannelInactive()
  }
}

/// Reports requests and answers to the clock, behind the parser.
final class PartWatch: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = ResponsePart
  typealias OutboundOut = HTTPServerResponsePart
  private let clock: ConnectionClock
  private var isLast = false

  init(_ clock: ConnectionClock) { self.clock = clock }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .end = Self.unwrapInboundIn(data) { clock.requestEnded() }
    context.fireChannelRead(data)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    clock.writabilityChanged(context.channel.isWritable)
    context.fireChannelWritabilityChanged()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part: HTTPServerResponsePart
    switch Self.unwrapOutboundIn(data) {
    case .head(let head):
      part = .head(head)
      isLast = head.headers[canonicalForm: "connection"].contains("close")
    case .body(let buffer): part = .body(.byteBuffer(buffer))
    case .end(let trailers):
      part = .end(trailers)
      clock.answerEnded(isLast: isLast)
    }
    context.write(Self.wrapOutboundOut(part), promise: promise)
  }
}
