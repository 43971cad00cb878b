import House

/// Follows how far long items are heard, from the states of the groups. Times in milliseconds of the household's clock. For
/// one thread.
struct PlaceWatch {
  /// A place is told again once the music is so much further, in seconds.
  static let step = 30.0
  /// An item counts as heard where no more than this of it is left, in seconds; of a short one, a tenth.
  static let end = 60.0

  struct Place: Equatable {
    var groupId: String
    var item: HouseState.Item
    var seconds: Double
    var durationS: Double? { item.durationS }
    /// True if it was heard to its end.
    var isOver: Bool
  }

  private struct Listening {
    var group: HouseState.Group
    /// The place that was told last.
    var told: Double
  }

  private var groups: [String: Listening] = [:]

  /// True while something plays of which a place may be kept.
  var isWaiting: Bool { groups.values.contains { $0.group.state == .playing } }

  /// Returns the place that is to be kept now, if one is: that of the item that has ended, or of the one that plays.
  mutating func take(_ group: HouseState.Group, at nowMs: Double) -> Place? {
    let before = groups[group.id]
    guard let item = group.item, Self.isKept(item) else {
      groups[group.id] = nil
      return before.flatMap { Self.place($0.group, at: nowMs) }
    }
    guard let before, before.group.item?.entryId == item.entryId else {
      groups[group.id] = Listening(group: group, told: group.positionS)
      return before.flatMap { Self.place($0.group, at: nowMs) }
    }
    groups[group.id]?.group = group
    // A group that was stopped shows the beginning; what counts is how far it was.
    if group.state == .stopped, before.group.state != .stopped {
      groups[group.id]?.told = group.positionS
      return Self.place(before.group, at: nowMs)
    }
    // Until a seek is heard, the place is the one before it.
    guard group.targetS == nil, let place = Self.place(group, at: nowMs),
      abs(place.seconds - before.told) >= Self.step
        || (group.state != .playing && place.seconds != before.told)
    else { return nil }
    groups[group.id]?.told = place.seconds
    return place
  }

  mutating func forget(_ group: String, at nowMs: Double) -> Place? {
    groups.removeValue(forKey: group).flatMap { Self.place($0.group, at: nowMs) }
  }

  /// An item of the library that is short begins anew each time; of an address, it is not known yet what it is.
  private static func isKept(_ item: HouseState.Item) -> Bool {
    !item.isLive && (item.trackId == nil || item.durationS ?? 0 >= Places.shortest)
  }

  private static func place(_ group: HouseState.Group, at nowMs: Double) -> Place? {
    guard let item = group.item else { return nil }
    var seconds = group.positionS
    if group.state == .playing {
      seconds += max(0, nowMs - group.positionAtMs) / 1_000 * group.rate
    }
    guard let length = item.durationS, length > 0 else {
      return Place(groupId: group.id, item: item, seconds: seconds, isOver: false)
    }
    let rest = length - seconds
    return Place(
      groupId: group.id, item: item, seconds: min(seconds, length),
      isOver: rest <= min(end, length / 10))
  }
}
