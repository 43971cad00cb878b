import Clock

/// A time in which all rooms stand still at the same frame, because the source is late.
struct Standstill {
  /// Decides how much audio ends it.
  var reserve = Reserve()
  /// None begins before this time, because the rooms cannot keep another anchor; nil if they can.
  private(set) var earliest: LocalTime?
  /// The time at which people are told of it if it lasts; nil once they were told.
  private(set) var tellingTime: LocalTime?

  mutating func postpone(to time: LocalTime) { earliest = time }

  mutating func began(tellingAt time: LocalTime) { (earliest, tellingTime) = (nil, time) }

  mutating func tell(at time: LocalTime) { tellingTime = time }

  mutating func told() { tellingTime = nil }

  /// Returns true if people were told of it.
  mutating func end() -> Bool {
    defer { tellingTime = nil }
    return tellingTime == nil
  }
}
