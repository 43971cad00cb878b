package import Clock
import Synchronization

/// How long after it has come what is heard as it happens is heard: as somebody asked for, or as the rooms turn out to
/// need it.
package struct LiveLatency: Hashable, Sendable {
  /// In ms. The shortest leaves room for three of the shortest periods of a card.
  package static let range = 10...2_000
  /// Where it is chosen while it plays: most radios do with it.
  private static let first = Nanoseconds.milliseconds(100)

  /// What the rooms are told.
  package let start: Nanoseconds
  /// Whether it changes while it plays.
  package let isChosen: Bool

  /// Milliseconds, or `auto`; nil for anything else.
  package init?(_ text: String) {
    if text == "auto" {
      (start, isChosen) = (Self.first, true)
      return
    }
    guard let milliseconds = Int(text), Self.range.contains(milliseconds) else { return nil }
    (start, isChosen) = (.milliseconds(Int64(milliseconds)), false)
  }

  /// Nil where it stays as it is.
  var goal: LatencyGoal? { isChosen ? LatencyGoal(start) : nil }
}

/// The latency that a source is to come to: the longest that is wished by a group which plays it. From any thread.
final class LatencyGoal: Sendable {
  private let start: Nanoseconds
  private let wishes = Mutex<[ObjectIdentifier: Nanoseconds]>([:])

  init(_ start: Nanoseconds) { self.start = start }

  var latency: Nanoseconds { wishes.withLock { $0.values.max() } ?? start }

  fileprivate func set(_ latency: Nanoseconds?, of wish: LatencyWish) {
    wishes.withLock { $0[ObjectIdentifier(wish)] = latency }
  }
}

/// What a group wishes of the source that it plays. From any thread.
final class LatencyWish: Sendable {
  private let goal = Mutex<LatencyGoal?>(nil)

  /// The group begins to play it.
  func begin(_ goal: LatencyGoal) { self.goal.withLock { $0 = goal } }

  func hold(_ latency: Nanoseconds) { goal.withLock { $0?.set(latency, of: self) } }

  /// The group plays it no more.
  func end(_ goal: LatencyGoal) {
    self.goal.withLock { if $0 === goal { $0 = nil } }
    goal.set(nil, of: self)
  }
}
