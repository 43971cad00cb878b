package import Clock

/// The clock of the machine that leads, as the other one knows it by the answers to its words. With it, that one goes on with
/// group time where the leader is gone.
package struct LeaderClock: Sendable {
  private var filter = ClockFilter()

  package init() {}

  /// Takes an exchange of words. Times of the leader are of its monotonic clock.
  package mutating func heard(
    sentAt sent: LocalTime, leaderHeardAt heard: LocalTime, leaderSentAt answered: LocalTime,
    at now: LocalTime
  ) {
    guard
      let sample = TimeSample(
        requestSentAt: sent, requestReceivedAt: GroupTime(ofSender: heard),
        answerSentAt: GroupTime(ofSender: answered), answerReceivedAt: now)
    else { return }
    _ = filter.insert(sample)
  }

  /// Returns the leader's clock less this machine's; nil before the first exchange.
  package func lead(at now: LocalTime) -> Nanoseconds? {
    filter.estimate(at: now).map { Nanoseconds($0.group.nanoseconds - now.nanoseconds) }
  }
}
