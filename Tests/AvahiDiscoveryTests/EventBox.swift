import Dispatch
import Synchronization
import TestSupport

/// Collects events from Avahi's thread, for a test that waits for one.
final class EventBox<Event: Sendable>: Sendable {
  private let events = Mutex<[Event]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  func put(_ event: Event) {
    events.withLock { $0.append(event) }
    arrivals.signal()
  }

  /// Removes events up to the first that `pick` accepts, and returns the result of `pick`. Announcing a service takes
  /// about a second; half a minute means never.
  func next<Value>(_ what: String, _ pick: (Event) -> Value?) throws -> Value {
    let deadline = DispatchTime.now() + .seconds(30)
    var passed: [Event] = []
    while true {
      while let event = events.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        if let value = pick(event) { return value }
        passed.append(event)
      }
      guard arrivals.wait(timeout: deadline) == .success else {
        throw Missing(description: "no \(what) among \(passed)")
      }
    }
  }
}

extension EventBox where Event: Equatable {
  func next(_ event: Event) throws {
    let _: Bool = try next("\(event)") { $0 == event ? true : nil }
  }
}
