package import Clock
import Synchronization

/// How long after it has come what is heard as it happens is heard: as somebody asked for, or as the rooms turn out to
/// need it.
package struct LiveLatency: Sendable {
  /// In ms. The shortest leaves room for three of the shortest periods of a card.
  package static let range = 10...2_000
  /// Where it is chosen while it plays: most radios do with it.
  private static let first = Nanoseconds.milliseconds(100)

  /// What the rooms are told.
  package let start: Nanoseconds
  /// Nil where it stays as it is.
  let goal: LatencyGoal?

  /// Milliseconds, or `auto`; nil for anything else.
  package init?(_ text: String) {
    if text == "auto" {
      start = Self.first
      goal = LatencyGoal(start)
      return
    }
    guard let milliseconds = Int(text), Self.range.contains(milliseconds) else { return nil }
    start = .milliseconds(Int64(milliseconds))
    goal = nil
  }
}

/// The latency that sources are to come to, on their way from the group's thread to theirs.
final class LatencyGoal: Sendable {
  private let count: Atomic<Int64>

  init(_ latency: Nanoseconds) { count = Atomic(latency.count) }

  var latency: Nanoseconds {
    get { Nanoseconds(count.load(ordering: .relaxed)) }
    set { count.store(newValue.count, ordering: .relaxed) }
  }
}
