package import Clock
import Synchronization

/// The time from arrival to sound of a live source: fixed by the user, or chosen while it plays.
package struct LiveLatency: Hashable, Sendable {
  /// In ms. The shortest leaves time for three of the shortest periods of a card.
  package static let range = 10...2_000
  /// Initial value if the latency is chosen while playing; it suffices for most radios.
  private static let first = Nanoseconds.milliseconds(100)

  /// The latency that rooms are told at the start.
  package let start: Nanoseconds
  /// True if the latency is chosen while playing.
  package let isChosen: Bool

  /// Reads milliseconds, or `auto`; returns nil for anything else.
  package init?(_ text: String) {
    if text == "auto" {
      (start, isChosen) = (Self.first, true)
      return
    }
    guard let milliseconds = Int(text), Self.range.contains(milliseconds) else { return nil }
    (start, isChosen) = (.milliseconds(Int64(milliseconds)), false)
  }

  /// Nil if the latency is fixed.
  var goal: LatencyGoal? { isChosen ? LatencyGoal(start) : nil }
}

/// The latency to which a source moves: the longest wish of the groups that play it. From any thread.
final class LatencyGoal: Sendable {
  private let start: Nanoseconds
  private let wishes = Mutex<[ObjectIdentifier: Nanoseconds]>([:])

  init(_ start: Nanoseconds) { self.start = start }

  var latency: Nanoseconds { wishes.withLock { $0.values.max() } ?? start }

  fileprivate func set(_ latency: Nanoseconds?, of wish: LatencyWish) {
    wishes.withLock { $0[ObjectIdentifier(wish)] = latency }
  }
}

/// A group's wish for the source that it plays. From any thread.
final class LatencyWish: Sendable {
  private let goal = Mutex<LatencyGoal?>(nil)

  /// Notes that the group starts to play the source.
  func begin(_ goal: LatencyGoal) { self.goal.withLock { $0 = goal } }

  func hold(_ latency: Nanoseconds) { goal.withLock { $0?.set(latency, of: self) } }

  /// Notes that the group plays the source no more.
  func end(_ goal: LatencyGoal) {
    self.goal.withLock { if $0 === goal { $0 = nil } }
    goal.set(nil, of: self)
  }
}
