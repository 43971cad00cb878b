import ExpatFeeds
import SQLiteStore

/// Content that users have put into the library and that no scan can find again: stations, saved
/// playlists, podcasts, favourites and what was played.
struct UserLists {
  private struct Station {
    var name: String
    var uri: String
    var picture: String?
  }

  private struct Entry {
    /// Folder of a file, as a path within the library.
    var folder: String?
    var name: String?
    var uri: String?
    var title: String?
    var artist: String?
    var album: String?
    var duration: Double?
    var reach: String?
  }

  private struct Favourite {
    var kind: String
    var key: String
    var title: String
    var detail: String?
    var added: Int64
  }

  private struct Play {
    var at: Int64
    var kind: String
    var key: String
    var title: String
    var artist: String?
    var album: String?
  }

  private var stations: [Station] = []
  private var playlists: [(id: Int64, name: String, entries: [Entry])] = []
  private var favourites: [Favourite] = []
  private var plays: [Play] = []
  /// Rows as they are, with their numbers.
  private var podcasts: [[SQLiteValue]] = []
  private var episodes: [[SQLiteValue]] = []
  private var places: [[SQLiteValue]] = []

  var isEmpty: Bool {
    stations.isEmpty && playlists.isEmpty && favourites.isEmpty && plays.isEmpty
      && podcasts.isEmpty && places.isEmpty
  }

