import Dispatch
import LinuxIO
import Sender
import Synchronization

/// Runs a `Serializer` on a thread of its own, because opening and reading files may take long. Some orders
/// make those that wait obsolete, so that a seek never queues behind a long portion.
final class ProducerThread: Sendable {
  private struct State {
    var orders: [ProductionOrder] = []
    var isStopping = false
  }

  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)
  private let batches: Inbox<ProducedBatch>

  init(batches: Inbox<ProducedBatch>) {
    self.batches = batches
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
      if order.supersedesWaiting { state.orders.removeAll() }
      state.orders.append(order)
    }
    signal.signal()
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    signal.signal()
  }

  private func nextOrder() -> ProductionOrder? {
    while true {
      let (order, isStopping) = state.withLock { state in
        (state.orders.isEmpty ? nil : state.orders.removeFirst(), state.isStopping)
      }
      if isStopping { return nil }
      if let order { return order }
      signal.wait()
    }
  }
}
