import House
import SQLiteStore
import Sender
import Service

// Stations and playlists.

extension Radio {
  static let columns = "SELECT id, name, uri, artwork FROM radio "

  init(_ row: borrowing Row) {
    self.init(id: "s\(row.int64(0) ?? 0)", name: row.text(1) ?? "", uri: row.text(2) ?? "")
    artwork = row.text(3)
  }
}

extension StoredPlaylist {
  static let columns = """
    SELECT id, name, (SELECT count(*) FROM playlist_entry WHERE playlist = playlist.id), revision,
      folder IS NOT NULL
    FROM playlist

    """

  init(_ row: borrowing Row) {
    self.init(
      id: "p\(row.int64(0) ?? 0)", name: row.text(1) ?? "", trackCount: row.int(2) ?? 0)
    (revision, isFile) = (UInt64(clamping: row.int64(3) ?? 0), row.bool(4))
  }
}

enum StoredLists {
  /// Stations, and playlists that somebody saved; those in folders come on top.
  static let limit = 2_000

  static func radios(_ database: Database) throws -> [Radio] {
    try database.prepare(Radio.columns + "ORDER BY id").all { Radio($0) }
      .sorted { (SortKey.of($0.name), $0.id) < (SortKey.of($1.name), $1.id) }
  }

  /// A station that is there already gets the name, and the picture where there is one.
  ///
  /// - Parameter picture: its address.
  static func addRadio(
    name: String, uri: String, picture: String? = nil, _ database: Database
  ) throws -> Radio {
    let picture = picture.flatMap(PictureName.checked)
    let count = try database.prepare("SELECT count(*) FROM radio").first { $0.int(0) ?? 0 } ?? 0
    guard count < limit else {
      throw Refusal.invalid("There are \(limit) stations already; delete one first.")
    }
    try database.run(
      """
      INSERT INTO radio (name, uri, picture, artwork) VALUES (?, ?, ?, ?)
      ON CONFLICT (uri) DO UPDATE SET name = excluded.name,
        picture = coalesce(excluded.picture, picture), artwork = coalesce(excluded.artwork, artwork)
      """, SQLiteValue(name), SQLiteValue(uri), SQLiteValue(picture),
      SQLiteValue(picture.map(PictureName.of)))
    guard
      let radio = try database.prepare(Radio.columns + "WHERE uri = ?")
        .first([SQLiteValue(uri)], { Radio($0) })
    else { throw Refusal.unavailable("The station was not kept; try again.") }
    return radio
  }

  static func removeRadio(_ id: String, _ database: Database) throws {
    let number = LibraryNumber.parse(id, LibraryNumber.radio)
    try database.run("DELETE FROM radio WHERE id = ?", SQLiteValue(number))
    guard database.changedRows == 1 else {
      throw Refusal.noSuch("There is no such station; it may be deleted already.")
    }
  }

  static func playlists(_ database: Database) throws -> [StoredPlaylist] {
    try database.prepare(StoredPlaylist.columns).all { StoredPlaylist($0) }
      .sorted { (SortKey.of($0.name), $0.id) < (SortKey.of($1.name), $1.id) }
  }

  static func playlist(_ id: String, _ database: Database) throws -> StoredPlaylist {
    let number = LibraryNumber.parse(id, LibraryNumber.playlist)
    guard
      let playlist = try database.prepare(StoredPlaylist.columns + "WHERE id = ?")
        .first([SQLiteValue(number)], { StoredPlaylist($0) })
    else { throw Refusal.noSuch("There is no such playlist; it may be deleted already.") }
    return playlist
  }

  /// Tracks that are gone are left out; other files than the library's have none of it anyway.
  static func entries(
    ofPlaylist id: String, _ folders: LibraryFolders, _ database: Database
  ) throws -> [(position: Int, entry: Order.NewEntry)] {
    let number = LibraryNumber.parse(id, LibraryNumber.playlist)
    let named = try database.prepare(
      """
      SELECT uri, title, artist, album, duration, coalesce(track, (
          SELECT t.id FROM track t JOIN folder f ON f.id = t.folder
          WHERE f.path = e.folder AND t.name = e.name)), reach, position
      FROM playlist_entry e WHERE playlist = ? ORDER BY position
      """
    ).all([SQLiteValue(number)]) { row in
      var entry = Order.NewEntry(location: row.text(0) ?? "")
      entry.title = row.text(1)
      entry.artist = row.text(2)
      entry.album = row.text(3)
      entry.durationS = row.double(4)
      entry.reach = SourceReach(kept: row.text(6))
      return (entry, row.int64(5), row.int(7) ?? 0)
    }
    return try named.compactMap { entry, track, position in
      if !entry.location.isEmpty { return (position, entry) }
      return try FoundTrack.all(database, where: "t.id = ?", [SQLiteValue(track)]).first
        .flatMap { $0.entry(in: folders) }.map { (position, $0) }
    }
  }

