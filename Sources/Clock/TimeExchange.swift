/// The bounds of the offset of the group's clock from the local one, from one completed time exchange.
///
/// A request leaves at `t1` (local) and arrives at `t2` (group); its answer leaves at `t3` (group) and arrives at
/// `t4` (local). No packet arrives before it was sent, so the offset, group minus local, lies between `lowerOffset`
/// and `upperOffset`. A stamp that is taken late only widens that interval.
package struct TimeSample: Hashable, Sendable {
  /// The time at which the answer arrived: `t4`.
  package let arrival: LocalTime
  /// `t2 - t1`: the offset plus the delay of the request.
  package let upperOffset: Nanoseconds
  /// `t3 - t4`: the offset minus the delay of the answer.
  package let lowerOffset: Nanoseconds

  /// No monotonic clock is farther from zero than 2^60 ns, which is 36 years since boot. The limit keeps each
  /// difference of two offsets within an `Int64`. Guarded by `TimeExchangeTests`.
  static let stampLimit: Int64 = 1 << 60

  /// Longest useful round trip, in nanoseconds: while music plays, requests are sent more often than once a second.
  /// Guarded by `TimeExchangeTests`.
  static let longestRoundTrip: Int64 = 1_000_000_000

  /// Returns `nil` for stamps that no exchange can have produced, or that took longer than a second.
  package init?(
    requestSentAt t1: LocalTime, requestReceivedAt t2: GroupTime, answerSentAt t3: GroupTime,
    answerReceivedAt t4: LocalTime
  ) {
    for stamp in [t1.nanoseconds, t2.nanoseconds, t3.nanoseconds, t4.nanoseconds] {
      guard stamp > -Self.stampLimit, stamp < Self.stampLimit else { return nil }
    }
    let held = t3.nanoseconds - t2.nanoseconds
    let roundTrip = t4.nanoseconds - t1.nanoseconds - held
    guard held >= 0, held <= Self.longestRoundTrip else { return nil }
    guard roundTrip >= 0, roundTrip <= Self.longestRoundTrip else { return nil }
    arrival = t4
    upperOffset = Nanoseconds(t2.nanoseconds - t1.nanoseconds)
    lowerOffset = Nanoseconds(t3.nanoseconds - t4.nanoseconds)
  }

  /// The time that both packets spent on their way, in 0...1 s.
  package var roundTrip: Nanoseconds { upperOffset - lowerOffset }

  /// The local time to which the sample belongs: half a round trip before the answer arrived.
  package var midpoint: LocalTime { arrival - Nanoseconds(roundTrip.count / 2) }
}
