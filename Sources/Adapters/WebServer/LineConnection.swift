internal import NIOCore
internal import Synchronization

/// One client. One task at a time takes its lines and answers them; anybody may wake that task.
package final class LineConnection: Sendable {
  package enum Input: Hashable, Sendable {
    /// A line without its end.
    case line([UInt8])
    /// Somebody has called `signal`.
    case signal
  }

  fileprivate struct State {
    var bytes: [UInt8] = []
    /// The bytes at the front that are taken already.
    var taken = 0
    /// Where the search for an end of a line goes on.
    var searched = 0
    var hasSignal = false
    var hasEnded = false
    var isPaused = false
    var waiter: Waiter?
  }

  /// A task that waits for the next input.
  fileprivate struct Waiter {
    let continuation: CheckedContinuation<Input?, Never>
    /// Closes the connection if the client is silent for too long; nil if it may be.
    let timer: Scheduled<Void>?
  }

  /// The client's numeric address.
  package let address: String
  private let channel: any Channel
  private let limits: LineServerLimits
  private let state = Mutex(State())

  init(_ channel: any Channel, address: String, limits: LineServerLimits) {
    (self.channel, self.address, self.limits) = (channel, address, limits)
  }

  /// The port of this machine to which it came.
  package var port: Int { channel.localAddress?.port ?? 0 }

  /// True if the client runs on this machine.
  package var isLocal: Bool {
    address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
  }

  /// Waits for the client's next line, or for a signal. Returns nil if there will be no more.
  ///
  /// - Parameter maySayNothing: true if the client may be silent for as long as it likes.
  package func next(maySayNothing: Bool) async -> Input? {
    await withCheckedContinuation { continuation in
      let now = state.withLock { state -> Input?? in
        if let input = state.next() { return .some(input) }
        if state.hasEnded { return .some(nil) }
        let timer = maySayNothing ? nil : silenceTimer()
        state.waiter = Waiter(continuation: continuation, timer: timer)
        return nil
      }
      if let now { continuation.resume(returning: now) }
      resumeReading()
    }
  }

  private func silenceTimer() -> Scheduled<Void> {
    channel.eventLoop.scheduleTask(in: TimeAmount(limits.silence)) { [weak self] in self?.close() }
  }

  /// Wakes who waits for the next line, now or when somebody waits.
  package func signal() {
    wake { state in state.hasSignal = true }
  }

  /// Returns once the kernel has taken all, and false if the client is gone, or takes nothing.
  package func send(_ bytes: [UInt8]) async -> Bool {
    var start = 0
    while start < bytes.count {
      let end = min(start + LineServerLimits.piece, bytes.count)
      let timer = channel.eventLoop.scheduleTask(in: TimeAmount(limits.reader)) { [weak self] in
        self?.close()
      }
      defer { timer.cancel() }
      do {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes[start..<end]))
      } catch {
        return false
      }
      start = end
    }
    return true
  }

  package func close() { channel.close(promise: nil) }

  /// False once the connection is closed. A client that sends no more may still read.
  package var isOpen: Bool { channel.isActive }

  // MARK: - On the event loop

  /// Takes bytes of the client. Returns false if a line is too long.
  func received(_ new: ByteBuffer) -> Bool {
    var isGood = true
    wake { state in
      state.bytes += new.readableBytesView
      isGood = state.lineIsShort
    }
    return isGood
  }

  /// Returns true if the client may send more, else it waits.
  func mayRead() -> Bool {
    state.withLock { state in
      state.isPaused = state.bytes.count - state.taken > LineServerLimits.waitingInput
      return !state.isPaused
    }
  }

  func ended() { wake { $0.hasEnded = true } }

  private func resumeReading() {
    let resumes = state.withLock { state in
      guard state.isPaused, state.bytes.count - state.taken <= LineServerLimits.waitingInput
      else { return false }
      state.isPaused = false
      return true
    }
    if resumes { channel.read() }
  }

  private func wake(_ change: (inout State) -> Void) {
    let (waiter, input) = state.withLock { state -> (Waiter?, Input?) in
      change(&state)
      guard let waiter = state.waiter else { return (nil, nil) }
      let input = state.next()
      guard input != nil || state.hasEnded else { return (nil, nil) }
      state.waiter = nil
      return (waiter, input)
    }
    waiter?.timer?.cancel()
    waiter?.continuation.resume(returning: input)
  }
}

extension LineConnection.State {
  /// The client's lines come before signals, which tell what it may have asked for.
  fileprivate mutating func next() -> LineConnection.Input? {
    if let end = bytes[searched...].firstIndex(of: 0x0a) {
      let line = Array(bytes[taken..<end])
      (taken, searched) = (end + 1, end + 1)
      tidy()
      return .line(line)
    }
    searched = bytes.count
    guard hasSignal else { return nil }
    hasSignal = false
    return .signal
  }

  /// Gives back what is taken, once it is much: each time would move the rest for each line.
  private mutating func tidy() {
    guard taken == bytes.count || taken > LineServerLimits.waitingInput else { return }
    bytes.removeFirst(taken)
    searched -= taken
    taken = 0
  }

  /// False if the last line has no end and is longer than the limit.
  fileprivate var lineIsShort: Bool {
    guard bytes.count - taken > LineServerLimits.line else { return true }
    return bytes[taken...].suffix(LineServerLimits.line + 1).contains(0x0a)
  }
}

/// Passes a client's bytes on.
final class LineHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let connection: LineConnection

  init(_ connection: LineConnection) { self.connection = connection }

  func channelActive(context: ChannelHandlerContext) { context.read() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !connection.received(Self.unwrapInboundIn(data)) { context.close(promise: nil) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if connection.mayRead() { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // It sends no more, and may still read answers.
    if case .inputClosed? = event as? ChannelEvent { connection.ended() }
  }

  func channelInactive(context: ChannelHandlerContext) { connection.ended() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
