/// Hours of each day in which rooms are no louder than a limit, by the clock on the wall.
package struct NightHours: Codable, Hashable, Sendable {
  /// Minutes of the day, 0 to 1439. One that ends before it begins goes on until the next day.
  package var fromMinute: Int
  package var toMinute: Int
  /// Within `RoomChange.volumeLimits`.
  package var volumeLimit: Double

  package init(fromMinute: Int, toMinute: Int, volumeLimit: Double) {
    (self.fromMinute, self.toMinute) = (fromMinute, toMinute)
    self.volumeLimit = volumeLimit
  }

  package var fromText: String { Alarm.text(ofMinute: fromMinute) }
  package var toText: String { Alarm.text(ofMinute: toMinute) }

  /// Throws if a value is out of range.
  package func check() throws(Refusal) {
    let minutes = 0..<1_440
    guard minutes.contains(fromMinute), minutes.contains(toMinute) else {
      throw .invalid("night begins and ends at 00:00 to 23:59")
    }
    guard fromMinute != toMinute else {
      throw .invalid("a night ends at another time than it begins")
    }
    guard RoomChange.volumeLimits.contains(volumeLimit) else {
      throw .invalid("a volume limit is \(RoomChange.volumeLimits.text)")
    }
  }
}

extension NightHours {
  /// True if clocks on the wall show an hour of the night at this time.
  package func contain(_ time: WallTime, in zone: any CivilTime) -> Bool {
    let minutes = (time.seconds + zone.offset(at: time)) / 60
    let minute = Int((minutes % 1_440 + 1_440) % 1_440)
    return fromMinute < toMinute
      ? (fromMinute..<toMinute).contains(minute) : minute >= fromMinute || minute < toMinute
  }
}
