import Clock

/// Tells surfaces what has changed, but not too often, and remembers sync errors for them.
struct NewsDesk {
  /// Time between two changes that nobody has asked for.
  private static let interval = Nanoseconds.milliseconds(100)

  var hasNews = true
  private(set) var nextNews: LocalTime
  private var news = HouseNews()
  private(set) var syncHistory = SyncHistory()

  init(at now: LocalTime) { nextNews = now }

  /// Returns what has changed; the state gets its revision.
  mutating func change(to state: inout HouseState, at now: LocalTime) -> HouseChange? {
    (hasNews, nextNews) = (false, now + Self.interval)
    syncHistory.note(state)
    return news.change(to: &state)
  }
}
