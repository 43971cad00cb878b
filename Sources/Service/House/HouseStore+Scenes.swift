import House
import SQLiteStore

/// Scenes on the disk: one row each, as JSON, for nothing is looked for among them.
extension HouseStore {
  static let sceneTables = """
    CREATE TABLE IF NOT EXISTS scenes (place INTEGER PRIMARY KEY, record TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS last_scene (number INTEGER NOT NULL);
    INSERT INTO last_scene SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM last_scene);
    """

  /// Leaves out what somebody else has written.
  func loadScenes(into record: inout HouseRecord) throws(SQLiteError) {
    var numbers: Set<Int> = []
    record.scenes = try database.prepare("SELECT record FROM scenes ORDER BY place")
      .all { Self.read(Scene.self, $0.text(0)) }.compactMap(\.self)
      .filter { $0.isSound && $0.number.map { numbers.insert($0).inserted } ?? false }
    let last = try database.prepare("SELECT number FROM last_scene").first { $0.int(0) ?? 0 } ?? 0
    record.lastScene = max(min(last, AlarmRecord.numberLimit), numbers.max() ?? 0, 0)
  }

  func writeScenes(_ record: HouseRecord, before: HouseRecord) throws(SQLiteError) {
    if record.lastScene != before.lastScene {
      try database.run("DELETE FROM last_scene")
      try database.run("INSERT INTO last_scene VALUES (?)", .init(record.lastScene))
    }
    guard record.scenes != before.scenes else { return }
    try database.run("DELETE FROM scenes")
    let insert = try database.prepare("INSERT INTO scenes VALUES (?, ?)")
    for (place, scene) in record.scenes.enumerated() {
      try insert.run(.init(place), Self.text(scene))
    }
  }
}
