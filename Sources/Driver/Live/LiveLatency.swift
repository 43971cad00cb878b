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

  /// Returns nil outside of `range`.
  package init?(_ latency: Nanoseconds) {
    let limits = Self.range
    guard latency >= .milliseconds(Int64(limits.lowerBound)),
      latency <= .milliseconds(Int64(limits.upperBound))
    else { return nil }
    (start, isChosen) = (latency, false)
  }

  /// Chosen while playing.
  package static let chosen = LiveLatency(start: first, isChosen: true)

  private init(start: Nanoseconds, isChosen: Bool) {
    (self.start, self.isChosen) = (start, isChosen)
  }

  /// Nil if the latency is fixed.
  package var goal: LatencyGoal? { isChosen ? LatencyGoal(start) : nil }
}

/// The latency to which a source moves: the longest wish of the groups that play it. From any thread.
package final class LatencyGoal: Sendable {
  private let start: Nanoseconds
  private let wishes = Mutex<[ObjectIdentifier: Nanoseconds]>([:])

  init(_ start: Nanoseconds) { self.start = start }

  var latency: Nanoseconds { wishes.withLock { $0.values.max() } ?? start }

  fileprivate func set(_ latency: Nanoseconds?, of wish: LatencyWish) {
    wishes.withLock { $0[ObjectIdentifier(wish)] = latency }
  }
}

/// A group's wish for the source that it plays. From any thread.
package final class LatencyWish: Sendable {
  /// The goal of the source, and how many items of the group play it: one that begins anew does so before the one before
  /// it ends.
  private let playing = Mutex<(goal: LatencyGoal, items: Int)?>(nil)

  package init() {}

  /// Notes that the group starts to play the source.
  package func begin(_ goal: LatencyGoal) {
    playing.withLock { playing in
      let items = playing?.goal === goal ? playing?.items ?? 0 : 0
      playing = (goal, items + 1)
    }
  }

  package func hold(_ latency: Nanoseconds) {
    playing.withLock { $0?.goal.set(latency, of: self) }
  }

  /// Notes that the group plays the source once less.
  package func end(_ goal: LatencyGoal) {
    let goesOn = playing.withLock { playing in
      guard let now = playing, now.goal === goal else { return false }
      playing = now.items > 1 ? (goal, now.items - 1) : nil
      return playing != nil
    }
    if !goesOn { goal.set(nil, of: self) }
  }
}
