import House
import ProgramJSON
import SQLiteStore
import Sender

/// The sound of rooms on the disk, for displays: their receivers keep it themselves.
extension HouseStore {
  static let soundTable = """
    CREATE TABLE IF NOT EXISTS room_sounds (
      room TEXT PRIMARY KEY, sound TEXT NOT NULL) WITHOUT ROWID;
    """

  func loadSounds(into record: inout HouseRecord) throws(SQLiteError) {
    let sounds = try database.prepare("SELECT room, sound FROM room_sounds").all { row in
      (room: row.text(0), sound: row.text(1))
    }
    for kept in sounds {
      guard let index = record.rooms.firstIndex(where: { $0.id == kept.room }),
        let text = kept.sound
      else { continue }
      record.rooms[index].sound = try? JSON.decode(SoundReport.self, from: Array(text.utf8))
    }
  }

  func writeSounds(_ record: HouseRecord, before: HouseRecord) throws(SQLiteError) {
    guard record.rooms != before.rooms else { return }
    try database.run("DELETE FROM room_sounds")
    let insert = try database.prepare("INSERT OR REPLACE INTO room_sounds VALUES (?, ?)")
    for room in record.rooms {
      guard let sound = room.sound, let bytes = try? JSON.encode(sound) else { continue }
      try insert.run(.text(room.id), .text(String(decoding: bytes, as: UTF8.self)))
    }
  }
}
