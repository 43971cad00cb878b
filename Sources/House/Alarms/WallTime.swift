package import Clock

/// An instant of the clock on the wall: nanoseconds of UTC since 1970. People set it, so it may step; no sound goes by it,
/// see docs/adr/0029-alarms.md.
package struct WallTime: Hashable, Comparable, Codable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// - Parameter seconds: since 1970.
  package init(seconds: Int64) { nanoseconds = seconds * 1_000_000_000 }

  /// Seconds since 1970, rounded down.
  package var seconds: Int64 {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? whole - 1 : whole
  }

  package static func < (a: WallTime, b: WallTime) -> Bool { a.nanoseconds < b.nanoseconds }
  package static func + (a: WallTime, b: Nanoseconds) -> WallTime {
    WallTime(nanoseconds: a.nanoseconds + b.count)
  }
  package static func - (a: WallTime, b: WallTime) -> Nanoseconds {
    Nanoseconds(a.nanoseconds - b.nanoseconds)
  }
}

/// The rules of a time zone.
package protocol CivilTime: Sendable {
  /// Seconds by which clocks on the wall are ahead of UTC at this time.
  func offset(at time: WallTime) -> Int64
}

package enum Weekday: String, Codable, CaseIterable, Hashable, Sendable {
  case mon, tue, wed, thu, fri, sat, sun
}

/// A day of the calendar: its number since 1 January 1970.
package struct CivilDay: Hashable, Comparable, Codable, Sendable {
  package var number: Int64

  package init(_ number: Int64) { self.number = number }

  package var weekday: Weekday {
    // 1 January 1970 was a Thursday.
    let place = (number + 3) % 7
    return Weekday.allCases[Int(place < 0 ? place + 7 : place)]
  }

  package static func < (a: CivilDay, b: CivilDay) -> Bool { a.number < b.number }
  package static func + (a: CivilDay, days: Int64) -> CivilDay { CivilDay(a.number + days) }
}

extension CivilTime {
  private static var secondsPerDay: Int64 { 86_400 }

  package func day(at time: WallTime) -> CivilDay {
    let seconds = time.seconds + offset(at: time)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: Self.secondsPerDay)
    return CivilDay(rest < 0 ? days - 1 : days)
  }

  /// Returns the first instant at which clocks show this time of the day, or a later one where they leave it out.
  ///
  /// - Parameter minute: of the day, 0 to 1439.
  package func time(of day: CivilDay, minute: Int) -> WallTime {
    let shown = day.number * Self.secondsPerDay + Int64(minute) * 60
    // No zone is a day away from UTC, and none changes its clocks twice within two days.
    let before = offset(at: WallTime(seconds: shown - Self.secondsPerDay))
    let after = offset(at: WallTime(seconds: shown + Self.secondsPerDay))
    let first = shown - before
    if offset(at: WallTime(seconds: first)) == before { return WallTime(seconds: first) }
    let second = shown - after
    if offset(at: WallTime(seconds: second)) == after { return WallTime(seconds: second) }
    return change(between: second, and: first, from: before)
  }

  /// Returns the next instant after `time` at which clocks show this time of the day.
  ///
  /// - Parameter minute: of the day, 0 to 1439.
  package func next(minute: Int, after time: WallTime) -> WallTime {
    let today = day(at: time)
    let tomorrow = self.time(of: today + 1, minute: minute)
    let times = [self.time(of: today, minute: minute), again(on: today, minute: minute)]
    return times.compactMap(\.self).first { $0 > time } ?? tomorrow
  }

  /// Returns the last instant at which clocks show this time of the day: the second one, where they are set back over it.
  private func again(on day: CivilDay, minute: Int) -> WallTime? {
    let shown = day.number * Self.secondsPerDay + Int64(minute) * 60
    let after = offset(at: WallTime(seconds: shown + Self.secondsPerDay))
    let time = WallTime(seconds: shown - after)
    return offset(at: time) == after ? time : nil
  }

  /// Returns the first second at which the zone's offset is not `before` any more.
  private func change(between early: Int64, and late: Int64, from before: Int64) -> WallTime {
    var (low, high) = (early, late)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(at: WallTime(seconds: middle)) == before { low = middle } else { high = middle }
    }
    return WallTime(seconds: high)
  }
}
