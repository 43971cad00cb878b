import Clock
import Dispatch
import LinuxIO
import Sender
import Synchronization

/// Runs a `Serializer` on a thread of its own, because opening and reading files may take long. Some orders make
/// those that wait obsolete and end a read that waits for the network, so that a seek never queues behind a long
/// portion or a silent server.
///
/// Nothing ends the C library's look-up of a name, which takes half a minute where no resolver answers. A thread that
/// does not come back from the network is left behind with all that it has opened, and another one takes its orders.
final class ProducerThread: Sendable {
  /// FFmpeg asks ten times a second whether to go on.
  static let patience = Nanoseconds.milliseconds(250)
  /// Threads left behind at most; the next order waits for the first of them that ends.
  static let abandonedLimit = 8
  /// Batches that the session has not taken yet. With so many the producer waits: each of them is needed.
  static let batchLimit = 64

  private struct State {
    var orders: [ProductionOrder] = []
    var isStopping = false
    /// The number of the thread that works; those before it are left behind.
    var worker = 0
    var abandonedCount = 0
    var isBusy = false
    /// Since when an order waits that has made the one under way obsolete.
    var obsoleteSince: LocalTime?
  }

  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)
  private let batches: Inbox<ProducedBatch>
  private let reads: ReadControl
  private let makeSerializer: @Sendable () -> Serializer

  /// - Parameters:
  ///   - reads: that of every source which the serializer opens.
  ///   - makeSerializer: called on each new thread.
  init(
    batches: Inbox<ProducedBatch>, reads: ReadControl,
    makeSerializer: @escaping @Sendable () -> Serializer
  ) {
    self.batches = batches
    self.reads = reads
    self.makeSerializer = makeSerializer
  }

  func start() throws(IOError) { try start(worker: 0) }

  private func start(worker: Int) throws(IOError) {
    let thread = try RealtimeThread.start(name: "producer", priority: nil) { [self] in
      let serializer = makeSerializer()
      serializer.giveEarly = { [self] in postEarly($0, of: worker) }
      var urgency = ThreadUrgency(priority: LiveFeed.priority)
      while let order = nextOrder(of: worker) {
        post(serializer.carryOut(order), of: worker)
        urgency.follow(serializer.isLive)
      }
    }
    thread.detach()
  }

  func carryOut(_ order: ProductionOrder, at now: LocalTime) {
    state.withLock { state in
      if order.supersedesWaiting {
        state.orders.removeAll()
        if state.isBusy { state.obsoleteSince = now }
        reads.abandon()
      }
      state.orders.append(order)
    }
    signal.signal()
  }

  /// The session has taken batches: there is room for more.
  func tookBatches() { signal.signal() }

  func stop() {
    state.withLock { $0.isStopping = true }
    reads.end()
    signal.signal()
  }

  // MARK: - A thread that does not come back

  /// When to call `replaceIfStuck`.
  var deadline: LocalTime? { state.withLock { $0.obsoleteSince.map { $0 + Self.patience } } }

  func replaceIfStuck(at now: LocalTime) {
    let worker = state.withLock { state in replacement(in: &state, at: now) }
    guard let worker else { return }
    do throws(IOError) {
      try start(worker: worker)
    } catch {
      // Without a thread there is nothing to be left behind; the next attempt comes by the same way.
      state.withLock { state in
        state.abandonedCount -= 1
        state.obsoleteSince = now
      }
    }
  }

  private func replacement(in state: inout State, at now: LocalTime) -> Int? {
    guard let since = state.obsoleteSince, since + Self.patience <= now, !state.isStopping else {
      return nil
    }
    // What computes comes to its end; and what cannot be helped is looked at again.
    guard reads.isWaiting(), state.abandonedCount < Self.abandonedLimit else {
      state.obsoleteSince = now
      return nil
    }
    reads.disown()
    state.abandonedCount += 1
    state.worker += 1
    state.obsoleteSince = nil
    return state.worker
  }

  private func post(_ batch: ProducedBatch, of worker: Int) {
    state.withLock { state in
      if state.worker == worker { batches.post(batch) }
    }
  }

  /// The order that made it makes another batch, for which a place is left. False where there is none.
  private func postEarly(_ batch: ProducedBatch, of worker: Int) -> Bool {
    state.withLock { state in
      guard state.worker == worker, batches.room > 1 else { return false }
      batches.post(batch)
      return true
    }
  }

  // MARK: - Orders

  /// Nil where the thread is to end.
  private func nextOrder(of worker: Int) -> ProductionOrder? {
    while true {
      let (order, isOver) = state.withLock { state in takeOrder(&state, of: worker) }
      if isOver { return nil }
      if let order { return order }
      signal.wait()
    }
  }

  /// The order that ended a read is the first to be taken after it: reads are wanted again.
  private func takeOrder(
    _ state: inout State, of worker: Int
  ) -> (ProductionOrder?, isOver: Bool) {
    guard state.worker == worker else {
      state.abandonedCount -= 1
      return (nil, true)
    }
    state.isBusy = false
    state.obsoleteSince = nil
    guard !state.isStopping, !state.orders.isEmpty, batches.hasRoom else {
      return (nil, state.isStopping)
    }
    let order = state.orders.removeFirst()
    state.isBusy = true
    if order.supersedesWaiting { reads.resume() }
    return (order, false)
  }
}

/// Ends reads that wait, of sources that somebody else made. All may be called from any thread.
package struct ReadControl: Sendable {
  /// Ends the read under way, which nobody waits for any more, and those that follow until `resume`.
  package var abandon: @Sendable () -> Void
  package var resume: @Sendable () -> Void
  /// Ends reading for good.
  package var end: @Sendable () -> Void
  /// Whether a read is under way that may not find out that it was abandoned.
  package var isWaiting: @Sendable () -> Bool
  /// Gives up what was opened so far, with the thread that reads it.
  package var disown: @Sendable () -> Void

  package init(
    abandon: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void,
    end: @escaping @Sendable () -> Void, isWaiting: @escaping @Sendable () -> Bool = { false },
    disown: @escaping @Sendable () -> Void = {}
  ) {
    self.abandon = abandon
    self.resume = resume
    self.end = end
    self.isWaiting = isWaiting
    self.disown = disown
  }
}