  /// Those of these addresses that a playlist keeps for the internet alone.
  static func narrow(
    among addresses: Set<String>, _ database: Database
  ) throws -> Set<String> {
    // A reach that nobody can have written counts as the narrowest here, too.
    let kept = try database.prepare(
      "SELECT uri FROM playlist_entry WHERE reach NOT IN ('all', 'network')"
    ).all { row -> String? in row.text(0).flatMap { addresses.contains($0) ? $0 : nil } }
    return Set(kept.compactMap(\.self))
  }

  /// Names that are told of what is gone.
  static let missingLimit = 100

  /// The items that `entries` leaves out, by their titles or the names of their files.
  static func missing(
    ofPlaylist id: String, _ database: Database
  ) throws(SQLiteError) -> [String] {
    try database.prepare(
      """
      SELECT e.title, e.name FROM playlist_entry e
      WHERE playlist = ? AND coalesce(uri, '') = '' AND NOT EXISTS (
        SELECT 1 FROM track t JOIN folder f ON f.id = t.folder
        WHERE t.missing IS NULL AND t.id = coalesce(e.track, (
          SELECT t.id FROM track t JOIN folder f ON f.id = t.folder
          WHERE f.path = e.folder AND t.name = e.name)))
      ORDER BY position LIMIT ?
      """
    ).all([SQLiteValue(LibraryNumber.parse(id, LibraryNumber.playlist)), SQLiteValue(missingLimit)])
    {
      $0.text(0) ?? LibraryPath.title($0.text(1) ?? "")
    }
  }

  static func save(
    _ name: String, _ entries: [QueuePage.Entry], _ database: Database
  ) throws -> StoredPlaylist {
    try PlaylistEdits.check(name)
    guard entries.count <= Playlist.limit else { throw PlaylistEdits.isFull }
    let count = try database.prepare("SELECT count(*) FROM playlist WHERE folder IS NULL")
      .first { $0.int(0) ?? 0 }
    guard count ?? 0 < limit else {
      throw Refusal.invalid("There are \(limit) playlists already; delete one first.")
    }
    let number = try database.transaction { () throws(SQLiteError) in
      try database.run("INSERT INTO playlist (name) VALUES (?)", SQLiteValue(name))
      let number = database.lastInsertedID
      try PlaylistEdits.insert(entries, at: 0, of: SQLiteValue(number), database)
      return number
    }
    return try playlist("p\(number)", database)
  }

  static func isAddress(_ text: String) -> Bool {
    ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
  }

  static func removePlaylist(_ id: String, _ database: Database) throws {
    let number = LibraryNumber.parse(id, LibraryNumber.playlist)
    try database.run("DELETE FROM playlist WHERE id = ? AND folder IS NULL", SQLiteValue(number))
    guard database.changedRows == 0 else { return }
    _ = try playlist(id, database)
    throw Refusal.invalid(
      "This playlist is a file in the library's folders; delete the file there.")
  }
}

extension SourceReach {
  /// As a playlist keeps it: none is known of files in folders and of what an older program has saved. One that nobody
  /// can have written is the narrowest.
  init(kept text: String?) {
    self = text.map { SourceReach(rawValue: $0) ?? .internet } ?? .network
  }
}

extension FoundTrack {
  /// As it goes into a queue; nil where its folder is none of the library any more.
  func entry(in folders: LibraryFolders) -> Order.NewEntry? {
    guard let location = folders.location(of: folder) else { return nil }
    var entry = Order.NewEntry(location: "\(location)/\(name)")
    entry.title = track.title
    entry.artist = track.artist
    entry.album = track.album
    entry.durationS = track.durationS
    entry.artwork = track.artwork
    (entry.trackId, entry.albumId) = (track.id, track.albumId)
    entry.hasVideo = track.hasVideo
    return entry
  }
}
