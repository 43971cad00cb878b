import SQLiteStore

/// The tables of the library's file.
enum LibrarySchema {
  /// The version of these tables; a file of an older version is brought up to it, one of a newer version is left alone.
  private static let version = 9

  static func prepare(_ database: Database) throws(SQLiteError) -> Bool {
    let found = try database.version()
    guard found <= version else { return false }
    try database.transaction { () throws(SQLiteError) in
      // Each version adds its step here.
      if found < 1 { try database.execute(all) }
      if found == 1 { try database.execute("ALTER TABLE playlist_entry ADD COLUMN reach TEXT") }
      if (1...3).contains(found) { try database.execute(browsing + keepsakes + readAgain) }
      if (1...4).contains(found) { try database.execute(loudness) }
      if (1...5).contains(found) {
        try database.execute("ALTER TABLE playlist ADD COLUMN revision INTEGER NOT NULL DEFAULT 0")
      }
      if (1...6).contains(found) { try database.execute(podcasts) }
      if (1...7).contains(found) { try database.execute(pictures) }
      if (1...8).contains(found) { try database.execute(readMixed) }
      try database.setVersion(version)
    }
    try check(database)
    return true
  }

  /// A flipped bit may leave tables that SQLite reads, and that are not these.
  private static func check(_ database: Database) throws(SQLiteError) {
    let fresh = try Database(path: Database.inMemory)
    try fresh.execute(all)
    guard try shape(of: database) == shape(of: fresh) else {
      throw SQLiteError(damaged: database.path, "the tables are not those that it was made with")
    }
  }

  /// The names of tables, columns and triggers, without the tables that SQLite makes by itself.
  private static func shape(of database: Database) throws(SQLiteError) -> [String] {
    try database.prepare(
      """
      SELECT coalesce(s.type, '') || ' ' || coalesce(s.name, '') || ' ' || coalesce(c.name, '')
      FROM sqlite_schema s LEFT JOIN pragma_table_info(s.name) c
      WHERE s.name NOT GLOB 'sqlite_*' AND s.name NOT GLOB 'search_*' AND s.name NOT GLOB 'label_*'
      ORDER BY 1
      """
    ).all { $0.text(0) ?? "" }
  }

  // A folder's path begins with the name of its library folder: what is mounted elsewhere keeps its tracks. `hash` is
  // that of the names, sizes and times in it, once all of it was read. Numbers of tracks, albums and artists are never
  // used again. A track of which the file is gone is `missing` since that second, until it comes back somewhere.
  private static let tables = """
    CREATE TABLE folder (
      id INTEGER PRIMARY KEY, parent INTEGER REFERENCES folder, path TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL, hash INTEGER NOT NULL DEFAULT 0, image TEXT, image_name TEXT,
      present INTEGER NOT NULL DEFAULT 1);
    CREATE INDEX folder_parent ON folder (parent);
    CREATE INDEX folder_image ON folder (image) WHERE image IS NOT NULL;
    CREATE TABLE artist (
      id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
      sort TEXT NOT NULL, albums INTEGER NOT NULL DEFAULT 0, loose INTEGER NOT NULL DEFAULT 0,
      artwork TEXT);
    CREATE INDEX artist_sort ON artist (sort, id);
    CREATE TABLE album (
      id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
      sort TEXT NOT NULL, artist INTEGER REFERENCES artist, artist_name TEXT,
      artist_sort TEXT NOT NULL DEFAULT '', year INTEGER, tracks INTEGER NOT NULL DEFAULT 0,
      duration REAL, artwork TEXT, added INTEGER);
    CREATE INDEX album_artist ON album (artist);
    CREATE TABLE track (
      id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER NOT NULL REFERENCES folder,
      name TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, signature INTEGER NOT NULL,
      title TEXT NOT NULL, album TEXT, artist TEXT, albumartist TEXT,
      album_id INTEGER REFERENCES album, artist_id INTEGER REFERENCES artist,
      track INTEGER, disc INTEGER, year INTEGER, duration REAL, codec TEXT, picture TEXT,
      video INTEGER NOT NULL DEFAULT 0, added INTEGER NOT NULL, missing INTEGER,
      UNIQUE (folder, name));
    CREATE INDEX track_album ON track (album_id);
    CREATE INDEX track_artist ON track (artist_id);
    CREATE INDEX track_signature ON track (signature);
    CREATE INDEX track_picture ON track (picture) WHERE picture IS NOT NULL;
    CREATE INDEX track_missing ON track (missing) WHERE missing IS NOT NULL;
    CREATE TABLE fault (
      folder INTEGER NOT NULL REFERENCES folder ON DELETE CASCADE, name TEXT NOT NULL,
      size INTEGER NOT NULL, mtime INTEGER NOT NULL, reason TEXT NOT NULL,
      PRIMARY KEY (folder, name)) WITHOUT ROWID;
    CREATE TABLE radio (
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, uri TEXT NOT NULL UNIQUE,
      artwork TEXT);
    CREATE TABLE playlist (
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, folder INTEGER REFERENCES folder,
      file TEXT, revision INTEGER NOT NULL DEFAULT 0, UNIQUE (folder, file));
    CREATE TABLE playlist_entry (
      playlist INTEGER NOT NULL REFERENCES playlist ON DELETE CASCADE, position INTEGER NOT NULL,
      track INTEGER, folder TEXT, name TEXT, uri TEXT, title TEXT, artist TEXT, album TEXT,
      duration REAL, reach TEXT, PRIMARY KEY (playlist, position)) WITHOUT ROWID;

    """

