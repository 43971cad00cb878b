package import Clock

/// Limits how often a receiver says its PIN aloud: three times in an hour, over all who ask, so that nobody on the network
/// can make a room talk all day. A restart of the receiver forgets the count.
package struct SpeechLimit: Hashable, Sendable {
  package static let perHour = 3
  /// Longer than it takes to say the PIN twice, so that the receiver never interrupts itself.
  package static let pause = Nanoseconds.seconds(25)
  package static let hour = Nanoseconds.seconds(3600)

  /// The newest times at which it spoke, in order; at most `perHour`.
  private var times: [LocalTime] = []

  package init() {}

  /// Returns the time until it may speak again.
  package func wait(at now: LocalTime) -> Nanoseconds {
    guard let first = times.first, let last = times.last else { return .zero }
    let free =
      times.count < Self.perHour ? last + Self.pause : max(last + Self.pause, first + Self.hour)
    return max(.zero, free - now)
  }

  package mutating func count(at now: LocalTime) {
    times = times.suffix(Self.perHour - 1) + [now]
  }
}
