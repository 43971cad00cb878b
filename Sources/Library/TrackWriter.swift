import FFmpegSource
import Glibc
import SQLiteStore
import Sender

/// Writes the results of a scan into the tables. Each call of `write` is one transaction.
final class TrackWriter {
  enum Change {
    /// A folder that exists.
    case folder(String)
    case track(folder: String, FolderListing.File, FileTags)
    /// A file that cannot be read, with its size and time: it is read again when these change.
    case fault(folder: String, FolderListing.File, reason: String)
    /// A track whose file is back unchanged.
    case returned(track: Int64)
    case missing(track: Int64)
    case playlists(folder: String, [FoundList])
    /// The folder was read; a hash of 0 makes the next scan read it again.
    case read(folder: String, hash: Int64, image: (hash: String, name: String)?)
    /// A folder that no longer exists, with all its tracks.
    case folderGone(String)
  }

  struct FoundList {
    struct Entry {
      var folder: String?
      var name: String?
      var uri: String?
      var title: String?
    }
    let file: String
    var entries: [Entry]
  }

  /// Largest number of folder numbers kept in memory.
  private static let cacheLimit = 20_000

  let database: Database
  private let folders: LibraryFolders
  private let albums: AlbumKeeper
  private let tags: TagKeeper
  private let statements: Statements
  private var folderNumbers: [ExactName: Int64] = [:]
  /// True for library folders that are mounted, as far as they were checked.
  private var mounted: [String: Bool] = [:]
  /// Seconds since 1970.
  private let now: Int64
  /// True if new tracks count as added when their files were written; else they are added now.
  private let isFirstScan: Bool

  init(_ database: Database, _ folders: LibraryFolders, isFirstScan: Bool) {
    (self.database, self.folders, self.isFirstScan) = (database, folders, isFirstScan)
    statements = Statements(database)
    albums = AlbumKeeper(statements)
    tags = TagKeeper(statements)
    now = Int64(time(nil))
  }

  func write(_ changes: [Change]) throws(SQLiteError) {
    do {
      try database.transaction { () throws(SQLiteError) in
        for change in changes { try write(change) }
        try albums.refresh()
      }
    } catch {
      // Their rows were rolled back.
      folderNumbers = [:]
      albums.forget()
      tags.forget()
      throw error
    }
  }

