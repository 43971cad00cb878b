internal import Synchronization

/// One sender of events, any number of listeners. Each listener has a bounded buffer of its own.
final class EventHub<Event: Sendable>: Sendable {
  /// Events that a listener may leave untaken; the oldest go first, so that it wakes up in the present.
  static var bound: Int { 1024 }

  private struct State {
    var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
    var count = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Events from now on, until the end or until nobody iterates it any more.
  func stream() -> AsyncStream<Event> {
    let (stream, listener) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(Self.bound))
    let number: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.count += 1
      state.listeners[state.count] = listener
      return state.count
    }
    guard let number else {
      listener.finish()
      return stream
    }
    listener.onTermination = { [weak self] _ in self?.forget(number) }
    return stream
  }

  func send(_ event: Event) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
  }

  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }

  private func forget(_ number: Int) { state.withLock { $0.listeners[number] = nil } }
}
