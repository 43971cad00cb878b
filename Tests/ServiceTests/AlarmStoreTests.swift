import Clock
import Foundation
import House
import SQLiteStore
import Sender
import Service
import TestSupport
import Testing

/// Alarms on the disk, and the zone of the machine.
@Suite struct AlarmStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("house.db") }

  init() throws { folder = try TemporaryFolder() }

  private static var record: HouseRecord {
    var record = HouseRecord()
    var alarm = Alarm(id: "a1", minute: 425, roomIds: ["one", "other"])
    (alarm.name, alarm.days, alarm.volume) = ("Wörk", [.mon, .sun], 12.5)
    var entry = Order.NewEntry(location: "https://example.com/radio")
    (entry.title, entry.reach) = ("Radio", .internet)
    alarm.music = .entries([entry])
    var first = AlarmRecord(alarm)
    (first.rung, first.skipped) = (CivilDay(20_000), CivilDay(20_003))
    first.ring = .init(
      end: WallTime(seconds: 1_800_000_000), snoozedUntil: WallTime(seconds: 1_799_999_000))
    record.alarms = [first, AlarmRecord(Alarm(id: "a3", minute: 0, roomIds: ["one"]))]
    record.lastAlarm = 3
    record.debts = [.init(id: "one", .init(volume: 33.3, muted: true, volumeLimit: 60))]
    return record
  }

  @Test func `what was saved is there again, and only what has changed is written`() throws {
    var record = Self.record
    let store = try HouseStore(path: path)
    try store.save(record)
    #expect(try HouseStore(path: path).record == record)
    record.alarms.removeFirst()
    record.alarms[0].alarm.isOn = false
    record.debts = []
    try store.save(record)
    #expect(try HouseStore(path: path).record == record)
  }

  @Test func `a file that knows no alarms gets their tables`() throws {
    try HouseStore(path: path).save(HouseRecord())
    let database = try Database(path: path)
    try database.execute(
      "DROP TABLE alarms; DROP TABLE alarm_debts; DROP TABLE last_alarm;"
        + "DROP TABLE undo; DROP TABLE undo_entries; DROP TABLE unshuffled;"
        + "ALTER TABLE groups DROP COLUMN crossfade")
    try database.setVersion(4)
    let store = try HouseStore(path: path)
    try store.save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test func `an alarm that cannot be read is left out, and costs no other`() throws {
    var record = Self.record
    record.alarms.append(AlarmRecord(Alarm(id: "a4", minute: 9, roomIds: ["one"])))
    try HouseStore(path: path).save(record)
    try Database(path: path).execute("UPDATE alarms SET record = '{' WHERE place = 0")
    var lines: [String] = []
    let store = try HouseStore(path: path) { lines.append($0) }
    #expect(lines == ["1 damaged record of alarms left out; look at: tutti alarms"])
    record.alarms.removeFirst()
    #expect(store.record.alarms == record.alarms)
    record.alarms[0].alarm.volume = 77
    try store.save(record)
    #expect(try HouseStore(path: path).record.alarms == record.alarms)
  }

  /// Each of them ended the daemon at each start.
  @Test(arguments: [
    ("alarm.lengthS", "1e300"), ("alarm.lengthS", "-1e10"), ("alarm.lengthS", "9e9"),
    ("alarm.riseS", "1e300"), ("alarm.snoozeS", "1e300"), ("alarm.minute", "9223372036854775807"),
    ("alarm.minute", "-1"), ("alarm.volume", "-5"), ("alarm.volume", "1e300"),
    ("alarm.roomIds", "json('[]')"), ("alarm.id", "'g1'"), ("alarm.id", "'a-4'"),
    ("alarm.id", "'a3'"), ("skipped.number", "1000000000000"),
    ("skipped.number", "-9223372036854775807"), ("rung.number", "9223372036854775807"),
    ("ring.end.nanoseconds", "-9223372036854775807"),
    ("ring.snoozedUntil.nanoseconds", "-9223372036854775807"),
  ])
  func `an alarm with a value that nobody can set is left out`(field: String, value: String) throws
  {
    var record = Self.record
    record.alarms.reverse()
    try HouseStore(path: path).save(record)
    try Database(path: path).execute(
      "UPDATE alarms SET record = json_set(record, '$.\(field)', \(value)) WHERE place = 1")
    var lines: [String] = []
    let read = try HouseStore(path: path) { lines.append($0) }.record
    #expect(read.alarms == [record.alarms[0]] && lines.count == 1)
  }

  @Test func `a loudness that no room has is left out`() throws {
    try HouseStore(path: path).save(Self.record)
    for volume in ["1e300", "-1"] {
      try Database(path: path).execute(
        "UPDATE alarm_debts SET record = json_set(record, '$.volume', \(volume))")
      #expect(try HouseStore(path: path).record.debts.isEmpty)
    }
  }

  @Test func `no identity is used twice, though its number is lost or at its end`() throws {
    try HouseStore(path: path).save(Self.record)
    for (change, number) in [
      ("DELETE FROM last_alarm", 3), ("INSERT INTO last_alarm VALUES (-5)", 3),
      ("UPDATE last_alarm SET number = 9223372036854775807", 1 << 53),
    ] {
      try Database(path: path).execute(change)
      #expect(try HouseStore(path: path).record.lastAlarm == number)
    }
    try Database(path: path).execute("DELETE FROM last_alarm")
    let store = try HouseStore(path: path)
    var record = store.record
    record.lastAlarm = 9
    try store.save(record)
    #expect(try HouseStore(path: path).record.lastAlarm == 9)
  }

  /// The machine's own zone, whatever it is.
  @Test func `the zone of the machine is that of Foundation`() {
    let (own, theirs) = (LocalZone(), TimeZone.current)
    for second in stride(from: Int64(1_600_000_000), to: 1_900_000_000, by: 3_600 * 7) {
      let expected = theirs.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
      #expect(own.offset(at: WallTime(seconds: second)) == Int64(expected))
    }
  }
}
