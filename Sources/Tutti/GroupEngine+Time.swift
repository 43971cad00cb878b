internal import Clock
internal import Driver
internal import LinuxIO
internal import Sender
internal import Synchronization

/// Numbers for those who ask to be told or to wait.
private let lastNumber = Atomic<Int>(0)

extension GroupEngine {
  private static func nextNumber() -> Int {
    lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// The places that are told are kept up to 64 of them while nobody takes them, the newest.
  func observe(_ wish: TimeObservers.Wish) -> AsyncStream<PlaybackTime> {
    let number = Self.nextNumber()
    let (stream, listener) = AsyncStream.makeStream(
      of: PlaybackTime.self, bufferingPolicy: .bufferingNewest(64))
    listener.onTermination = { [weak self] _ in
      self?.post { $0.observers.remove(number) }
    }
    let isTaken = post { $0.observers.add(number, wish, listener) }
    if !isTaken { listener.finish() }
    return stream
  }

  func positions(every interval: Duration) -> AsyncStream<PlaybackTime> {
    observe(.every(max(interval, .milliseconds(1)).flicks))
  }

  func boundaries(_ places: [PlaybackTime]) -> AsyncStream<PlaybackTime> {
    observe(.places(places.sorted()))
  }

  func presentationTime(of position: PlaybackTime) async throws(TuttiError) -> HostTime? {
    try await perform { loop in
      loop.driver.session.presentationTime(of: position.span, at: HostClock.now).map(HostTime.init)
    }
  }

  /// Until there is something to play and a room that could play it.
  ///
  /// - Throws: `TuttiError.closed`, `cancelled`.
  func waitUntilPrimed() async throws(TuttiError) {
    let number = Self.nextNumber()
    let isPrimed = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        let isTaken = post { loop in
          loop.whenPrimed(number) { answer.resume(returning: $0) }
        }
        if !isTaken { answer.resume(returning: false) }
      }
    } onCancel: {
      post { $0.stopWaiting(number) }
    }
    guard isPrimed else { throw Task.isCancelled ? .cancelled : .closed }
  }
}
