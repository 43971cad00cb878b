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
    record.debts = [.init(id: "one", volume: 33.3, muted: true)]
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
        + "DROP TABLE undo; DROP TABLE undo_entries; DROP TABLE unshuffled")
    try database.setVersion(4)
    let store = try HouseStore(path: path)
    try store.save(Self.record)
    #expect(try HouseStore(path: path).record == Self.record)
  }

  @Test func `an alarm that cannot be read is left out`() throws {
    try HouseStore(path: path).save(Self.record)
    try Database(path: path).execute("UPDATE alarms SET record = '{' WHERE place = 0")
    #expect(try HouseStore(path: path).record.alarms == [Self.record.alarms[1]])
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
