import Dispatch
import LinuxIO
import Sender
import Synchronization

/// Runs a `Serializer` on a thread of its own, because opening and reading files may take long. Some orders make
/// those that wait obsolete and end a read that waits for the network, so that a seek never queues behind a long
/// portion or a silent server.
final class ProducerThread: Sendable {
  private struct State {
    var orders: [ProductionOrder] = []
    var isStopping = false
  }

  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)
  private let batches: Inbox<ProducedBatch>
  private let reads: ReadControl

  /// - Parameter reads: that of every source which the serializer opens.
  init(batches: Inbox<ProducedBatch>, reads: ReadControl) {
    self.batches = batches
    self.reads = reads
  }

  /// `makeSerializer` is called on the new thread.
  func start(_ makeSerializer: @escaping @Sendable () -> Serializer) throws(IOError) {
    let thread = try RealtimeThread.start(name: "producer", priority: nil) { [self] in
      let serializer = makeSerializer()
      while let order = nextOrder() { batches.post(serializer.carryOut(order)) }
    }
    thread.detach()
  }

  func carryOut(_ order: ProductionOrder) {
    state.withLock { state in
      if order.supersedesWaiting {
        state.orders.removeAll()
        reads.abandon()
      }
      state.orders.append(order)
    }
    signal.signal()
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    reads.end()
    signal.signal()
  }

  /// The order that ended a read is the first to be taken after it: reads are wanted again.
  private func takeOrder(_ state: inout State) -> (ProductionOrder?, isStopping: Bool) {
    guard !state.orders.isEmpty else { return (nil, state.isStopping) }
    let order = state.orders.removeFirst()
    if order.supersedesWaiting { reads.resume() }
    return (order, state.isStopping)
  }

  private func nextOrder() -> ProductionOrder? {
    while true {
      let (order, isStopping) = state.withLock { state in
        takeOrder(&state)
      }
      if isStopping { return nil }
      if let order { return order }
      signal.wait()
    }
  }
}

/// Ends reads that wait, of sources that somebody else made. All may be called from any thread.
package struct ReadControl: Sendable {
  /// Ends the read under way, which nobody waits for any more, and those that follow until `resume`.
  package var abandon: @Sendable () -> Void
  package var resume: @Sendable () -> Void
  /// Ends reading for good.
  package var end: @Sendable () -> Void

  package init(
    abandon: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void,
    end: @escaping @Sendable () -> Void
  ) {
    self.abandon = abandon
    self.resume = resume
    self.end = end
  }
}
