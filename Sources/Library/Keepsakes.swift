import Clock
import House
import SQLiteStore
import Service

// Favourites, and what was played.

/// How a thing is found again: by a text that stays the same when the library's file is made anew.
struct ThingKey: Hashable, Sendable {
  var kind: LibraryThing.Kind
  var key: String
}

enum Keepsakes {
  static let favouriteLimit = 1_000
  /// The oldest plays are forgotten.
  static let playLimit = 10_000

  // MARK: - Favourites

  static func favourites(_ database: Database) throws -> [LibraryThing] {
    let kept = try database.prepare(
      "SELECT kind, key, title, detail, added FROM favourite ORDER BY added DESC, id DESC"
    ).all { row in
      (
        kind: row.text(0).flatMap(LibraryThing.Kind.init), key: row.text(1) ?? "",
        title: row.text(2) ?? "", detail: row.text(3), added: row.double(4)
      )
    }
    let finder = ThingFinder(database)
    return try kept.compactMap { row in
      guard let kind = row.kind else { return nil }
      var thing = try finder.thing(ThingKey(kind: kind, key: row.key), row.title, row.detail)
      thing?.atS = row.added
      return thing
    }
  }

  static func setFavourite(
    _ kind: LibraryThing.Kind, _ id: String, to isFavourite: Bool, at now: Int64,
    _ database: Database
  ) throws {
    let finder = ThingFinder(database)
    guard let key = try finder.key(kind, id) else {
      // Something that is gone can still be taken off the list, and is none any more.
      guard isFavourite else { return }
      throw Refusal.noSuch("There is no such thing in the library any more; look for it again.")
    }
    guard isFavourite else {
      try database.run(
        "DELETE FROM favourite WHERE kind = ? AND key = ?", .text(kind.rawValue), .text(key.key))
      return
    }
    let others = try database.prepare(
      "SELECT count(*) FROM favourite WHERE NOT (kind = ? AND key = ?)"
    ).first([.text(kind.rawValue), .text(key.key)]) { $0.int(0) ?? 0 }
    guard others ?? 0 < favouriteLimit else {
      throw Refusal.invalid(
        "There are \(favouriteLimit) favourites already; take one off the list first.")
    }
    let thing = try finder.thing(key, id, nil)
    try database.run(
      """
      INSERT INTO favourite (kind, key, title, detail, added) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING
      """, .text(kind.rawValue), .text(key.key), SQLiteValue(thing?.title ?? id),
      SQLiteValue(thing?.detail), SQLiteValue(now))
  }

  // MARK: - History

  /// Something that was played long enough to count.
  struct Play: Hashable, Sendable {
    /// A track's number as `t12`, a station's address, an input's name.
    var kind: LibraryThing.Kind
    var name: String
    var title: String
    var artist: String?
    /// When it began, in seconds since 1970.
    var at: Int64
  }

  /// Plays of anything that is not of the household, such as an address that somebody typed, are left out.
  static func note(_ play: Play, _ database: Database) throws {
    let finder = ThingFinder(database)
    var key = ThingKey(kind: play.kind, key: play.name)
    var album: String?
    switch play.kind {
    case .track:
      guard let found = try finder.key(.track, play.name) else { return }
      key = found
      album = try finder.albumKey(ofTrack: play.name)
    case .radio:
      if let episode = try Podcasts.episode(at: play.name, database) {
        key = ThingKey(kind: .episode, key: episode)
      }
      guard try finder.thing(key, "", nil) != nil else { return }
    case .input: break
    case .album, .artist, .playlist, .podcast, .episode: return
    }
    try database.transaction { () throws(SQLiteError) in
      try database.run(
        "INSERT INTO play (at, kind, key, title, artist, album) VALUES (?, ?, ?, ?, ?, ?)",
        SQLiteValue(play.at), .text(key.kind.rawValue), .text(key.key), .text(play.title),
        SQLiteValue(play.artist), SQLiteValue(album))
      try database.run(
        "DELETE FROM play WHERE id <= ?",
        SQLiteValue(database.lastInsertedID - Int64(playLimit)))
    }
  }

  /// Largest number of plays, latest first, in which `recent` looks.
  private static let recentDepth = 2_000

