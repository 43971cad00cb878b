internal import Clock
internal import Glibc
internal import Synchronization

/// Does slow work, such as writing to a slow disk, on a thread of its own. Of the values that arrive meanwhile it
/// handles only the newest, so that nothing queues and no caller waits.
package final class NewestValueThread<Value: Sendable>: Sendable {
  private struct State {
    var next: Value?
    var isBusy = false
    var isEnding = false
  }

  /// Shared by the thread and its owner.
  private final class Shared: Sendable {
    let state = Mutex(State())
    let news: Waker
    let rest: Waker

    init() throws(IOError) {
      news = try Waker()
      rest = try Waker()
    }
  }

  private let shared: Shared

  /// Calls `makeWork` once on the new thread. Calls its result for each value, there too.
  package init(
    name: String, _ makeWork: @escaping @Sendable () -> (Value) -> Void
  ) throws(IOError) {
    let shared = try Shared()
    self.shared = shared
    let thread = try RealtimeThread.start(name: name, priority: nil) {
      Self.run(shared, makeWork())
    }
    thread.detach()
  }

  deinit {
    shared.state.withLock { $0.isEnding = true }
    shared.news.wake()
  }

  /// Posts a value, which replaces one whose work has not begun. From any thread; never waits.
  package func post(_ value: Value) {
    shared.state.withLock { $0.next = value }
    shared.news.wake()
  }

  /// Waits until all work is done, at most this long. Returns false if it is not. For one thread.
  package func finish(within milliseconds: Int32) -> Bool {
    let deadline = HostClock.now.nanoseconds + Int64(milliseconds) * 1_000_000
    while true {
      shared.rest.clear()
      if shared.state.withLock({ $0.next == nil && !$0.isBusy }) { return true }
      let left = (deadline - HostClock.now.nanoseconds) / 1_000_000
      guard left > 0 else { return false }
      Self.wait(for: shared.rest, milliseconds: Int32(clamping: left))
    }
  }

  private static func run(_ shared: Shared, _ work: (Value) -> Void) {
    while true {
      let (value, isEnding) = shared.state.withLock { state in
        defer { state.next = nil }
        state.isBusy = state.next != nil
        return (state.next, state.isEnding)
      }
      if let value {
        work(value)
        continue
      }
      shared.rest.wake()
      if isEnding { return }
      wait(for: shared.news, milliseconds: -1)
      shared.news.clear()
    }
  }

  private static func wait(for waker: Waker, milliseconds: Int32) {
    var event = pollfd(fd: waker.descriptor.number, events: Int16(POLLIN), revents: 0)
    poll(&event, 1, milliseconds)
  }
}
