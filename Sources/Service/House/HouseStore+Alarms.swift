import House
import ProgramJSON
import SQLiteStore

/// Alarms on the disk: one row each, as JSON, for nothing is looked for among them.
extension HouseStore {
  static let alarmTables = """
    CREATE TABLE IF NOT EXISTS alarms (place INTEGER PRIMARY KEY, record TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS alarm_debts (
      room TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS last_alarm (number INTEGER NOT NULL);
    INSERT INTO last_alarm SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM last_alarm);
    """

  /// Leaves out what somebody else has written, and alarms whose identity another one has.
  func loadAlarms(
    into record: inout HouseRecord, _ tell: (String) -> Void
  ) throws(SQLiteError) {
    let alarms = try database.prepare("SELECT record FROM alarms ORDER BY place")
      .all { Self.read(AlarmRecord.self, $0.text(0)) }
    var numbers: Set<Int> = []
    record.alarms = alarms.compactMap(\.self).filter { alarm in
      alarm.isSound && alarm.number.map { numbers.insert($0).inserted } ?? false
    }
    let last = try database.prepare("SELECT number FROM last_alarm").first { $0.int(0) ?? 0 } ?? 0
    record.lastAlarm = max(min(last, AlarmRecord.numberLimit), numbers.max() ?? 0, 0)
    let debts = try database.prepare("SELECT record FROM alarm_debts ORDER BY room")
      .all { Self.read(HouseRecord.Debt.self, $0.text(0)) }
    record.debts = debts.compactMap(\.self).filter(\.isSound)
    let lost = alarms.count + debts.count - record.alarms.count - record.debts.count
    if lost > 0 {
      tell("\(Player.count(lost, "damaged record")) of alarms left out; look at: tutti alarms")
    }
  }

  /// Nil where somebody else has written it.
  static func read<Value: Decodable>(_ type: Value.Type, _ text: String?) -> Value? {
    text.flatMap { try? JSON.decode(type, from: Array($0.utf8)) }
  }

  static func text(_ value: some Encodable) -> SQLiteValue {
    .text(String(decoding: (try? JSON.encode(value)) ?? [], as: UTF8.self))
  }

  func writeAlarms(_ record: HouseRecord, before: HouseRecord) throws(SQLiteError) {
    if record.lastAlarm != before.lastAlarm {
      try database.run("DELETE FROM last_alarm")
      try database.run("INSERT INTO last_alarm VALUES (?)", .init(record.lastAlarm))
    }
    if record.debts != before.debts {
      try database.run("DELETE FROM alarm_debts")
      let insert = try database.prepare("INSERT OR REPLACE INTO alarm_debts VALUES (?, ?)")
      for debt in record.debts { try insert.run(.text(debt.id), Self.text(debt)) }
    }
    guard record.alarms != before.alarms else { return }
    // All anew, for in the file others may have the places that these were given.
    try database.run("DELETE FROM alarms")
    let insert = try database.prepare("INSERT INTO alarms VALUES (?, ?)")
    for (place, alarm) in record.alarms.enumerated() {
      try insert.run(.init(place), Self.text(alarm))
    }
  }
}
