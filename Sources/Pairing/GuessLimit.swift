package import Clock

/// Limits how often a PIN may be guessed: three times, then once after a delay that doubles from 30 s to an hour. So
/// it takes centuries on average to find one of ten million. Counts over all peers, because addresses and keys cost
/// nothing.
package struct GuessLimit: Hashable, Sendable {
  /// Guesses without a delay: people mistype.
  package static let free = 3
  /// Doubled with each wrong guess, up to `longestDelay`.
  package static let firstDelay = Nanoseconds.seconds(30)
  package static let longestDelay = Nanoseconds.seconds(3600)

  /// Wrong guesses since the last right PIN. Kept over restarts; more than `mostCounted` make no difference.
  package private(set) var wrong: Int
  /// Time of the last wrong guess. Nil after a restart, which must not shorten a delay: it begins anew.
  private var last: LocalTime?

  package init(wrong: Int = 0) { self.wrong = max(0, min(wrong, Self.mostCounted)) }

  /// Far beyond the guess from which on the delay grows no more, the tenth or so.
  private static let mostCounted = 16

  /// Returns the time until the next guess may be made.
  package mutating func wait(at now: LocalTime) -> Nanoseconds {
    guard wrong >= Self.free else { return .zero }
    let since = last ?? now
    last = since
    return max(.zero, since + delay - now)
  }

  package mutating func count(at now: LocalTime) {
    wrong = min(wrong + 1, Self.mostCounted)
    last = now
  }

  package mutating func reset() { self = GuessLimit() }

  private var delay: Nanoseconds {
    let doublings = min(wrong - Self.free, 7)
    return min(Self.longestDelay, Nanoseconds(Self.firstDelay.count << doublings))
  }
}
