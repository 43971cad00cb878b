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

  func loadAlarms(into record: inout HouseRecord) throws(SQLiteError) {
    record.lastAlarm =
      try database.prepare("SELECT number FROM last_alarm").first { $0.int(0) ?? 0 } ?? 0
    let alarms = try database.prepare("SELECT record FROM alarms ORDER BY place")
    record.alarms = try alarms.all { Self.read(AlarmRecord.self, $0.text(0)) }.compactMap(\.self)
    let debts = try database.prepare("SELECT record FROM alarm_debts ORDER BY room")
    record.debts = try debts.all { Self.read(HouseRecord.Debt.self, $0.text(0)) }
      .compactMap(\.self)
  }

  /// Nil where somebody else has written it.
  private static func read<Value: Decodable>(_ type: Value.Type, _ text: String?) -> Value? {
    text.flatMap { try? JSON.decode(type, from: Array($0.utf8)) }
  }

  private static func text(_ value: some Encodable) -> SQLiteValue {
    .text(String(decoding: (try? JSON.encode(value)) ?? [], as: UTF8.self))
  }

  func writeAlarms(_ record: HouseRecord, before: HouseRecord) throws(SQLiteError) {
    if record.lastAlarm != before.lastAlarm {
      try database.run("UPDATE last_alarm SET number = ?", .init(record.lastAlarm))
    }
    if record.debts != before.debts {
      try database.run("DELETE FROM alarm_debts")
      let insert = try database.prepare("INSERT OR REPLACE INTO alarm_debts VALUES (?, ?)")
      for debt in record.debts { try insert.run(.text(debt.id), Self.text(debt)) }
    }
    guard record.alarms != before.alarms else { return }
    try database.run("DELETE FROM alarms WHERE place >= ?", .init(record.alarms.count))
    let insert = try database.prepare("INSERT OR REPLACE INTO alarms VALUES (?, ?)")
    for (place, alarm) in record.alarms.enumerated()
    where place >= before.alarms.count || before.alarms[place] != alarm {
      try insert.run(.init(place), Self.text(alarm))
    }
  }
}
