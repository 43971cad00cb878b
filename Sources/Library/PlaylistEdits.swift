import House
import SQLiteStore
import Sender
import Service

/// Edits of playlists that somebody has saved. An entry is known by its position, which stays as it is while those before
/// it are edited; what is gone keeps its place.
enum PlaylistEdits {
  /// Higher ones are in damaged files alone.
  private static let lastPosition = 1 << 40

  static func carryOut(
    _ edit: StoredPlaylist.Edit, of id: String, expected: UInt64?, _ database: Database
  ) throws -> StoredPlaylist {
    let playlist = try StoredLists.playlist(id, database)
    guard !playlist.isFile else {
      throw Refusal.invalid(
        "This playlist is a file in the library's folders; change the file there.")
    }
    if let expected, expected != playlist.revision {
      throw Refusal.outdated(revision: playlist.revision)
    }
    let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.playlist))
    switch edit {
    case .rename(let name): try check(name)
    case .add(let entries, _) where playlist.trackCount + entries.count > Playlist.limit:
      throw isFull
    default: break
    }
    for position in edit.positions {
      let found = try database.prepare(
        "SELECT 1 FROM playlist_entry WHERE playlist = ? AND position = ?"
      ).first([number, SQLiteValue(position)]) { _ in true }
      guard found != nil, position <= lastPosition else {
        throw Refusal.noSuch("There is no such entry in the playlist any more.")
      }
    }
    try database.transaction { () throws(SQLiteError) in
      try write(edit, of: number, database)
      try database.run("UPDATE playlist SET revision = revision + 1 WHERE id = ?", number)
    }
    return try StoredLists.playlist(id, database)
  }

  static func check(_ name: String) throws(Refusal) {
    let lengths = StoredPlaylist.nameLengths
    guard lengths.contains(name.unicodeScalars.count) else {
      throw .invalid("The name of a playlist has 1 to \(lengths.upperBound) characters.")
    }
  }

  static var isFull: Refusal { .invalid("A playlist has at most \(Playlist.limit) items.") }

  private static func write(
    _ edit: StoredPlaylist.Edit, of number: SQLiteValue, _ database: Database
  ) throws(SQLiteError) {
    switch edit {
    case .rename(let name):
      try database.run("UPDATE playlist SET name = ? WHERE id = ?", SQLiteValue(name), number)
    case .add(let entries, let next):
      let start = try makeRoom(for: entries.count, before: next, of: number, database)
      try insert(entries, at: start, of: number, database)
    case .remove(let positions):
      let remove = try database.prepare(
        "DELETE FROM playlist_entry WHERE playlist = ? AND position = ?")
      for position in positions { try remove.run(number, SQLiteValue(position)) }
    case .move(let position, let next):
      guard next != position else { return }
      // Positions are unique: the one that moves waits below all others.
      try place(position, at: -1, of: number, database)
      try place(-1, at: makeRoom(for: 1, before: next, of: number, database), of: number, database)
    case .clear: try database.run("DELETE FROM playlist_entry WHERE playlist = ?", number)
    }
  }

  private static func place(
    _ position: Int, at new: Int, of number: SQLiteValue, _ database: Database
  ) throws(SQLiteError) {
    try database.run(
      "UPDATE playlist_entry SET position = ? WHERE playlist = ? AND position = ?",
      SQLiteValue(new), number, SQLiteValue(position))
  }

  /// Returns the first of so many free positions before the one of an entry, or behind all.
  private static func makeRoom(
    for count: Int, before next: Int?, of number: SQLiteValue, _ database: Database
  ) throws(SQLiteError) -> Int {
    guard let next else {
      let last = try database.prepare(
        "SELECT coalesce(max(position), -1) FROM playlist_entry WHERE playlist = ?"
      ).first([number]) { $0.int(0) ?? -1 }
      return min(max(last ?? -1, -1), lastPosition) + 1
    }
    // In one step, rows would meet on their way.
    try database.run(
      "UPDATE playlist_entry SET position = -2 - position - ? WHERE playlist = ? AND position >= ?",
      SQLiteValue(count), number, SQLiteValue(next))
    try database.run(
      "UPDATE playlist_entry SET position = -2 - position WHERE playlist = ? AND position < -1",
      number)
    return next
  }

  /// An item of the library is found again by its number; anything else must be an address.
  static func insert(
    _ entries: [QueuePage.Entry], at start: Int, of number: SQLiteValue, _ database: Database
  ) throws(SQLiteError) {
    let insert = try database.prepare(
      """
      INSERT INTO playlist_entry (playlist, position, track, uri, title, artist, album, duration,
        reach) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    for (offset, entry) in entries.enumerated() {
      let track = entry.trackId.flatMap { LibraryNumber.parse($0, LibraryNumber.track) }
      let uri = StoredLists.isAddress(entry.uri) ? entry.uri : nil
      guard track != nil || uri != nil else { continue }
      try insert.run(
        number, SQLiteValue(start + offset), SQLiteValue(track), SQLiteValue(uri),
        SQLiteValue(entry.title), SQLiteValue(entry.artist), SQLiteValue(entry.album),
        SQLiteValue(entry.durationS), .text(entry.reach.rawValue))
    }
  }
}
