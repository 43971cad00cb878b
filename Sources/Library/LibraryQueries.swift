import FFmpegSource
import House
import SQLiteStore
import Sender
import Service

/// Numbers of things in the library, as others see them: `t12` is a track.
enum LibraryNumber {
  static let track: Character = "t"
  static let album: Character = "a"
  static let artist: Character = "r"
  static let playlist: Character = "p"
  static let radio: Character = "s"
  /// A genre or a composer.
  static let tag: Character = "g"
  /// A podcast, which is a feed.
  static let podcast: Character = "f"
  static let episode: Character = "e"

  static func parse(_ id: String, _ kind: Character) -> Int64? {
    guard id.first == kind, id.utf8.count < 20 else { return nil }
    return Int64(id.dropFirst())
  }

  static func text(_ number: Int64?, _ kind: Character) -> String? { number.map { "\(kind)\($0)" } }
}

/// A track with the place of its file.
struct FoundTrack: Sendable {
  var track: Track
  var folder: String
  var name: String

  static let columns = """
    SELECT t.id, t.title, t.artist, t.albumartist, t.album, t.album_id, t.artist_id, t.track, t.disc,
      t.year, t.duration, t.codec,
      coalesce(CASE WHEN t.album IS NULL THEN t.picture END, a.artwork, f.image, t.picture),
      t.video, f.path, t.name
    FROM track t JOIN folder f ON f.id = t.folder LEFT JOIN album a ON a.id = t.album_id

    """
  static let albumOrder = " ORDER BY coalesce(t.disc, 1), t.track IS NULL, t.track, f.path, t.name"

  init(_ row: borrowing Row) {
    track = Track(id: "t\(row.int64(0) ?? 0)", title: row.text(1) ?? "")
    track.artist = row.text(2)
    track.albumArtist = row.text(3)
    track.album = row.text(4)
    track.albumId = LibraryNumber.text(row.int64(5), LibraryNumber.album)
    track.artistId = LibraryNumber.text(row.int64(6), LibraryNumber.artist)
    track.track = row.int(7)
    track.disc = row.int(8)
    track.year = row.int(9)
    track.durationS = row.double(10)
    track.codec = row.text(11)
    track.artwork = row.text(12)
    track.hasVideo = row.bool(13)
    folder = row.text(14) ?? ""
    name = row.text(15) ?? ""
  }

  /// Those that are there.
  static func all(
    _ database: Database, where condition: String, _ values: [SQLiteValue], order: String = ""
  ) throws(SQLiteError) -> [FoundTrack] {
    try database.prepare(columns + "WHERE t.missing IS NULL AND " + condition + order)
      .all(values) { FoundTrack($0) }
  }
}

extension Album {
  static let columns = """
    SELECT id, title, artist_name, artist, year, tracks, duration, artwork, added FROM album

    """

  init(_ row: borrowing Row) {
    self.init(
      id: "a\(row.int64(0) ?? 0)", title: row.text(1) ?? "", trackCount: row.int(5) ?? 0)
    artist = row.text(2)
    artistId = LibraryNumber.text(row.int64(3), LibraryNumber.artist)
    year = row.int(4)
    durationS = row.double(6)
    artwork = row.text(7)
    addedAtS = row.double(8)
  }
}

extension Artist {
  static let columns = "SELECT id, name, albums, artwork FROM artist "

  init(_ row: borrowing Row) {
    self.init(
      id: "r\(row.int64(0) ?? 0)", name: row.text(1) ?? "", albumCount: row.int(2) ?? 0)
    artwork = row.text(3)
  }
}

