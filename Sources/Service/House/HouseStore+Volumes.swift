import House
import ProgramJSON
import SQLiteStore

/// The volume limits of rooms, and the hours of the night, on the disk.
extension HouseStore {
  static let volumeTables = """
    CREATE TABLE IF NOT EXISTS room_limits (
      room TEXT PRIMARY KEY, volume REAL NOT NULL, fixed INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS night (record TEXT NOT NULL);
    """

  func loadVolumes(into record: inout HouseRecord) throws(SQLiteError) {
    let limits = try database.prepare("SELECT room, volume, fixed FROM room_limits").all { row in
      (room: row.text(0), volume: row.double(1), isFixed: row.int(2) == 1)
    }
    for limit in limits {
      guard let index = record.rooms.firstIndex(where: { $0.id == limit.room }),
        let volume = limit.volume, RoomChange.volumeLimits.contains(volume)
      else { continue }
      record.rooms[index].volumeLimit = volume
      record.rooms[index].isVolumeLimitFixed = limit.isFixed
    }
    let night = try database.prepare("SELECT record FROM night").first { $0.text(0) }
    record.night = night.flatMap { text in
      text.flatMap { try? JSON.decode(NightHours.self, from: Array($0.utf8)) }
    }
    // Others may have written it.
    do throws(Refusal) { try record.night?.check() } catch { record.night = nil }
  }

  func writeVolumes(_ record: HouseRecord, before: HouseRecord) throws(SQLiteError) {
    if record.rooms != before.rooms {
      try database.run("DELETE FROM room_limits")
      let insert = try database.prepare("INSERT OR REPLACE INTO room_limits VALUES (?, ?, ?)")
      for room in record.rooms {
        guard let limit = room.volumeLimit else { continue }
        let isFixed = room.isVolumeLimitFixed ?? false
        try insert.run(.text(room.id), .init(limit), .init(isFixed ? 1 : 0))
      }
    }
    guard record.night != before.night else { return }
    try database.run("DELETE FROM night")
    guard let night = record.night, let bytes = try? JSON.encode(night) else { return }
    try database.run(
      "INSERT INTO night VALUES (?)", .text(String(decoding: bytes, as: UTF8.self)))
  }
}
