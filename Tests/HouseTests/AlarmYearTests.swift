import Clock
import Foundation
import TestSupport
import Testing

@testable import House

/// A year of alarms: clocks that change in spring and autumn, clocks that are set, a daemon that is killed.
@Suite struct AlarmYearTests {
  private static let zones = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kolkata",
  ]

  @Test(arguments: zones[..<3], seeds(4, of: 400))
  func `each alarm rings once, at its second`(zone: String, seed: UInt64) throws {
    try AlarmYear(ZoneTime(zone), seed: seed).run()
  }

  @Test(arguments: zones) func `a time of the day is that of the calendar`(name: String) throws {
    let zone = try ZoneTime(name)
    for minute in [0, 1, 89, 90, 119, 120, 121, 135, 150, 179, 180, 181, 720, 1_439] {
      let expected = zone.occurrences(
        minute: minute, days: Weekday.allCases, from: AlarmYear.start, to: AlarmYear.end)
      let first = zone.day(at: try #require(expected.first))
      let wrong = expected.indices.first {
        zone.time(of: first + Int64($0), minute: minute) != expected[$0]
      }
      #expect(wrong == nil, "minute \(minute)")
    }
  }

  /// Foundation has a calendar of its own, which knows no gaps of half an hour.
  @Test func `a day of the week is that of the calendar`() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    for number in stride(from: Int64(-40_000), to: 40_000, by: 13) {
      let date = Date(timeIntervalSince1970: Double(number) * 86_400)
      // Monday is 2.
      let weekday = Weekday.allCases[(calendar.component(.weekday, from: date) + 5) % 7]
      #expect(CivilDay(number).weekday == weekday)
    }
  }

  @Test func `a minute that the clocks leave out rings when they go on, and a double one once`()
    throws
  {
    let zone = try ZoneTime("Europe/Berlin")
    // 29 March 2026, 02:30 does not exist; 03:00 is 01:00 UTC.
    let spring = zone.day(at: WallTime(seconds: 1_774_742_400))
    #expect(zone.time(of: spring, minute: 150) == WallTime(seconds: 1_774_746_000))
    // 25 October 2026, 02:30 comes twice; the first is 00:30 UTC.
    let autumn = zone.day(at: WallTime(seconds: 1_792_886_400))
    #expect(zone.time(of: autumn, minute: 150) == WallTime(seconds: 1_792_888_200))
  }

  @Test func `an alarm for a day that a zone leaves out rings with the next, once`() throws {
    // 30 December 2011 did not exist in Samoa.
    let zone = try ZoneTime("Pacific/Apia")
    let start = WallTime(seconds: 1_325_131_200)
    var book = AlarmBook(
      restoring: [], lastNumber: 0, in: zone, lead: Nanoseconds(start.nanoseconds),
      at: LocalTime(nanoseconds: 0))
    var change = AlarmChange()
    (change.minute, change.roomIds, change.days) = (0, ["kitchen"], Weekday.allCases)
    let id = try book.add(change, at: LocalTime(nanoseconds: 0))
    var rings: [WallTime] = []
    while let next = book.nextDeadline, next.nanoseconds < 4 * 86_400_000_000_000 {
      let wasRinging = book.isRinging(id)
      _ = book.look(at: next)
      if book.isRinging(id), !wasRinging { rings.append(book.wall(next)) }
    }
    let times = zone.occurrences(
      minute: 0, days: Weekday.allCases, from: start, to: WallTime(seconds: start.seconds + 345_600)
    )
    #expect(rings == times)
  }
}

/// One year of one zone. The clock on the wall is up to three hours wrong, and set again and again.
private final class AlarmYear {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Tells from the calendar when an alarm is to ring.
  private struct Expected {
    let id: String
    let length: Nanoseconds
    var open: [WallTime]
    /// When the one that was rung last ends by itself; nil once it has ended.
    var end: LocalTime?
  }

  /// 1 January 2026, and a year later.
  static let start = WallTime(seconds: 1_767_225_600)
  static let end = WallTime(seconds: 1_767_225_600 + 365 * 86_400)

