package import Audio
import Dispatch
import LinuxIO
package import Sender
import Synchronization

/// The small encoding for rooms with weak links.
package struct SmallChoice: Sendable {
  package var codec: Codec
  package var make: @Sendable () -> SmallEncoder

  package init(codec: Codec, make: @escaping @Sendable () -> SmallEncoder) {
    (self.codec, self.make) = (codec, make)
  }
}

/// Runs a `SmallEncoder` on a thread of its own, which begins with the first order: most groups need none. The producer
/// and the rooms with good links never wait for it.
final class SmallThread: Sendable {
  /// Largest number of batches that the session has not taken. It waits for one, so that only obsolete ones come beside it.
  static let batchLimit = 64

  private struct State {
    /// The next order; a newer one makes it obsolete.
    var order: SmallOrder?
    var hasBegun = false
    var isStopping = false
  }

  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)
  private let batches: Inbox<SmallBatch>
  private let choice: SmallChoice

  init(batches: Inbox<SmallBatch>, choice: SmallChoice) {
    (self.batches, self.choice) = (batches, choice)
  }

  func make(_ order: SmallOrder) {
    let begins = state.withLock { state in
      state.order = order
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if begins { start(order) }
    signal.signal()
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    signal.signal()
  }

  /// Without a thread, rooms with weak links get the usual encoding. The next order tries again.
  private func start(_ order: SmallOrder) {
    do throws(IOError) {
      try RealtimeThread.start(name: "small encoding", priority: nil) { [self] in run() }.detach()
    } catch {
      state.withLock { ($0.hasBegun, $0.order) = (false, nil) }
      // The session goes on without what was ordered, and orders more.
      batches.post(SmallBatch(attempt: order.attempt))
    }
  }

  private func run() {
    let encoder = choice.make()
    while true {
      signal.wait()
      let (order, isStopping) = state.withLock { ($0.order.take(), $0.isStopping) }
      if isStopping { return }
      if let order { batches.post(encoder.make(order)) }
    }
  }
}