  private static let all =
    tables + search + labels + browsing + keepsakes + loudness + podcasts + pictures

  /// Version 3 gives an album to files that name none, version 4 knows genres and composers: all files are read once more.
  private static let readAgain = """
    UPDATE folder SET hash = 0;
    UPDATE track SET mtime = 0;

    """

  /// Version 9 leaves an album with guests to its artist: files of albums by several artists are read once more.
  private static let readMixed = """
    UPDATE folder SET hash = 0 WHERE id IN (
      SELECT t.folder FROM track t JOIN album a ON a.id = t.album_id
      WHERE a.artist_name = 'Various artists');
    UPDATE track SET mtime = 0 WHERE album_id IN (
      SELECT id FROM album WHERE artist_name = 'Various artists');

    """

  /// Added by version 4: the order of all tracks, and the genres and composers that files name.
  private static let browsing = """
    ALTER TABLE track ADD COLUMN sort TEXT NOT NULL DEFAULT '';
    CREATE INDEX track_sort ON track (sort) WHERE missing IS NULL;
    CREATE INDEX track_added ON track (added) WHERE missing IS NULL;
    CREATE TABLE tag (
      id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT NOT NULL,
      name TEXT NOT NULL, sort TEXT NOT NULL, UNIQUE (kind, key));
    CREATE TABLE track_tag (
      tag INTEGER NOT NULL REFERENCES tag ON DELETE CASCADE,
      track INTEGER NOT NULL REFERENCES track ON DELETE CASCADE,
      PRIMARY KEY (tag, track)) WITHOUT ROWID;
    CREATE INDEX track_tag_track ON track_tag (track);

    """

  // Added by version 5. `measured` is 1 once somebody tried. `loudness` holds `LoudnessBlocks`; null where there is
  // nothing to measure.
  private static let loudness = """
    ALTER TABLE track ADD COLUMN measured INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE track ADD COLUMN loudness TEXT;
    ALTER TABLE track ADD COLUMN peak REAL;
    CREATE INDEX track_unmeasured ON track (album_id) WHERE measured = 0 AND missing IS NULL;

    """

  // `key` is what finds the thing again in a file that was made anew, where numbers are others: the key of an album or
  // artist, the path of a track, the address of a station, an input's name, a playlist's number or path.
  private static let keepsakes = """
    CREATE TABLE favourite (
      id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT NOT NULL,
      title TEXT NOT NULL, detail TEXT, added INTEGER NOT NULL, UNIQUE (kind, key));
    CREATE TABLE play (
      id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, artist TEXT, album TEXT);
    CREATE TRIGGER kept_track_moved AFTER UPDATE OF folder, name ON track
      WHEN old.folder IS NOT new.folder OR old.name IS NOT new.name BEGIN
      UPDATE OR REPLACE favourite
        SET key = (SELECT path FROM folder WHERE id = new.folder) || '/' || new.name
        WHERE kind = 'track'
          AND key = (SELECT path FROM folder WHERE id = old.folder) || '/' || old.name;
    END;
    CREATE TRIGGER kept_radio_removed AFTER DELETE ON radio BEGIN
      DELETE FROM favourite WHERE kind = 'radio' AND key = old.uri;
    END;
    CREATE TRIGGER kept_playlist_removed AFTER DELETE ON playlist WHEN old.folder IS NULL BEGIN
      DELETE FROM favourite WHERE kind = 'playlist' AND key = 'p' || old.id;
    END;

    """

