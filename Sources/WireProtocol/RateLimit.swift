package import Clock

/// How often a peer may do something: so many times a second for ever, and so many at once after a pause.
package struct RateLimit: Sendable {
  private let interval: Nanoseconds
  private let patience: Nanoseconds
  /// When all that was admitted would be done at the sustained rate.
  private var doneAt = LocalTime(nanoseconds: .min / 2)

  /// Both at least 1.
  package init(perSecond rate: Int64, burst: Int64) {
    interval = Nanoseconds(1_000_000_000 / rate)
    patience = Nanoseconds((burst - 1) * interval.count)
  }

  /// Counts one more, unless it is one too many.
  package mutating func admits(at now: LocalTime) -> Bool {
    guard doneAt <= now + patience else { return false }
    doneAt = max(doneAt, now) + interval
    return true
  }

  /// Nothing of it counts any more.
  package func isUnused(at now: LocalTime) -> Bool { doneAt <= now }
}
