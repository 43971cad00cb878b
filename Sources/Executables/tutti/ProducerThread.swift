import Dispatch
import FFmpegSource
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
  private let interruption: ReadInterruption

  /// - Parameter interruption: that of every source which the serializer opens.
  init(batches: Inbox<ProducedBatch>, interruption: ReadInterruption) {
    self.batches = batches
    self.interruption = interruption
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
        interruption.abandonRead()
      }
      state.orders.append(order)
    }
    signal.signal()
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    interruption.interrupt()
    signal.signal()
  }

  /// The order that ended a read is the first to be taken after it: reads are wanted again.
  private func takeOrder(_ state: inout State) -> (ProductionOrder?, isStopping: Bool) {
    guard !state.orders.isEmpty else { return (nil, state.isStopping) }
    let order = state.orders.removeFirst()
    if order.supersedesWaiting { interruption.readAgain() }
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