  static func recent(limit: Int, _ database: Database) throws -> [LibraryThing] {
    let played = try database.prepare(
      """
      SELECT CASE WHEN album IS NULL THEN kind ELSE 'album' END AS k, coalesce(album, key) AS x,
        title, max(at), max(id) FROM (SELECT * FROM play ORDER BY id DESC LIMIT ?)
      GROUP BY k, x ORDER BY max(id) DESC LIMIT ?
      """
    ).all([SQLiteValue(recentDepth), SQLiteValue(limit * 2)]) { row in
      (
        kind: row.text(0).flatMap(LibraryThing.Kind.init), key: row.text(1) ?? "",
        title: row.text(2) ?? "", at: row.double(3)
      )
    }
    let finder = ThingFinder(database)
    let things: [LibraryThing] = try played.compactMap { row in
      guard let kind = row.kind else { return nil }
      // A station's plays have the titles of its music; its own is that of the library.
      var thing = try finder.thing(ThingKey(kind: kind, key: row.key), row.title, nil)
      thing?.atS = row.at
      return thing
    }
    return Array(things.prefix(limit))
  }

  static func history(offset: Int, limit: Int, _ database: Database) throws -> PlayPage {
    let count = try database.prepare("SELECT count(*) FROM play").first { $0.int(0) ?? 0 }
    let rows = try database.prepare(
      "SELECT kind, key, title, artist, at FROM play ORDER BY id DESC LIMIT ? OFFSET ?"
    ).all([SQLiteValue(limit), SQLiteValue(offset)]) { row in
      (
        kind: row.text(0).flatMap(LibraryThing.Kind.init), key: row.text(1) ?? "",
        title: row.text(2) ?? "", artist: row.text(3), at: row.double(4) ?? 0
      )
    }
    let finder = ThingFinder(database)
    let plays: [PlayPage.Play] = try rows.compactMap { row in
      guard let kind = row.kind else { return nil }
      let track = kind == .track ? try finder.track(row.key) : nil
      let thing = try finder.thing(ThingKey(kind: kind, key: row.key), row.title, row.artist)
      var play = PlayPage.Play(kind, id: thing?.id, title: row.title, atS: row.at)
      play.artist = row.artist ?? (kind == .radio ? thing?.title : nil)
      (play.artwork, play.albumId) = (thing?.artwork, track?.albumId)
      return play
    }
    return PlayPage(count: count ?? 0, plays: plays)
  }

  static func clearHistory(_ database: Database) throws {
    try database.run("DELETE FROM play")
  }
}

/// Finds things by their keys, and keys of things. For its database's thread.
final class ThingFinder {
  private let statements: Statements

  init(_ database: Database) { statements = Statements(database) }

  /// Returns nil if there is no such thing.
  func key(_ kind: LibraryThing.Kind, _ id: String) throws -> ThingKey? {
    let key: String?
    switch kind {
    case .album:
      key = try text("SELECT key FROM album WHERE id = ?", id, LibraryNumber.album)
    case .artist:
      key = try text("SELECT key FROM artist WHERE id = ?", id, LibraryNumber.artist)
    case .track:
      key = try text(
        "SELECT f.path || '/' || t.name FROM track t JOIN folder f ON f.id = t.folder WHERE t.id = ?",
        id, LibraryNumber.track)
    case .radio: key = try text("SELECT uri FROM radio WHERE id = ?", id, LibraryNumber.radio)
    case .playlist:
      key = try text(
        """
        SELECT CASE WHEN p.folder IS NULL THEN 'p' || p.id ELSE f.path || '/' || p.file END
        FROM playlist p LEFT JOIN folder f ON f.id = p.folder WHERE p.id = ?
        """, id, LibraryNumber.playlist)
    case .input: key = id
    case .podcast: key = try text("SELECT uri FROM podcast WHERE id = ?", id, LibraryNumber.podcast)
    case .episode:
      key = try text("SELECT 'e' || id FROM episode WHERE id = ?", id, LibraryNumber.episode)
    }
    return key.map { ThingKey(kind: kind, key: $0) }
  }

