import House
import SQLiteStore
import Service

/// Where people have left long tracks and episodes.
enum Places {
  /// Places that are kept; those that were left longest ago are forgotten.
  static let limit = 1_000
  /// Tracks that are shorter, in seconds, begin anew.
  static let shortest = 1_200.0
  /// Nobody comes back to a place so near the beginning, in seconds.
  static let beginning = 15.0

  static func seconds(of track: FoundTrack, _ database: Database) throws -> Double? {
    guard track.track.durationS ?? 0 >= shortest else { return nil }
    return try seconds(.init(kind: .track, key: "\(track.folder)/\(track.name)"), database)
  }

  static func seconds(_ key: ThingKey, _ database: Database) throws -> Double? {
    try database.prepare("SELECT seconds FROM place WHERE kind = ? AND key = ?")
      .first([.text(key.kind.rawValue), .text(key.key)]) { $0.double(0) } ?? nil
  }

  /// The places at which items begin where a queue comes to them, by their locations: those of episodes, and of long tracks
  /// that are whole albums. Nobody expects an album to begin in the middle of one of its tracks.
  static func ofTurns(
    _ folders: LibraryFolders, _ database: Database
  ) throws(SQLiteError) -> [String: Double] {
    let episodes = try database.prepare(
      """
      SELECT e.uri, p.seconds
      FROM place p JOIN episode e ON e.id = CAST(substr(p.key, 2) AS INTEGER)
      WHERE p.kind = 'episode' ORDER BY e.id
      """
    ).all { ($0.text(0) ?? "", $0.double(1) ?? 0) }
    let tracks = try database.prepare("SELECT key, seconds FROM place WHERE kind = 'track'")
      .all { ($0.text(0) ?? "", $0.double(1) ?? 0) }
    let whole = try database.prepare(
      """
      SELECT 1 FROM track t JOIN folder f ON f.id = t.folder JOIN album a ON a.id = t.album_id
      WHERE f.path = ? AND t.name = ? AND t.duration >= ? AND a.tracks = 1
      """)
    // The later one of two episodes at one address counts.
    var places = Dictionary(episodes, uniquingKeysWith: { $1 })
    for (path, seconds) in tracks {
      guard let location = folders.location(of: path), let folder = LibraryPath.parent(path)
      else { continue }
      let values: [SQLiteValue] = [
        .text(folder), .text(LibraryPath.name(path)), .real(shortest),
      ]
      if try whole.first(values, { _ in true }) != nil { places[location] = seconds }
    }
    return places
  }

  /// Keeps a place of a track, by its id, or of an episode, by its address. Anything else has none.
  ///
  /// - Returns: true if it changes which episodes are new or played.
  static func keep(
    _ heard: PlaceWatch.Place, track: String?, uri: String, at now: Int64, _ database: Database
  ) throws -> Bool {
    let key =
      if let track { try ThingFinder(database).key(.track, track) } else {
        try Podcasts.episode(at: uri, database).map { ThingKey(kind: .episode, key: $0) }
      }
    guard let key, heard.isOver || heard.seconds >= beginning else { return false }
    let (kind, name) = (SQLiteValue.text(key.kind.rawValue), SQLiteValue.text(key.key))
    return try database.transaction { () throws(SQLiteError) in
      if heard.isOver {
        try database.run("DELETE FROM place WHERE kind = ? AND key = ?", kind, name)
      } else {
        try database.run(
          "INSERT OR REPLACE INTO place (kind, key, seconds, duration, at) VALUES (?, ?, ?, ?, ?)",
          kind, name, SQLiteValue(heard.seconds), SQLiteValue(heard.durationS), SQLiteValue(now))
        try database.run(
          """
          DELETE FROM place WHERE at < (
            SELECT at FROM place ORDER BY at DESC LIMIT 1 OFFSET ?)
          """, SQLiteValue(limit - 1))
      }
      guard key.kind == .episode else { return false }
      try database.run(
        """
        UPDATE episode SET fresh = 0, played = played OR ?1
        WHERE id = ?2 AND (fresh OR played < ?1)
        """, SQLiteValue(heard.isOver),
        SQLiteValue(LibraryNumber.parse(key.key, LibraryNumber.episode)))
      return database.changedRows > 0
    }
  }

  static func begun(limit: Int, _ database: Database) throws -> [LibraryThing] {
    let left = try database.prepare(
      "SELECT kind, key, seconds, duration, at FROM place ORDER BY at DESC, key LIMIT ?"
    ).all([SQLiteValue(2 * limit)]) { row in
      (
        kind: row.text(0).flatMap(LibraryThing.Kind.init), key: row.text(1) ?? "",
        rest: row.double(3).map { $0 - (row.double(2) ?? 0) }, at: row.double(4)
      )
    }
    let finder = ThingFinder(database)
    let things: [LibraryThing] = try left.compactMap { row in
      guard let kind = row.kind,
        var thing = try finder.thing(ThingKey(kind: kind, key: row.key), "", nil)
      else { return nil }
      thing.atS = row.at
      if let rest = row.rest { thing.detail = "\(Int(min(max(1, rest / 60), 10_000))) min left" }
      return thing
    }
    return Array(things.prefix(limit))
  }
}
