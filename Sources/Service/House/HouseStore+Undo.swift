import House
import SQLiteStore
import Sender

/// The list that an undo brings back is kept as its difference from the queue: the removal of one of many entries writes
/// few rows.
extension HouseStore {
  static let undoTables = """
    CREATE TABLE undo (
      group_id TEXT PRIMARY KEY REFERENCES groups ON DELETE CASCADE, sentence TEXT NOT NULL,
      unshuffled BLOB, has_place INTEGER NOT NULL, entry INTEGER, position REAL,
      was_playing INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE undo_entries (
      group_id TEXT NOT NULL REFERENCES groups ON DELETE CASCADE, id INTEGER NOT NULL,
      location TEXT, title TEXT, artist TEXT, album TEXT, duration REAL, artwork TEXT,
      track TEXT, album_id TEXT, video INTEGER, reach TEXT, rank INTEGER,
      PRIMARY KEY (group_id, id)) WITHOUT ROWID;
    CREATE TABLE unshuffled (
      group_id TEXT PRIMARY KEY REFERENCES groups ON DELETE CASCADE, ids BLOB NOT NULL)
      WITHOUT ROWID;
    """

  static let mergeTable = """
    CREATE TABLE IF NOT EXISTS merges (
      group_id TEXT PRIMARY KEY REFERENCES groups ON DELETE CASCADE, record TEXT NOT NULL)
      WITHOUT ROWID;
    """

  // MARK: - Reading

  /// Nil also for what somebody else has written.
  func merge(of group: SQLiteValue) throws(SQLiteError) -> MergeUndo? {
    try database.prepare("SELECT record FROM merges WHERE group_id = ?")
      .all([group]) { Self.read(MergeUndo.self, $0.text(0)) }.first ?? nil
  }

  func unshuffled(of group: SQLiteValue) throws(SQLiteError) -> [Int]? {
    let statement = try database.prepare("SELECT ids FROM unshuffled WHERE group_id = ?")
    return try statement.all([group]) { Self.ids($0.blob(0) ?? []) }.first
  }

  func undo(of group: SQLiteValue, _ queue: QueueRecord) throws(SQLiteError) -> QueueUndo? {
    let entries = try undoneEntries(of: group, queue)
    let statement = try database.prepare(
      """
      SELECT sentence, unshuffled, has_place, entry, position, was_playing FROM undo
      WHERE group_id = ?
      """)
    return try statement.all([group]) { row in
      let place = row.int(3).map { QueuePlace(entry: $0, position: row.double(4) ?? 0) }
      return QueueUndo(
        sentence: row.text(0) ?? "", QueueRecord(entries),
        unshuffled: row.blob(1).map(Self.ids),
        row.bool(2) ? QueueUndo.Place(place, wasPlaying: row.bool(5)) : nil)
    }.first
  }

  /// Rows with a rank are of the list that comes back. Those without are of entries that it does not have.
  private func undoneEntries(
    of group: SQLiteValue, _ queue: QueueRecord
  ) throws(SQLiteError) -> [QueueRecord.Entry] {
    let statement = try database.prepare(
      """
      SELECT id, location, title, artist, album, duration, artwork, track, album_id, video, reach,
        rank
      FROM undo_entries WHERE group_id = ?
      """)
    let rows = try statement.all([group]) { row in (Self.entry(row), row.int64(11) != nil) }
    let others = Set(rows.map(\.0.id))
    let entries =
      queue.entries.filter { !others.contains($0.id) } + rows.filter(\.1).map(\.0)
    return entries.sorted { $0.rank < $1.rank }
  }

  // MARK: - Writing

  func writeUndo(
    of group: HouseRecord.Group, before: HouseRecord.Group?
  ) throws(SQLiteError) {
    let id = SQLiteValue.text(group.id)
    if group.unshuffled != before?.unshuffled {
      try database.run("DELETE FROM unshuffled WHERE group_id = ?", id)
      if let order = group.unshuffled {
        try database.run("INSERT INTO unshuffled VALUES (?, ?)", id, .blob(Self.bytes(order)))
      }
    }
    if group.merge != before?.merge {
      try database.run("DELETE FROM merges WHERE group_id = ?", id)
      if let merge = group.merge {
        try database.run("INSERT INTO merges VALUES (?, ?)", id, Self.text(merge))
      }
    }
    // The rows say how it differs from the queue.
    let isSame = group.undo == before?.undo && (group.undo == nil || group.queue == before?.queue)
    guard !isSame else { return }
    try database.run("DELETE FROM undo WHERE group_id = ?", id)
    try database.run("DELETE FROM undo_entries WHERE group_id = ?", id)
    if let undo = group.undo { try write(undo, of: id, group.queue.entries) }
  }

  private func write(
    _ undo: QueueUndo, of group: SQLiteValue, _ queue: [QueueRecord.Entry]
  ) throws(SQLiteError) {
    let place = undo.place?.queue
    try database.run(
      "INSERT INTO undo VALUES (?, ?, ?, ?, ?, ?, ?)", group, .text(undo.sentence),
      undo.unshuffled.map { .blob(Self.bytes($0)) } ?? .null, .init(undo.place != nil),
      .init(place?.entry), .init(place?.position), .init(undo.place?.wasPlaying ?? false))
    let (old, added) = Self.difference(of: undo.queue.entries, from: queue)
    let insert = try database.prepare(
      "INSERT INTO undo_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    for entry in old { try insert.run([group, .init(entry.id)] + Self.values(entry)) }
    let empty = [SQLiteValue](repeating: .null, count: 11)
    for id in added { try insert.run([group, .init(id)] + empty) }
  }

  /// Returns the entries that the queue does not have so, and the identities of those that only the queue has.
  /// Both are in the order of their ranks.
  private static func difference(
    of entries: [QueueRecord.Entry], from queue: [QueueRecord.Entry]
  ) -> (old: [QueueRecord.Entry], added: [Int]) {
    var old: [QueueRecord.Entry] = []
    var added: [Int] = []
    var place = 0
    for entry in entries {
      while place < queue.count, queue[place].rank < entry.rank {
        added.append(queue[place].id)
        place += 1
      }
      if place < queue.count, queue[place] == entry { place += 1 } else { old.append(entry) }
    }
    added += queue[place...].map(\.id)
    let own = Set(old.map(\.id))
    return (old, added.filter { !own.contains($0) })
  }

  private static func bytes(_ ids: [Int]) -> [UInt8] {
    ids.flatMap { id in (0..<8).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) } }
  }
}

/// A file has a negative position where an entry begins wherever somebody has left it.
extension QueuePlace {
  init(entry: Int, position: Double) {
    self = position < 0 ? .init(turnOf: entry) : .init(entry: entry, seconds: position)
  }

  var position: Double { resumes ? -1 : seconds }
}
