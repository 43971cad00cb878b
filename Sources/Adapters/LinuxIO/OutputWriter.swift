package import Clock
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Writes to a descriptor, such as standard output, on a thread of its own, so that a stopped terminal or a program
/// that does not read blocks nobody else. Posting never waits; output that does not fit is dropped and counted. After
/// the first error nothing more is written.
package final class OutputWriter: Sendable {
  package enum Kind: Hashable, Sendable {
    /// Dropped only if dropping all passing output is not enough.
    case lasting
    /// Soon replaced by the next of its kind, such as a position: dropped first.
    case passing
  }

  /// Counts of output dropped since the last report of it.
  package struct Dropped: Hashable, Sendable {
    package var lasting = 0
    package var passing = 0

    var isEmpty: Bool { lasting == 0 && passing == 0 }
  }

  private struct State {
    var queue: [(bytes: [UInt8], kind: Kind)] = []
    var byteCount = 0
    var dropped = Dropped()
    var failure: IOError?
    var isWriting = false
    var isEnding = false
  }

  private let descriptor: Int32
  private let limit: Int
  private let describe: @Sendable (Dropped) -> [UInt8]
  private let waker: Waker?
  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - descriptor: still belongs to the caller.
  ///   - limit: the most bytes that wait; as many again may be on their way out.
  ///   - waker: woken after an error.
  ///   - describe: returns text about dropped output, which is written as soon as there is space.
  package init(
    descriptor: Int32, limit: Int = 256 << 10, waker: Waker? = nil,
    describe: @escaping @Sendable (Dropped) -> [UInt8]
  ) throws(IOError) {
    self.descriptor = descriptor
    self.limit = limit
    self.waker = waker
    self.describe = describe
    try RealtimeThread.start(name: "output", priority: nil) { [self] in run() }.detach()
  }

  /// The first error: EPIPE if the reader is gone, ENOSPC on a full disk, EIO if the terminal is gone.
  package var failure: IOError? { state.withLock { $0.failure } }

  /// True if all posted output has been written.
  package var isIdle: Bool { state.withLock { $0.queue.isEmpty && !$0.isWriting } }

  /// Number of bytes that the thread has not taken yet.
  var waitingBytes: Int { state.withLock { $0.byteCount } }

  package func post(_ bytes: [UInt8], _ kind: Kind = .lasting) {
    state.withLock { state in
      guard state.failure == nil, !state.isEnding, !bytes.isEmpty else { return }
      if state.byteCount + bytes.count > limit { dropPassing(&state) }
      guard state.byteCount + bytes.count <= limit else {
        switch kind {
        case .lasting: state.dropped.lasting += 1
        case .passing: state.dropped.passing += 1
        }
        return
      }
      tellOfDropped(&state)
      append(bytes, kind, to: &state)
    }
    news.signal()
  }

  /// Waits up to `timeout` for posted output to leave.
  package func waitUntilIdle(within timeout: Nanoseconds) {
    let end = HostClock.now + timeout
    while !isIdle, HostClock.now < end {
      PipeReader.sleep(until: min(end, HostClock.now + .milliseconds(2)))
    }
  }

  /// Waits up to `timeout` for posted output to leave. Later posts are ignored.
  package func finish(within timeout: Nanoseconds) {
    state.withLock { state in
      if state.failure == nil { tellOfDropped(&state) }
      state.isEnding = true
    }
    news.signal()
    _ = ended.wait(timeout: .now() + .nanoseconds(Int(timeout.count)))
  }

  private func append(_ bytes: [UInt8], _ kind: Kind, to state: inout State) {
    state.queue.append((bytes, kind))
    state.byteCount += bytes.count
  }

  private func dropPassing(_ state: inout State) {
    let before = state.queue.count
    state.queue.removeAll { $0.kind == .passing }
    state.dropped.passing += before - state.queue.count
    state.byteCount = state.queue.reduce(0) { $0 + $1.bytes.count }
  }

  private func tellOfDropped(_ state: inout State) {
    guard !state.dropped.isEmpty else { return }
    append(describe(state.dropped), .lasting, to: &state)
    state.dropped = Dropped()
  }

  // MARK: - The thread

  private func run() {
    ignoreBrokenPipe()
    while let bytes = take() {
      if let error = write(bytes) { fail(error) }
    }
    ended.signal()
  }

  /// Returns nil at the end.
  private func take() -> [UInt8]? {
    while true {
      let (bytes, isEnding) = state.withLock { state in
        defer {
          state.queue = []
          state.byteCount = 0
        }
        state.isWriting = !state.queue.isEmpty
        return (state.queue.flatMap(\.bytes), state.isEnding)
      }
      if !bytes.isEmpty { return bytes }
      if isEnding { return nil }
      news.wait()
    }
  }

  private func fail(_ error: IOError) {
    state.withLock { state in
      state.failure = error
      state.queue = []
      state.byteCount = 0
      state.isWriting = false
    }
    waker?.wake()
  }

  private func write(_ bytes: [UInt8]) -> IOError? {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
          awaitRoom()
        } else if errno != EINTR {
          return IOError(call: "write", code: errno, text: IOError.reason(errno))
        }
      }
      return nil
    }
  }

  /// Waits for space, because somebody else may have made the descriptor non-blocking.
  private func awaitRoom() {
    var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&place, 1, -1)
  }

  /// Blocks SIGPIPE on this thread, so that a pipe without a reader is an error like any other.
  private func ignoreBrokenPipe() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
