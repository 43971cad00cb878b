internal import Synchronization

/// An event that may concern a room.
protocol RoomTelling: Sendable {
  var room: RoomEvent? { get }
}

/// Sends events to any number of listeners. Each listener has a bounded buffer of its own, and starts with the last
/// events of each room.
final class EventHub<Event: RoomTelling>: Sendable {
  /// Largest number of untaken events per listener; the oldest go first, so that a late listener gets the newest.
  static var bound: Int { 1024 }
  /// Largest number of listeners; further ones get an empty sequence.
  static var listenerLimit: Int { 1024 }

  private struct State {
    var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
    var count = 0
    /// At most two events for each room: one about its connection, and one about its state.
    var lately: [Event] = []
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Returns the last events of each room, then events from now on, until the end or until the sequence is dropped.
  func stream() -> AsyncStream<Event> {
    let (stream, listener) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(Self.bound))
    let number: Int? = state.withLock { state in
      guard !state.isFinished, state.listeners.count < Self.listenerLimit else { return nil }
      state.count += 1
      state.listeners[state.count] = listener
      for event in state.lately { listener.yield(event) }
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
    state.withLock { state in
      remember(event, in: &state)
      for listener in state.listeners.values { listener.yield(event) }
    }
  }

  private func remember(_ event: Event, in state: inout State) {
    guard let room = event.room else { return }
    state.lately.removeAll { $0.room?.isOutdated(by: room) ?? false }
    if room.change != .flushedAutomatically { state.lately.append(event) }
  }

  /// Forgets the events of a room that no longer plays here.
  func forget(_ room: Room.ID) {
    state.withLock { $0.lately.removeAll { $0.room?.id == room } }
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