  func albumKey(ofTrack id: String) throws -> String? {
    try text(
      "SELECT key FROM album WHERE id = (SELECT album_id FROM track WHERE id = ?)", id,
      LibraryNumber.track)
  }

  private func text(_ sql: String, _ id: String, _ letter: Character) throws -> String? {
    guard let number = LibraryNumber.parse(id, letter) else { return nil }
    return try statements.prepared(sql).first([SQLiteValue(number)]) { $0.text(0) } ?? nil
  }

  /// Returns nil if the thing is not there now, because its files or disk are gone.
  ///
  /// - Parameters:
  ///   - title: names an input, and finds an album whose key has changed, because its folder was moved.
  ///   - detail: the artist of such an album.
  func thing(_ key: ThingKey, _ title: String, _ detail: String?) throws -> LibraryThing? {
    switch key.kind {
    case .album: return try album(key.key, title, detail)
    case .artist:
      return try statements.prepared(Artist.columns + "WHERE key = ? AND albums + loose > 0")
        .first([.text(key.key)]) { Artist($0) }.map { artist in
          var thing = LibraryThing(.artist, id: artist.id, title: artist.name)
          thing.artwork = artist.artwork
          return thing
        }
    case .track:
      return try track(key.key).map { track in
        var thing = LibraryThing(.track, id: track.id, title: track.title, detail: track.artist)
        thing.artwork = track.artwork
        return thing
      }
    case .radio:
      return try statements.prepared(Radio.columns + "WHERE uri = ?")
        .first([.text(key.key)]) { Radio($0) }.map { radio in
          var thing = LibraryThing(.radio, id: radio.id, title: radio.name)
          thing.artwork = radio.artwork
          return thing
        }
    case .playlist: return try playlist(key.key)
    case .input: return LibraryThing(.input, id: key.key, title: key.key)
    case .podcast:
      return try statements.prepared(Podcast.columns + "WHERE uri = ?")
        .first([.text(key.key)]) { Podcast($0) }?.thing
    case .episode:
      return try statements.prepared(
        "SELECT e.title, p.title FROM episode e JOIN podcast p ON p.id = e.podcast WHERE e.id = ?"
      ).first([SQLiteValue(LibraryNumber.parse(key.key, LibraryNumber.episode))]) { row in
        LibraryThing(.episode, id: key.key, title: row.text(0) ?? "", detail: row.text(1))
      }
    }
  }

  private func album(_ key: String, _ title: String, _ artist: String?) throws -> LibraryThing? {
    let columns = Album.columns + "WHERE tracks > 0 AND "
    var found = try statements.prepared(columns + "key = ?").first([.text(key)]) { Album($0) }
    if found == nil, !title.isEmpty {
      found = try statements.prepared(columns + "title = ? AND artist_name IS ? LIMIT 1")
        .first([.text(title), SQLiteValue(artist)]) { Album($0) }
    }
    return found.map { album in
      var thing = LibraryThing(.album, id: album.id, title: album.title, detail: album.artist)
      thing.artwork = album.artwork
      return thing
    }
  }

  func track(_ path: String) throws -> Track? {
    guard let folder = LibraryPath.parent(path) else { return nil }
    return try statements.prepared(
      FoundTrack.columns + "WHERE t.missing IS NULL AND f.path = ? AND t.name = ?"
    ).first([.text(folder), .text(LibraryPath.name(path))]) { FoundTrack($0) }?.track
  }

  private func playlist(_ key: String) throws -> LibraryThing? {
    let found: StoredPlaylist?
    if let number = LibraryNumber.parse(key, LibraryNumber.playlist) {
      found = try statements.prepared(StoredPlaylist.columns + "WHERE id = ? AND folder IS NULL")
        .first([SQLiteValue(number)]) { StoredPlaylist($0) }
    } else if let folder = LibraryPath.parent(key) {
      found = try statements.prepared(
        StoredPlaylist.columns
          + "WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ?"
      ).first([.text(folder), .text(LibraryPath.name(key))]) { StoredPlaylist($0) }
    } else {
      found = nil
    }
    return found.map {
      let count = "\($0.trackCount) track\($0.trackCount == 1 ? "" : "s")"
      return LibraryThing(.playlist, id: $0.id, title: $0.name, detail: count)
    }
  }
}
