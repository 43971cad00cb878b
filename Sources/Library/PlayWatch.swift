import House

/// Finds out what was played long enough to count, from the states of the groups. Times in milliseconds of the
/// household's clock. For one thread.
struct PlayWatch {
  /// An item counts after this time of playing, or after half of a shorter one.
  static let threshold = 20_000.0

  /// An item that counts now.
  struct Heard: Equatable {
    var groupId: String
    var item: HouseState.Item
    /// The item's place in the group's queue, from 0.
    var index: Int?
    /// How long ago it began, without pauses.
    var agoMs: Double
  }

  private struct Listening {
    var item: HouseState.Item
    var index: Int?
    var playedMs = 0.0
    /// Since when it plays without a pause.
    var sinceMs: Double?
    var isTold = false
  }

  private var groups: [String: Listening] = [:]

  /// True while an item plays that does not count yet.
  var isWaiting: Bool { groups.values.contains { !$0.isTold && $0.sinceMs != nil } }

  mutating func take(_ group: HouseState.Group, at nowMs: Double) {
    guard let item = group.item else {
      groups[group.id] = nil
      return
    }
    var listening = groups[group.id] ?? Listening(item: item)
    if listening.item.entryId != item.entryId { listening = Listening(item: item) }
    // A station's item has the title of the music in it, which changes.
    (listening.item, listening.index) = (item, group.queue.index)
    if let since = listening.sinceMs { listening.playedMs += max(0, nowMs - since) }
    listening.sinceMs = group.state == .playing ? nowMs : nil
    groups[group.id] = listening
  }

  mutating func forget(_ group: String) { groups[group] = nil }

  /// Returns each item once.
  mutating func heard(at nowMs: Double) -> [Heard] {
    var heard: [Heard] = []
    for (id, var listening) in groups.sorted(by: { $0.key < $1.key }) where !listening.isTold {
      let played = listening.playedMs + (listening.sinceMs.map { nowMs - $0 } ?? 0)
      let half = listening.item.durationS.map { $0 * 500 } ?? .infinity
      guard played > 0, played >= min(Self.threshold, half) else { continue }
      listening.isTold = true
      groups[id] = listening
      heard.append(
        Heard(groupId: id, item: listening.item, index: listening.index, agoMs: played))
    }
    return heard
  }
}
