import Clock
import Sender

extension HouseState.Group {
  /// A position further off than this from where it should be has been moved, in seconds.
  private static let leap = 0.3

  /// Where the music is, in seconds of the item.
  package func elapsed(at nowMs: Double) -> Double {
    if let targetS { return targetS }
    let moved = state == .playing ? max(0, nowMs - positionAtMs) / 1000 * rate : 0
    return min(positionS + moved, item?.durationS ?? .infinity)
  }

  /// How late a station is heard that was paused or sought back, in seconds; nil if it is not.
  package func behindLive(at nowMs: Double) -> Double? {
    guard let liveS else { return nil }
    let position = MediaDuration(seconds: elapsed(at: nowMs))
    let live = MediaDuration(seconds: liveS)
    return KeptStretch(from: .zero, live: live).lateness(at: position)?.seconds
  }

  /// True if somebody has moved the position.
  package func hasLeapt(since old: Self) -> Bool {
    if targetS != old.targetS { return true }
    let elapsed = old.state == .playing ? (positionAtMs - old.positionAtMs) / 1000 * old.rate : 0
    return abs(old.positionS + elapsed - positionS) > Self.leap
  }
}

extension HouseState {
  package mutating func apply(_ change: HouseChange) {
    (revision, nowMs) = (change.revision, change.nowMs)
    for group in change.groups {
      if let place = groups.firstIndex(where: { $0.id == group.id }) {
        groups[place] = group
      } else {
        groups.append(group)
      }
    }
    for room in change.rooms {
      if let place = rooms.firstIndex(where: { $0.id == room.id }) {
        rooms[place] = room
      } else {
        rooms.append(room)
      }
    }
    groups.removeAll { change.removedGroups.contains($0.id) }
    rooms.removeAll { change.removedRooms.contains($0.id) }
    library = change.library ?? library
    server = change.server ?? server
  }

  /// True while a room of it has never answered, so that the group's name has an address in it.
  package func isCalledByAddress(_ group: Group) -> Bool {
    !group.isNamed && rooms.contains { $0.groupId == group.id && $0.name == $0.id }
  }
}
