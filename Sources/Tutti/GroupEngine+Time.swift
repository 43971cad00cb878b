internal import Clock
internal import Driver
internal import LinuxIO
internal import Sender
internal import Synchronization

/// Numbers of observers and waiters.
private let lastNumber = Atomic<Int>(0)

extension GroupEngine {
  static func nextNumber() -> Int {
    lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }

  func observe(
    _ wish: TimeObservers.Wish, from beginning: HostTime = HostTime(nanoseconds: 0)
  ) -> AsyncStream<PlaybackTime> {
    let (stream, listener) = TimeObservers.stream()
    observe(wish, listener, from: beginning)
    return stream
  }

  /// - Parameter beginning: nothing is reported before this instant.
  func observe(
    _ wish: TimeObservers.Wish, _ listener: TimeObservers.Listener,
    from beginning: HostTime = HostTime(nanoseconds: 0)
  ) {
    let number = Self.nextNumber()
    listener.onTermination { [weak self] in
      self?.post { $0.observers.remove(number) }
    }
    let refusal = offer { $0.observers.add(number, wish, listener, from: beginning.local) }
    if refusal != nil { listener.finish() }
  }

  func positions(every interval: Duration) -> AsyncStream<PlaybackTime> {
    observe(.times(every: interval))
  }

  func ticks(every interval: Duration) -> AsyncStream<PlaybackTick> {
    let (stream, listener) = TimeObservers.tickStream()
    observe(.times(every: interval), listener)
    return stream
  }

  func boundaries(_ places: [PlaybackTime]) -> AsyncStream<PlaybackTime> {
    observe(.boundaries(places))
  }

  func presentationTime(of position: PlaybackTime) async throws(TuttiError) -> HostTime? {
    try await perform { loop in
      loop.driver.session.presentationTime(of: position.span, at: HostClock.now).map(HostTime.init)
    }
  }

  /// Waits until a condition holds, and the rooms could play.
  ///
  /// - Throws: `TuttiError.notReady` if that takes until the deadline; `closed`, `cancelled`.
  func waitUntil(
    _ isPrimed: @escaping GroupLoop.Condition, deadline: HostTime? = nil
  ) async throws(TuttiError) {
    let number = Self.nextNumber()
    let cancellation = Cancellation()
    let priming: GroupLoop.Priming = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        let obstacle = offer { loop in
          loop.whenPrimed(number, isPrimed, deadline?.local) { answer.resume(returning: $0) }
          // A task that was cancelled before has told nobody whom it could stop.
          if cancellation.isSet { loop.stopWaiting(number) }
        }
        if obstacle != nil { answer.resume(returning: .ended) }
      }
    } onCancel: {
      cancellation.set()
      post { $0.stopWaiting(number) }
    }
    switch priming {
    case .ready: return
    case .overdue: throw .notReady
    case .ended: throw Task.isCancelled ? .cancelled : .closed
    }
  }
}
