import House
import SQLiteStore

/// The ends of sleep timers on the disk.
extension HouseStore {
  /// Times are nanoseconds since 1970.
  static let sleepTable = """
    CREATE TABLE IF NOT EXISTS sleeps (
      group_id TEXT PRIMARY KEY REFERENCES groups ON DELETE CASCADE, until INTEGER NOT NULL)
      WITHOUT ROWID;
    """

  func loadSleeps(into record: inout HouseRecord) throws(SQLiteError) {
    let sleeps = try database.prepare("SELECT group_id, until FROM sleeps").all { row in
      (group: row.text(0), until: row.int64(1))
    }
    for sleep in sleeps {
      guard let index = record.groups.firstIndex(where: { $0.id == sleep.group }) else { continue }
      record.groups[index].sleepUntil = sleep.until.flatMap(Self.time)
    }
  }

  /// Returns nil for a time that no timer can end at; others may have written it.
  private static func time(_ nanoseconds: Int64) -> WallTime? {
    (0...1 << 62).contains(nanoseconds) ? WallTime(nanoseconds: nanoseconds) : nil
  }

  func writeSleep(
    of group: HouseRecord.Group, before: HouseRecord.Group?
  ) throws(SQLiteError) {
    guard group.sleepUntil != before?.sleepUntil else { return }
    guard let until = group.sleepUntil else {
      return try database.run("DELETE FROM sleeps WHERE group_id = ?", .text(group.id))
    }
    try database.run(
      "INSERT OR REPLACE INTO sleeps VALUES (?, ?)", .text(group.id), .integer(until.nanoseconds))
  }
}
