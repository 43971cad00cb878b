import Clock

/// When a room is tried: soon after a sound session, then less and less often. The wait grows with the time for which the room
/// has been away, so that it is silent for little longer than it could not be reached.
struct RoomDialling {
  /// A room that has just gone is back in a moment or in a while.
  static let firstRetry = Nanoseconds.milliseconds(250)
  /// The wait is this part of the time since the room went.
  static let retryShare: Int64 = 5
  /// The wait grows up to this.
  static let lastRetry = Nanoseconds.seconds(5)
  /// A refusal is looked at again this much later.
  static let refusedRetry = Nanoseconds.seconds(5)
  /// A room that this sender is not paired with is asked again this much later, for its user may pair meanwhile.
  static let notPairedRetry = Nanoseconds.seconds(60)
  /// A session that has lasted this long with its media connection was sound: the next one is tried at once.
  static let soundSession = Nanoseconds.seconds(3)

  /// The time at which the last sound session broke, or the first attempt; nil while there are news.
  private var brokenSince: LocalTime?

  /// When to try a room of which there are news: it was added, found or asked for.
  mutating func heard(at now: LocalTime) -> LocalTime {
    brokenSince = nil
    return now
  }

  /// When to try again after an attempt or a session that broke.
  mutating func broke(_ session: Nanoseconds?, at now: LocalTime) -> LocalTime {
    // A welcome alone proves little: the media connection may never come about.
    if let session, session >= Self.soundSession { brokenSince = nil }
    let since = brokenSince ?? now
    brokenSince = since
    let wait = Nanoseconds((now - since).count / Self.retryShare)
    return now + min(max(wait, Self.firstRetry), Self.lastRetry)
  }

  func refused(at now: LocalTime) -> LocalTime { now + Self.refusedRetry }

  func notPaired(at now: LocalTime) -> LocalTime { now + Self.notPairedRetry }
}
