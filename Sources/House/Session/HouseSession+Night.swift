import Clock
import Sender
import WireProtocol

/// Keeps rooms quiet at night. It holds for what this household plays: the limit that a room keeps holds for all, see
/// docs/adr/0031-volumes.md.
extension HouseSession {
  func carryOut(_ order: Order.Night) throws(Refusal) -> Done {
    switch order {
    case .show: return Done(said: night.sentence)
    case .off: night.hours = nil
    case .set(let hours):
      try hours.check()
      night.hours = hours
    }
    desk.hasNews = true
    lookAtNight()
    return Done(said: night.sentence)
  }

  /// Turns rooms down when night begins. When it ends they stay as they are, until somebody turns them up.
  func lookAtNight() {
    night.look(configuration.wall.zone, at: alarms.book.wall(now))
    for group in groupsInOrder where group.player.volumeCap != night.volumeCap {
      group.player.volumeCap = night.volumeCap
      desk.hasNews = true
    }
  }
}

/// The hours of the night, and whether they are now.
struct HouseNight: Hashable {
  var hours: NightHours?
  private(set) var isNow = false

  init(hours: NightHours?) { self.hours = hours }

  mutating func look(_ zone: any CivilTime, at wall: WallTime) {
    isNow = hours?.contain(wall, in: zone) ?? false
  }

  /// The highest volume of now, 0 to 100.
  var volumeCap: Double {
    isNow ? hours?.volumeLimit ?? RoomChange.volumes.upperBound : RoomChange.volumes.upperBound
  }

  var shown: HouseState.Night? { hours.map { HouseState.Night($0, isNow: isNow) } }

  var sentence: String {
    guard let night = shown else { return "no hours of the night are set" }
    let limit = NumberText.short(night.volumeLimit)
    return "night, \(night.from) to \(night.to): volume \(limit) at most" + (isNow ? ", now" : "")
  }
}