  // Added by version 7. `due` is when the feed is read next. An episode is `fresh` until somebody begins it, where it has
  // come after its household has subscribed. `place` has where people have left tracks, by their paths, and episodes, by
  // their numbers.
  private static let podcasts = """
    CREATE TABLE podcast (
      id INTEGER PRIMARY KEY AUTOINCREMENT, uri TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
      reach TEXT NOT NULL, problem TEXT, failures INTEGER NOT NULL DEFAULT 0,
      due INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE episode (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      podcast INTEGER NOT NULL REFERENCES podcast ON DELETE CASCADE, guid TEXT NOT NULL,
      title TEXT NOT NULL, uri TEXT NOT NULL, published INTEGER, duration REAL,
      reach TEXT NOT NULL, fresh INTEGER NOT NULL, played INTEGER NOT NULL DEFAULT 0,
      UNIQUE (podcast, guid));
    CREATE INDEX episode_uri ON episode (uri);
    CREATE TABLE place (
      kind TEXT NOT NULL, key TEXT NOT NULL, seconds REAL NOT NULL, duration REAL,
      at INTEGER NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
    CREATE INDEX place_at ON place (at);
    CREATE TRIGGER kept_podcast_removed AFTER DELETE ON podcast BEGIN
      DELETE FROM favourite WHERE kind = 'podcast' AND key = old.uri;
    END;
    CREATE TRIGGER kept_episode_removed AFTER DELETE ON episode BEGIN
      DELETE FROM favourite WHERE kind = 'episode' AND key = 'e' || old.id;
      DELETE FROM place WHERE kind = 'episode' AND key = 'e' || old.id;
    END;
    CREATE TRIGGER place_moved AFTER UPDATE OF folder, name ON track
      WHEN old.folder IS NOT new.folder OR old.name IS NOT new.name BEGIN
      UPDATE OR REPLACE place
        SET key = (SELECT path FROM folder WHERE id = new.folder) || '/' || new.name
        WHERE kind = 'track'
          AND key = (SELECT path FROM folder WHERE id = old.folder) || '/' || old.name;
    END;

    """

  // Added by version 8. `picture` is an address, and `artwork` its name as a picture's. A feed's picture may lead as far
  // as its episodes.
  private static let pictures = """
    ALTER TABLE podcast ADD COLUMN picture TEXT;
    ALTER TABLE podcast ADD COLUMN picture_reach TEXT;
    ALTER TABLE podcast ADD COLUMN artwork TEXT;
    ALTER TABLE radio ADD COLUMN picture TEXT;
    UPDATE podcast SET due = 0;

    """

  private static let tokens = "tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3'"

  /// Over the tracks' own columns.
  private static let search = """
    CREATE VIRTUAL TABLE search USING fts5 (
      title, album, artist, albumartist, content = 'track', content_rowid = 'id', \(tokens));
    CREATE TRIGGER track_added AFTER INSERT ON track BEGIN
      INSERT INTO search (rowid, title, album, artist, albumartist)
        VALUES (new.id, new.title, new.album, new.artist, new.albumartist);
    END;
    CREATE TRIGGER track_removed AFTER DELETE ON track BEGIN
      INSERT INTO search (search, rowid, title, album, artist, albumartist)
        VALUES ('delete', old.id, old.title, old.album, old.artist, old.albumartist);
    END;
    CREATE TRIGGER track_changed AFTER UPDATE OF title, album, artist, albumartist ON track
      WHEN old.title IS NOT new.title OR old.album IS NOT new.album OR old.artist IS NOT new.artist
        OR old.albumartist IS NOT new.albumartist BEGIN
      INSERT INTO search (search, rowid, title, album, artist, albumartist)
        VALUES ('delete', old.id, old.title, old.album, old.artist, old.albumartist);
      INSERT INTO search (rowid, title, album, artist, albumartist)
        VALUES (new.id, new.title, new.album, new.artist, new.albumartist);
    END;

    """

  /// Names of everything else: the number of an entry is four times that of what it names, and its kind.
  private static let labels =
    """
    CREATE VIRTUAL TABLE label USING fts5 (text, detail, \(tokens));

    """
    + LabelKind.allCases.map { kind in
      let (table, detail) = (kind.table, kind.detail)
      let number = "* 4 + \(kind.rawValue)"
      return """
        CREATE TRIGGER \(table)_added AFTER INSERT ON \(table) BEGIN
          INSERT INTO label (rowid, text, detail)
            VALUES (new.id \(number), new.\(kind.text), \(detail.map { "new." + $0 } ?? "NULL"));
        END;
        CREATE TRIGGER \(table)_removed AFTER DELETE ON \(table) BEGIN
          DELETE FROM label WHERE rowid = old.id \(number);
        END;
        CREATE TRIGGER \(table)_changed AFTER UPDATE ON \(table)
          WHEN old.\(kind.text) IS NOT new.\(kind.text)
            \(detail.map { "OR old.\($0) IS NOT new.\($0)" } ?? "") BEGIN
          UPDATE label SET text = new.\(kind.text), detail = \(detail.map { "new." + $0 } ?? "NULL")
            WHERE rowid = new.id \(number);
        END;

        """
    }.joined()
}

/// The kinds of things that have a label to be searched for.
enum LabelKind: Int, CaseIterable {
  case album = 0
  case artist, radio, playlist

  var table: String { "\(self)" }
  var text: String { self == .album ? "title" : "name" }
  var detail: String? { self == .album ? "artist_name" : nil }
}
