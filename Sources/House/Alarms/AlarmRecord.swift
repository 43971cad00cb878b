import Clock

/// An alarm as the disk keeps it.
package struct AlarmRecord: Codable, Hashable, Sendable {
  /// One that has begun and is not over.
  package struct Ring: Codable, Hashable, Sendable {
    /// When it ends by itself.
    package var end: WallTime
    /// When it begins again, if somebody has snoozed it.
    package var snoozedUntil: WallTime?

    package init(end: WallTime, snoozedUntil: WallTime? = nil) {
      (self.end, self.snoozedUntil) = (end, snoozedUntil)
    }
  }

  package var alarm: Alarm
  /// The day for which it has rung last, or was set too late.
  package var rung: CivilDay?
  /// The day that is left out.
  package var skipped: CivilDay?
  /// The day of one that rings once.
  package var date: CivilDay?
  package var ring: Ring?

  package init(_ alarm: Alarm) { self.alarm = alarm }
}

/// A time at which an alarm begins.
package struct AlarmOccurrence: Hashable, Sendable {
  /// The day in the calendar; two occurrences never have the same.
  package var day: CivilDay
  package var time: WallTime
}

extension AlarmRecord {
  var length: Nanoseconds { .seconds(of: alarm.lengthS) }

  /// The first one that is to come, or has begun and is not over; nil if there is none within a fortnight.
  func next(after now: WallTime, in zone: any CivilTime) -> AlarmOccurrence? {
    guard alarm.isOn else { return nil }
    let today = zone.day(at: now)
    for days in Int64(-1)...15 {
      let day = today + days
      guard rings(on: day), !isDone(day, today) else { continue }
      let time = zone.time(of: day, minute: alarm.minute)
      if now < time + length { return AlarmOccurrence(day: day, time: time) }
    }
    return nil
  }

  private func rings(on day: CivilDay) -> Bool {
    guard day != skipped else { return false }
    return alarm.days.isEmpty ? day == date : alarm.days.contains(day.weekday)
  }

  /// One that was rung stays so if the clock is set back by a day. Farther away, the clock was wrong before.
  private func isDone(_ day: CivilDay, _ today: CivilDay) -> Bool {
    guard let rung, rung <= today + 1 else { return false }
    return day <= rung
  }

  /// It was set at `now`: it rings from its next time on, though it has rung today.
  mutating func begin(at now: WallTime, in zone: any CivilTime) {
    let today = zone.day(at: now)
    let isPast = zone.time(of: today, minute: alarm.minute) <= now
    rung = today + (isPast ? 0 : -1)
    skipped = nil
    date = alarm.days.isEmpty ? today + (isPast ? 1 : 0) : nil
  }
}

extension AlarmRecord {
  /// Numbers of identities up to here are added to without an overflow.
  package static let numberLimit = 1 << 53
  /// Days from 1969 to 2200, where nanoseconds do not end yet.
  private static let days = CivilDay(-300)...CivilDay(84_000)
  private static let times = WallTime(seconds: -300 * 86_400)...WallTime(seconds: 84_000 * 86_400)

  /// The number in its identity; nil where somebody else has written it.
  package var number: Int? {
    guard let number = Int(alarm.id.dropFirst()), alarm.id == "a\(number)",
      (1...Self.numberLimit).contains(number)
    else { return nil }
    return number
  }

  /// False where somebody else has written it: it has values that nobody can set.
  package var isSound: Bool {
    let days = [rung, skipped, date].compactMap(\.self)
    let times = [ring?.end, ring?.snoozedUntil].compactMap(\.self)
    return number != nil && (try? alarm.settings.applied(to: alarm)) == alarm
      && days.allSatisfy(Self.days.contains) && times.allSatisfy(Self.times.contains)
  }
}

extension HouseRecord.Debt {
  /// False where somebody else has written it.
  package var isSound: Bool {
    volume.map(RoomChange.volumes.contains) ?? true
      && volumeLimit.map(RoomChange.volumeLimits.contains) ?? true
  }
}

extension Nanoseconds {
  /// Spans beyond a hundred years are cut, and what is no number is none.
  static func seconds(of seconds: Double) -> Nanoseconds {
    let limit = 100 * 366 * 86_400.0
    guard !seconds.isNaN else { return .zero }
    return Nanoseconds(Int64(min(max(seconds, -limit), limit) * 1e9))
  }
}
