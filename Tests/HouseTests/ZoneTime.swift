import Clock
import Foundation
import House

/// The zones of Foundation, which read their rules without glibc.
struct ZoneTime: CivilTime {
  let zone: TimeZone

  init(_ name: String) throws {
    struct NoSuchZone: Error {}
    guard let zone = TimeZone(identifier: name) else { throw NoSuchZone() }
    self.zone = zone
  }

  func offset(at time: WallTime) -> Int64 {
    Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds))))
  }

  /// The times at which an alarm of these days rings, found by watching the clock on the wall for each minute: on each day
  /// it rings when that first shows its time, or a later one.
  ///
  /// - Parameter start: a whole minute.
  func occurrences(
    minute: Int, days: [Weekday], from start: WallTime, to end: WallTime
  ) -> [WallTime] {
    var times: [WallTime] = []
    var second = start.seconds
    var latest = (second + offset(at: start)) / 60
    // Plain steps: these are millions, and tests are built without optimization.
    while second + 60 < end.seconds {
      second += 60
      let shown = (second + offset(at: WallTime(seconds: second))) / 60
      if shown <= latest { continue }
      // The days whose time was passed in this minute: several, where a zone leaves one out.
      var day = latest / 1_440
      while day <= shown / 1_440 {
        let wanted = day * 1_440 + Int64(minute)
        if latest < wanted, wanted <= shown, days.contains(CivilDay(day).weekday),
          times.last != WallTime(seconds: second)
        {
          times.append(WallTime(seconds: second))
        }
        day += 1
      }
      latest = shown
    }
    return times
  }
}
