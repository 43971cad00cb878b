import Clock
import Dispatch
import LinuxIO
import Sender
import Synchronization

/// Runs a `Serializer` on a thread of its own, because opening and reading files may take long. Some orders make
/// those that wait obsolete, end a read that waits for the network, and end the portion under way where it is not needed
/// any more, so that a seek never queues behind a long portion or a silent server.
///
/// A name look-up of the C library cannot be ended, and takes half a minute if no resolver answers. A thread that
/// does not return from the network is left behind with all that it has opened, and another one takes its orders.
final class ProducerThread: Sendable {
  /// Timeout after which a thread counts as stuck. FFmpeg asks ten times per second if it should continue.
  static let timeout = Nanoseconds.milliseconds(250)
  /// Largest number of threads left behind; beyond it, the next order waits until one of them ends.
  static let abandonedLimit = 8
  /// Largest number of batches that the session has not taken. At this number the producer waits, because each of
  /// them is needed.
  /// them is needed.
  static let batchLimit = 64

  private struct State {
    var orders: [ProductionOrder] = []
    var isStopping = false
    /// Number of the working thread; earlier ones were left behind.
    var worker = 0
    var abandonedCount = 0
    var isBusy = false
    /// Time since which an order waits that made the present one obsolete.
    var obsoleteSince: LocalTime?
  }

  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)
  private let batches: Inbox<ProducedBatch>
  private let reads: ReadControl
  private let makeSerializer: @Sendable () -> Serializer

  /// - Parameters:
  ///   - reads: controls the reads of every source that the serializer opens.
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
      serializer.isObsolete = { [self] in isObsolete($0) }
      var urgency = ThreadUrgency(priority: LiveFeed.priority)
      while let order = nextOrder(of: worker) {
        post(serializer.produce(order), of: worker)
        urgency.follow(serializer.isLive)
      }
    }
    thread.detach()
  }

  func produce(_ order: ProductionOrder, at now: LocalTime) {
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

  /// Notes that the session has taken batches, so that there is space for more.
  func tookBatches() { signal.signal() }

  func stop() {
    state.withLock { $0.isStopping = true }
    reads.end()
    signal.signal()
  }

  // MARK: - Stuck threads

  /// Time at which to call `replaceIfStuck`.
  var deadline: LocalTime? { state.withLock { $0.obsoleteSince.map { $0 + Self.timeout } } }

  func replaceIfStuck(at now: LocalTime) {
    let worker = state.withLock { state in replacement(in: &state, at: now) }
    guard let worker else { return }
    do throws(IOError) {
      try start(worker: worker)
    } catch {
      // No thread could be started, so none was left behind; the next deadline tries again.
      state.withLock { state in
        state.abandonedCount -= 1
        state.obsoleteSince = now
      }
    }
  }

  private func replacement(in state: inout State, at now: LocalTime) -> Int? {
    guard let since = state.obsoleteSince, since + Self.timeout <= now, !state.isStopping else {
      return nil
    }
    // A thread that computes comes to its end; otherwise, if too many were left behind, look again later.
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

  /// Posts a batch, and leaves a place for the next one of the same order. Returns false if there is no space.
  private func postEarly(_ batch: ProducedBatch, of worker: Int) -> Bool {
    state.withLock { state in
      guard state.worker == worker, batches.room > 1 else { return false }
      batches.post(batch)
      return true
    }
  }

  // MARK: - Orders

  /// Returns true if an order waits after which nothing from `time` on is needed.
  private func isObsolete(_ time: MediaTime) -> Bool {
    state.withLock { state in state.orders.contains { $0.cut.map { $0 <= time } ?? false } }
  }

  /// Returns the next order, or nil if the thread must end.
  private func nextOrder(of worker: Int) -> ProductionOrder? {
    while true {
      let (order, isOver) = state.withLock { state in takeOrder(&state, of: worker) }
      if isOver { return nil }
      if let order { return order }
      signal.wait()
    }
  }

  /// Takes an order. The one that ended a read is taken first after it, and allows reads again.
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

/// Ends waiting reads of sources that another object made. All closures may be called from any thread.
package struct ReadControl: Sendable {
  /// Ends the present read, which nobody needs any more, and later ones until `resume`.
  package var abandon: @Sendable () -> Void
  package var resume: @Sendable () -> Void
  /// Ends reading for good.
  package var end: @Sendable () -> Void
  /// Returns true if a read is in progress that may not notice that it was abandoned.
  package var isWaiting: @Sendable () -> Bool
  /// Disowns everything opened so far, with the thread that reads it.
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
