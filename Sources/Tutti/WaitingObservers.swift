internal import Synchronization

/// Observers of times that were added before there was a renderer to report them.
final class WaitingObservers: Sendable {
  private struct State {
    var waiting: [Int: (wish: TimeObservers.Wish, listener: TimeObservers.Listener)] =
      [:]
    var count = 0
  }

  private let state = Mutex(State())

  deinit { for one in state.withLock({ $0.waiting.values }) { one.listener.finish() } }

  func wait(for wish: TimeObservers.Wish) -> AsyncStream<PlaybackTime> {
    let (stream, listener) = TimeObservers.stream()
    wait(for: wish, listener)
    return stream
  }

  func wait(for wish: TimeObservers.Wish, _ listener: TimeObservers.Listener) {
    let number: Int? = state.withLock { state in
      guard state.waiting.count < TimeObservers.limit else { return nil }
      state.count += 1
      state.waiting[state.count] = (wish, listener)
      return state.count
    }
    guard let number else { return listener.finish() }
    listener.onTermination { [weak self] in self?.forget(number) }
  }

  func hand(to engine: GroupEngine) {
    let all = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for one in all.values { engine.observe(one.wish, one.listener) }
  }

  private func forget(_ number: Int) {
    state.withLock { _ = $0.waiting.removeValue(forKey: number) }
  }
}