/// Answers what page, terminals and programs ask of the tables.
enum LibraryQueries {
  /// How many tracks are in each library folder, by its name.
  static func trackCounts(
    _ folders: LibraryFolders, _ database: Database
  ) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    let statement = try database.prepare(
      """
      SELECT count(*) FROM track t JOIN folder f ON f.id = t.folder
      WHERE t.missing IS NULL AND (f.path = ?1 OR substr(f.path, 1, length(?1) + 1) = ?1 || '/')
      """)
    for root in folders.roots {
      counts[root.name] = try statement.first([SQLiteValue(root.name)]) { $0.int(0) } ?? 0
    }
    return counts
  }

  static func albums(_ query: AlbumQuery, _ database: Database) throws -> AlbumPage {
    var condition = "WHERE tracks > 0"
    var values: [SQLiteValue] = []
    if let id = query.artistId {
      let artist = LibraryNumber.parse(id, LibraryNumber.artist)
      condition += " AND artist = ?"
      values.append(SQLiteValue(artist ?? -1))
    }
    if let id = query.tagId {
      condition += """
         AND id IN (SELECT album_id FROM track WHERE missing IS NULL
          AND id IN (SELECT track FROM track_tag WHERE tag = ?))
        """
      values.append(SQLiteValue(LibraryNumber.parse(id, LibraryNumber.tag) ?? -1))
    }
    if let year = query.year {
      condition += " AND year = ?"
      values.append(SQLiteValue(year))
    }
    let count = try database.prepare("SELECT count(*) FROM album " + condition)
      .first(values) { $0.int(0) ?? 0 }
    let page = try database.prepare(
      Album.columns + condition + " ORDER BY \(order(query.order)), id LIMIT ? OFFSET ?")
    values += [SQLiteValue(query.limit), SQLiteValue(query.offset)]
    return AlbumPage(count: count ?? 0, albums: try page.all(values) { Album($0) })
  }

  private static func order(_ order: AlbumQuery.Order) -> String {
    switch order {
    case .artist: "artist_sort, year IS NULL, year, sort"
    case .title: "sort, artist_sort"
    case .added: "added DESC, artist_sort, sort"
    case .year: "year IS NULL, year DESC, artist_sort, sort"
    }
  }

  static func album(_ id: String, _ database: Database) throws -> AlbumContents {
    let number = LibraryNumber.parse(id, LibraryNumber.album)
    guard
      let album = try database.prepare(Album.columns + "WHERE tracks > 0 AND id = ?")
        .first([SQLiteValue(number)], { Album($0) })
    else { throw Refusal.noSuch("There is no such album in the library; look for it again.") }
    let tracks = try FoundTrack.all(
      database, where: "t.album_id = ?", [SQLiteValue(number)], order: FoundTrack.albumOrder)
    return AlbumContents(album: album, tracks: tracks.map(\.track))
  }

  static func artists(offset: Int, limit: Int, _ database: Database) throws -> ArtistPage {
    let condition = "WHERE albums + loose > 0"
    let count = try database.prepare("SELECT count(*) FROM artist " + condition)
      .first { $0.int(0) ?? 0 }
    let page = try database.prepare(
      Artist.columns + condition + " ORDER BY sort, id LIMIT ? OFFSET ?")
    return ArtistPage(
      count: count ?? 0,
      artists: try page.all([SQLiteValue(limit), SQLiteValue(offset)]) { Artist($0) })
  }

  static func folder(
    _ path: String, _ folders: LibraryFolders, _ database: Database
  ) throws -> FolderContents {
    let path = path.split(separator: "/").joined(separator: "/")
    guard !path.isEmpty else {
      let roots = folders.roots.map { FolderContents.Folder(path: $0.name, name: $0.name) }
      return FolderContents(path: "", folders: roots, tracks: [])
    }
    guard folders.location(of: path) != nil,
      let id = try database.prepare("SELECT id FROM folder WHERE path = ? AND present")
        .first([SQLiteValue(path)], { $0.int64(0) })
    else { throw Refusal.noSuch("There is no such folder in the library.") }
    let below = try database.prepare("SELECT path, name FROM folder WHERE parent = ? AND present")
      .all([SQLiteValue(id)]) {
        FolderContents.Folder(path: $0.text(0) ?? "", name: FileName.shown($0.text(1) ?? ""))
      }
    let tracks = try FoundTrack.all(database, where: "t.folder = ?", [SQLiteValue(id)])
    return FolderContents(
      path: path, folders: below.sorted { MediaFolder.precedesNaturally($0.name, $1.name) },
      tracks: tracks.sorted { MediaFolder.precedesNaturally($0.name, $1.name) }.map(\.track))
  }

  static func figures(_ database: Database) throws(SQLiteError) -> HouseState.LibraryFigures {
    let tracks = try database.prepare(
      "SELECT (SELECT count(*) FROM track) - (SELECT count(*) FROM track WHERE missing IS NOT NULL)"
    ).first { $0.int(0) ?? 0 }
    let albums = try database.prepare("SELECT count(*) FROM album WHERE tracks > 0")
      .first { $0.int(0) ?? 0 }
    return HouseState.LibraryFigures(trackCount: tracks ?? 0, albumCount: albums ?? 0)
  }
}
