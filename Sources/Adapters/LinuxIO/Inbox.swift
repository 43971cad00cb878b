internal import Synchronization

/// Values from other threads to the thread of a `Reactor`, in order. Posting wakes the reactor, which reports
/// `woken`; its thread then takes what is there.
package final class Inbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let dropped = Atomic<Int>(0)
  private let limit: Int
  private let waker: Waker

  /// More than `limit` untaken values are dropped, the newest first, and counted.
  package init(limit: Int, waker: Waker) {
    self.limit = limit
    self.waker = waker
  }

  package var droppedCount: Int { dropped.load(ordering: .relaxed) }

  /// Whether the next value is kept. Where only one thread posts, that cannot change to false under its hands.
  package var hasRoom: Bool { room > 0 }

  /// How many more values are kept.
  package var room: Int { elements.withLock { limit - $0.count } }

  /// From any thread but a render thread.
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