  /// A phrase such as `2 stations, 1 playlist and 5 favourites were`.
  var sentence: String {
    func counted(_ count: Int, _ word: String) -> String {
      "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    return counted(stations.count, "station") + ", " + counted(playlists.count, "playlist") + ", "
      + counted(podcasts.count, "podcast") + " and " + counted(favourites.count, "favourite")
      + " were"
  }

  /// Reads all that is readable in a damaged file.
  init(rescuedFrom path: String) {
    guard let database = try? Database(path: path) else { return }
    // Rows read before an error are kept. A file of an older version has no pictures of stations.
    for sql in [
      "SELECT name, uri, picture FROM radio ORDER BY id LIMIT \(StoredLists.limit)",
      "SELECT name, uri, NULL FROM radio ORDER BY id LIMIT \(StoredLists.limit)",
    ] where stations.isEmpty {
      try? database.prepare(sql).forEach([]) { row in
        guard let name = row.text(0), let uri = row.text(1), StoredLists.isAddress(uri) else {
          return
        }
        let picture = row.text(2).flatMap(PictureName.checked)
        stations.append(Station(name: name, uri: uri, picture: picture))
      }
    }
    var found: [(id: Int64, name: String)] = []
    try? database.prepare(
      "SELECT id, name FROM playlist WHERE folder IS NULL ORDER BY id LIMIT \(StoredLists.limit)"
    ).forEach([]) { row in
      if let id = row.int64(0), let name = row.text(1) { found.append((id, name)) }
    }
    playlists = found.map { ($0.id, $0.name, Self.entries(of: $0.id, in: database)) }
    readKeepsakes(database)
    readPodcasts(database)
  }

  private mutating func readPodcasts(_ database: Database) {
    // Older files have none of these tables.
    try? database.prepare("SELECT id, uri, title, reach FROM podcast ORDER BY id LIMIT ?")
      .forEach([SQLiteValue(Podcasts.limit)]) { row in
        guard let uri = row.text(1), StoredLists.isAddress(uri) else { return }
        podcasts.append([
          SQLiteValue(row.int64(0)), .text(uri), .text(row.text(2) ?? uri),
          .text(row.text(3) ?? ""),
        ])
      }
    try? database.prepare(
      """
      SELECT id, podcast, guid, title, uri, reach, published, duration, fresh, played FROM episode
      ORDER BY id LIMIT ?
      """
    ).forEach([SQLiteValue(Podcasts.limit * PodcastFeed.episodeLimit)]) { row in
      guard let uri = row.text(4), StoredLists.isAddress(uri) else { return }
      episodes.append([
        SQLiteValue(row.int64(0)), SQLiteValue(row.int64(1)), .text(row.text(2) ?? uri),
        .text(row.text(3) ?? ""), .text(uri), .text(row.text(5) ?? ""), SQLiteValue(row.int64(6)),
        SQLiteValue(row.double(7)), SQLiteValue(row.bool(8)), SQLiteValue(row.bool(9)),
      ])
    }
    try? database.prepare("SELECT kind, key, seconds, duration, at FROM place LIMIT ?")
      .forEach([SQLiteValue(Places.limit)]) { row in
        guard let kind = row.text(0), let key = row.text(1), let seconds = row.double(2) else {
          return
        }
        places.append([
          .text(kind), .text(key), .real(seconds), SQLiteValue(row.double(3)),
          SQLiteValue(row.int64(4) ?? 0),
        ])
      }
  }

  private func writePodcasts(to database: Database) throws(SQLiteError) {
    let podcast = try database.prepare(
      "INSERT OR IGNORE INTO podcast (id, uri, title, reach) VALUES (?, ?, ?, ?)")
    for row in podcasts { try podcast.run(row) }
    // Those of a podcast that could not be read are left out.
    let episode = try database.prepare(
      """
      INSERT OR IGNORE INTO episode
        (id, podcast, guid, title, uri, reach, published, duration, fresh, played)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 WHERE ?2 IN (SELECT id FROM podcast)
      """)
    for row in episodes { try episode.run(row) }
    let place = try database.prepare(
      "INSERT OR IGNORE INTO place (kind, key, seconds, duration, at) VALUES (?, ?, ?, ?, ?)")
    for row in places { try place.run(row) }
  }

  private mutating func readKeepsakes(_ database: Database) {
    // Older files have none of these tables.
    try? database.prepare(
      "SELECT kind, key, title, detail, added FROM favourite ORDER BY id "
        + "LIMIT ?"
    ).forEach([SQLiteValue(Keepsakes.favouriteLimit)]) { row in
      guard let kind = row.text(0), let key = row.text(1), let title = row.text(2) else { return }
      favourites.append(
        Favourite(
          kind: kind, key: key, title: title, detail: row.text(3), added: row.int64(4) ?? 0))
    }
    try? database.prepare(
      "SELECT at, kind, key, title, artist, album FROM play ORDER BY id LIMIT ?"
    ).forEach([SQLiteValue(Keepsakes.playLimit)]) { row in
      guard let kind = row.text(1), let key = row.text(2), let title = row.text(3) else { return }
      plays.append(
        Play(
          at: row.int64(0) ?? 0, kind: kind, key: key, title: title, artist: row.text(4),
          album: row.text(5)))
    }
  }

  /// Identifies tracks by their files, because their numbers are different in the new database.
  private static func entries(of playlist: Int64, in database: Database) -> [Entry] {
    var entries: [Entry] = []
    let knowsReach = (try? database.prepare("SELECT reach FROM playlist_entry")) != nil
    try? database.prepare(
      """
      SELECT coalesce(e.folder, f.path), coalesce(e.name, t.name), e.uri, e.title, e.artist, e.album,
        e.duration\(knowsReach ? ", e.reach" : "")
      FROM playlist_entry e LEFT JOIN track t ON t.id = e.track LEFT JOIN folder f ON f.id = t.folder
      WHERE e.playlist = ? ORDER BY e.position
      """
    ).forEach([SQLiteValue(playlist)]) { row in
      var entry = Entry(folder: row.text(0), name: row.text(1), uri: row.text(2))
      (entry.title, entry.artist, entry.album) = (row.text(3), row.text(4), row.text(5))
      entry.duration = row.double(6)
      if knowsReach { entry.reach = row.text(7) }
      if entry.uri.map(StoredLists.isAddress) ?? (entry.name != nil) { entries.append(entry) }
    }
    return entries
  }

  func write(to database: Database) throws(SQLiteError) {
    try database.transaction { () throws(SQLiteError) in
      for station in stations {
        try database.run(
          """
          INSERT INTO radio (name, uri, picture, artwork) VALUES (?, ?, ?, ?)
          ON CONFLICT DO NOTHING
          """, SQLiteValue(station.name), SQLiteValue(station.uri), SQLiteValue(station.picture),
          SQLiteValue(station.picture.map(PictureName.of)))
      }
      var numbers: [String: String] = [:]
      for playlist in playlists {
        try database.run("INSERT INTO playlist (name) VALUES (?)", SQLiteValue(playlist.name))
        let number = try database.prepare("SELECT max(id) FROM playlist").first { $0.int64(0) }
        numbers["p\(playlist.id)"] = "p\((number ?? nil) ?? 0)"
        try write(playlist.entries, of: (number ?? nil) ?? 0, to: database)
      }
      for favourite in favourites {
        try database.run(
          "INSERT OR IGNORE INTO favourite (kind, key, title, detail, added) VALUES (?, ?, ?, ?, ?)",
          .text(favourite.kind), .text(numbers[favourite.key] ?? favourite.key),
          .text(favourite.title), SQLiteValue(favourite.detail), SQLiteValue(favourite.added))
      }
      for play in plays {
        try database.run(
          "INSERT INTO play (at, kind, key, title, artist, album) VALUES (?, ?, ?, ?, ?, ?)",
          SQLiteValue(play.at), .text(play.kind), .text(play.key), .text(play.title),
          SQLiteValue(play.artist), SQLiteValue(play.album))
      }
      try writePodcasts(to: database)
    }
  }

  private func write(
    _ entries: [Entry], of playlist: Int64, to database: Database
  ) throws(SQLiteError) {
    let insert = try database.prepare(
      """
      INSERT INTO playlist_entry (playlist, position, folder, name, uri, title, artist, album,
        duration, reach) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    for (place, entry) in entries.enumerated() {
      try insert.run(
        SQLiteValue(playlist), SQLiteValue(place), SQLiteValue(entry.folder),
        SQLiteValue(entry.name), SQLiteValue(entry.uri), SQLiteValue(entry.title),
        SQLiteValue(entry.artist), SQLiteValue(entry.album), SQLiteValue(entry.duration),
        SQLiteValue(entry.reach))
    }
  }
}