  /// Forgets tracks that have had no file for `seconds`, and rows that nothing else needs.
  func forget(missingFor seconds: Int64) throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      try statements.run("DELETE FROM track WHERE missing < ?", SQLiteValue(now - seconds))
      guard database.changedRows > 0 else { return }
      try database.execute(
        """
        DELETE FROM album WHERE NOT EXISTS (SELECT 1 FROM track WHERE album_id = album.id);
        DELETE FROM artist WHERE NOT EXISTS (SELECT 1 FROM track WHERE artist_id = artist.id)
          AND NOT EXISTS (SELECT 1 FROM album WHERE artist = artist.id);
        DELETE FROM folder WHERE NOT present
          AND NOT EXISTS (SELECT 1 FROM track WHERE folder = folder.id)
          AND NOT EXISTS (SELECT 1 FROM folder child WHERE child.parent = folder.id);
        DELETE FROM tag WHERE NOT EXISTS (SELECT 1 FROM track_tag WHERE tag = tag.id);
        """)
    }
    // The numbers may be given out again.
    folderNumbers = [:]
    albums.forget()
    tags.forget()
  }

  private func write(_ change: Change) throws(SQLiteError) {
    switch change {
    case .folder(let path): _ = try folderNumber(path)
    case .track(let folder, let file, let tags): try write(folder, file, tags)
    case .fault(let folder, let file, let reason):
      let number = try folderNumber(folder)
      try statements.run(
        "INSERT OR REPLACE INTO fault (folder, name, size, mtime, reason) VALUES (?, ?, ?, ?, ?)",
        SQLiteValue(number), SQLiteValue(file.name), SQLiteValue(file.size),
        SQLiteValue(file.mtime), SQLiteValue(reason))
    case .returned(let track):
      try statements.run("UPDATE track SET missing = NULL WHERE id = ?", SQLiteValue(track))
      try albums.mark(track: track)
    case .missing(let track):
      try statements.run(
        "UPDATE track SET missing = ? WHERE id = ?", SQLiteValue(now), SQLiteValue(track))
      try albums.mark(track: track)
    case .playlists(let folder, let lists): try write(folder, lists)
    case .read(let folder, let hash, let image):
      let number = try folderNumber(folder)
      let before = try statements.prepared("SELECT image FROM folder WHERE id = ?")
        .first([SQLiteValue(number)]) { $0.text(0) }
      if before != image?.hash { try albums.mark(folder: number) }
      try statements.run(
        "UPDATE folder SET hash = ?, image = ?, image_name = ?, present = 1 WHERE id = ?",
        SQLiteValue(hash), SQLiteValue(image?.hash), SQLiteValue(image?.name), SQLiteValue(number))
    case .folderGone(let path): try remove(path)
    }
  }

  private func remove(_ path: String) throws(SQLiteError) {
    let number = try folderNumber(path)
    try albums.mark(folder: number)
    try statements.run(
      "UPDATE track SET missing = ? WHERE folder = ? AND missing IS NULL", SQLiteValue(now),
      SQLiteValue(number))
    try statements.run("DELETE FROM playlist WHERE folder = ?", SQLiteValue(number))
    try statements.run("DELETE FROM fault WHERE folder = ?", SQLiteValue(number))
    try statements.run("UPDATE folder SET present = 0, hash = 0 WHERE id = ?", SQLiteValue(number))
  }

  // MARK: - Folders

  private func folderNumber(_ path: String) throws(SQLiteError) -> Int64 {
    if let number = folderNumbers[ExactName(path)] { return number }
    var parent: Int64?
    if let path = LibraryPath.parent(path) { parent = try folderNumber(path) }
    try statements.run(
      "INSERT INTO folder (parent, path, name) VALUES (?, ?, ?) "
        + "ON CONFLICT (path) DO UPDATE SET present = 1",
      SQLiteValue(parent), SQLiteValue(path), SQLiteValue(LibraryPath.name(path)))
    let number =
      try statements.number("SELECT id FROM folder WHERE path = ?", SQLiteValue(path)) ?? 0
    if folderNumbers.count >= Self.cacheLimit { folderNumbers = [:] }
    folderNumbers[ExactName(path)] = number
    return number
  }

  // MARK: - Tracks

  private func write(
    _ folder: String, _ file: FolderListing.File, _ tags: FileTags
  ) throws(SQLiteError) {
    let home = try folderNumber(folder)
    try statements.run(
      "DELETE FROM fault WHERE folder = ? AND name = ?", SQLiteValue(home),
      SQLiteValue(file.name))
    let signature = Self.signature(file, tags)
    let known = try statements.number(
      "SELECT id FROM track WHERE folder = ? AND name = ?", SQLiteValue(home),
      SQLiteValue(file.name))
    var number = known
    if number == nil { number = try moved(file, signature) }
    if let number { try albums.mark(track: number) }
    let album = try albums.album(of: tags, in: folder)
    var artist: Int64?
    if let name = tags.artist ?? tags.albumArtist { artist = try albums.artist(name) }
    let title = tags.title ?? LibraryPath.title(file.name)
    let values: [SQLiteValue] = [
      SQLiteValue(home), SQLiteValue(file.name), SQLiteValue(file.size),
      SQLiteValue(file.mtime), SQLiteValue(signature),
      SQLiteValue(title), SQLiteValue(tags.album),
      SQLiteValue(tags.artist), SQLiteValue(tags.albumArtist), SQLiteValue(album),
      SQLiteValue(artist), SQLiteValue(tags.track), SQLiteValue(tags.disc), SQLiteValue(tags.year),
      SQLiteValue(tags.duration), SQLiteValue(tags.codec), SQLiteValue(tags.picture),
      SQLiteValue(tags.hasVideo), SQLiteValue(SortKey.ofShelf(title)),
    ]
    if let number {
      try statements.prepared(Self.update).run(values + [SQLiteValue(number)])
    } else {
      let added = isFirstScan ? min(now, file.mtime / 1_000_000_000) : now
      try statements.prepared(Self.insert).run(values + [SQLiteValue(added)])
    }
    let written = number ?? database.lastInsertedID
    if number != nil { try albums.mark(track: written) }
    if file.isServed {
      try statements.run("UPDATE track SET measured = 1 WHERE id = ?", SQLiteValue(written))
    }
    try self.tags.set(tags, ofTrack: written)
    albums.mark(album: album, artist: artist)
  }

  private static let columns = [
    "folder", "name", "size", "mtime", "signature", "title", "album", "artist", "albumartist",
    "album_id", "artist_id", "track", "disc", "year", "duration", "codec", "picture", "video",
    "sort",
  ]
  private static let update =
    "UPDATE track SET missing = NULL, measured = 0, loudness = NULL, peak = NULL, "
    + columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE id = ?"
  private static let insert =
    "INSERT INTO track (" + columns.joined(separator: ", ") + ", added) VALUES ("
    + columns.map { _ in "?, " }.joined() + "?)"

  /// Returns a hash by which a moved file is recognised. For a file without a title tag, it includes
  /// the file's time.
  private static func signature(_ file: FolderListing.File, _ tags: FileTags) -> Int64 {
    var hash = Hash()
    hash.add(file.size)
    if file.isServed {
      hash.add(file.name)
      return hash.value
    }
    for text in [tags.title, tags.artist, tags.albumArtist, tags.album] { hash.add(text) }
    for number in [tags.track, tags.disc, tags.year] { hash.add(Int64(number ?? 0)) }
    if tags.title == nil { hash.add(file.mtime) }
    return hash.value
  }

  /// Returns the number of a track that looks like this file and whose own file is gone; nil if there
  /// is none.
  private func moved(
    _ file: FolderListing.File, _ signature: Int64
  ) throws(SQLiteError) -> Int64? {
    let candidates = try statements.prepared(
      """
      SELECT t.id, t.missing, f.path, t.name FROM track t JOIN folder f ON f.id = t.folder
      WHERE t.signature = ? AND t.size = ? ORDER BY t.missing IS NULL, t.name = ? DESC LIMIT 20
      """
    ).all([SQLiteValue(signature), SQLiteValue(file.size), SQLiteValue(file.name)]) { row in
      (
        number: row.int64(0) ?? 0, isMissing: row.int64(1) != nil, folder: row.text(2) ?? "",
        name: row.text(3) ?? ""
      )
    }
    return candidates.first { $0.isMissing || isGone($0.folder, $0.name) }?.number
  }

  /// True if the folder exists and the file does not.
  private func isGone(_ folder: String, _ name: String) -> Bool {
    let root = String(folder.prefix { $0 != "/" })
    guard isMounted(root), let place = folders.location(of: folder) else { return false }
    var status = stat()
    return lstat(FileName.bytes(of: "\(place)/\(name)"), &status) != 0
      && (errno == ENOENT || errno == ENOTDIR)
  }

  private func isMounted(_ root: String) -> Bool {
    if let isMounted = mounted[root] { return isMounted }
    let listing = folders.location(of: root).flatMap { try? FolderListing($0) }
    let isMounted = listing?.isEmpty == false
    mounted[root] = isMounted
    return isMounted
  }

  // MARK: - Lists

  private func write(_ folder: String, _ lists: [FoundList]) throws(SQLiteError) {
    let number = try folderNumber(folder)
    let known = try statements.prepared("SELECT id, file FROM playlist WHERE folder = ?")
      .all([SQLiteValue(number)]) { ($0.int64(0) ?? 0, $0.text(1) ?? "") }
    for (id, file) in known where !lists.contains(where: { $0.file == file }) {
      try statements.run("DELETE FROM playlist WHERE id = ?", SQLiteValue(id))
    }
    for list in lists {
      try statements.run(
        "INSERT INTO playlist (name, folder, file) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        SQLiteValue(LibraryPath.title(list.file)), SQLiteValue(number), SQLiteValue(list.file))
      let id = try statements.number(
        "SELECT id FROM playlist WHERE folder = ? AND file = ?", SQLiteValue(number),
        SQLiteValue(list.file))
      try statements.run("DELETE FROM playlist_entry WHERE playlist = ?", SQLiteValue(id))
      for (place, entry) in list.entries.enumerated() {
        try statements.run(
          "INSERT INTO playlist_entry (playlist, position, folder, name, uri, title) "
            + "VALUES (?, ?, ?, ?, ?, ?)",
          SQLiteValue(id), SQLiteValue(place), SQLiteValue(entry.folder), SQLiteValue(entry.name),
          SQLiteValue(entry.uri), SQLiteValue(entry.title))
      }
    }
  }
}