  private let zone: ZoneTime
  private let seed: UInt64
  private var random: SplitMix64
  private var now = LocalTime(nanoseconds: 5_000_000_000)
  private var error = Nanoseconds.zero
  private var book: AlarmBook
  private var expected: [Expected] = []
  private var kept: [AlarmRecord] = []
  private var nextSet: LocalTime
  private var rings = 0

  init(_ zone: ZoneTime, seed: UInt64) throws {
    (self.zone, self.seed) = (zone, seed)
    random = SplitMix64(seed: seed)
    nextSet = now + .seconds(86_400)
    book = AlarmBook(
      restoring: [], lastNumber: 0, in: zone,
      lead: Nanoseconds(Self.start.nanoseconds - now.nanoseconds), at: now)
    for _ in 0..<4 { try addAlarm() }
    kept = book.records
  }

  private var lead: Nanoseconds {
    Nanoseconds(Self.start.nanoseconds - 5_000_000_000) + error
  }

  private var wall: WallTime { WallTime(nanoseconds: now.nanoseconds) + lead }

  private func addAlarm() throws {
    var change = AlarmChange()
    // Half of them about the hours at which clocks change.
    change.minute = Int.random(in: 0..<(Bool.random(using: &random) ? 240 : 1_440), using: &random)
    change.days = Weekday.allCases.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
    if change.days == [] { change.days = [.sun] }
    change.lengthS = random.element([10, 60, 600, 1_800])
    change.roomIds = ["kitchen"]
    let id = try book.add(change, at: now)
    let alarm = try #require(book.alarm(id))
    expected.append(
      Expected(
        id: id, length: .seconds(Int64(alarm.lengthS)),
        open: zone.occurrences(
          minute: alarm.minute, days: alarm.days, from: Self.start, to: Self.end)))
  }

  func run() throws {
    while wall < WallTime(seconds: Self.end.seconds - 86_400) {
      let next = min(book.nextDeadline ?? nextSet, nextSet)
      now = max(now, next)
      if nextSet <= now {
        setClock()
      } else if Int.random(in: 0..<20, using: &random) == 0 {
        // Killed at the very second, before it has done anything.
        restart()
      }
      try look()
      if Int.random(in: 0..<10, using: &random) == 0 {
        // Killed before the disk had what was done just now: what rang rings on.
        restart()
        try look()
      }
      kept = book.records
    }
    let left = expected.flatMap(\.open).filter { $0 < WallTime(seconds: wall.seconds - 7_200) }
    // Hours that the clock has leapt over.
    if left.count > rings / 2 {
      throw Failure(description: "\(left.count) of \(rings) did not ring")
    }
  }

  private func setClock() {
    nextSet = now + .seconds(Int64.random(in: 600...500_000, using: &random))
    let isRight = Int.random(in: 0..<3, using: &random) == 0
    error = isRight ? .zero : .seconds(Int64.random(in: -10_800...10_800, using: &random))
    book.note(lead: lead, at: now)
    kept = book.records
  }

  private func restart() {
    book = AlarmBook(restoring: kept, lastNumber: 4, in: zone, lead: lead, at: now)
  }

  private func look() throws {
    let before = expected.map { book.isRinging($0.id) }
    _ = book.look(at: now)
    for index in expected.indices { try compare(index, wasRinging: before[index]) }
  }

  private func compare(_ index: Int, wasRinging: Bool) throws {
    if let end = expected[index].end, end <= now { expected[index].end = nil }
    let wall = wall
    let due = expected[index].open.first { $0 <= wall && wall < $0 + expected[index].length }
    if let due {
      expected[index].open.removeAll { $0 == due }
      expected[index].end = now + (due - wall) + expected[index].length
      rings += 1
    }
    let rings = book.isRinging(expected[index].id)
    guard rings == (expected[index].end != nil) else {
      throw Failure(
        description:
          "seed \(seed), \(zone.zone.identifier), \(wall.seconds): \(expected[index].id) "
          + (rings ? "rings" : "does not ring") + ", error \(error)")
    }
  }
}
