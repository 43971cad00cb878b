internal import Synchronization

/// Carries values from other threads to the thread of a `Reactor`, in order. Posting wakes the reactor, which
/// reports `woken`; its thread then takes the values.
package final class Inbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let dropped = Atomic<Int>(0)
  private let limit: Int
  private let waker: Waker

  /// Drops and counts new values while `limit` values wait.
  package init(limit: Int, waker: Waker) {
    self.limit = limit
    self.waker = waker
  }

  package var droppedCount: Int { dropped.load(ordering: .relaxed) }

  /// True if the next value will be kept. If only one thread posts, this cannot change to false between its
  /// calls.
  package var hasRoom: Bool { room > 0 }

  /// Number of values that will still be kept.
  package var room: Int { elements.withLock { limit - $0.count } }

  /// From any thread except a render thread.
  package func post(_ element: Element) {
    let isKept = elements.withLock { elements in
      guard elements.count < limit else { return false }
      elements.append(element)
      return true
    }
    if !isKept { dropped.add(1, ordering: .relaxed) }
    waker.wake()
  }

  package func take() -> [Element] {
    elements.withLock { elements in
      defer { elements.removeAll() }
      return elements
    }
  }
}
