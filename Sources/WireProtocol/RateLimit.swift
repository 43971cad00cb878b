package import Clock

/// Limits how often a peer may do something: a sustained rate, and a burst after a pause.
package struct RateLimit: Sendable {
  private let interval: Nanoseconds
  private let tolerance: Nanoseconds
  /// The time at which everything admitted so far would be done at the sustained rate.
  private var doneAt = LocalTime(nanoseconds: .min / 2)

  /// Both must be at least 1.
  package init(perSecond rate: Int64, burst: Int64) {
    interval = Nanoseconds(1_000_000_000 / rate)
    tolerance = Nanoseconds((burst - 1) * interval.count)
  }

  /// Counts one more and returns true, or returns false if that is too many.
  package mutating func admits(at now: LocalTime) -> Bool {
    guard doneAt <= now + tolerance else { return false }
    doneAt = max(doneAt, now) + interval
    return true
  }

  /// True if nothing that was admitted counts any more.
  package func isUnused(at now: LocalTime) -> Bool { doneAt <= now }
}
