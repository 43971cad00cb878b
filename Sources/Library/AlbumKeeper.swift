import FFmpegSource
import SQLiteStore
import Sender

/// Albums and artists: which a track belongs to, and what follows from their tracks. What was marked is counted anew by
/// `refresh`.
final class AlbumKeeper {
  /// Numbers that are kept in memory.
  private static let cacheLimit = 20_000
  static let variousArtists = "Various artists"

  private let statements: Statements
  private var albumNumbers: [String: Int64] = [:]
  private var artistNumbers: [String: Int64] = [:]
  private var markedAlbums: Set<Int64> = []
  private var markedArtists: Set<Int64> = []

  init(_ statements: Statements) { self.statements = statements }

  func forget() {
    (albumNumbers, artistNumbers, markedAlbums, markedArtists) = ([:], [:], [], [])
  }

  // MARK: - Which

  /// Returns the album that the tags name, or that of the folder if they name none. Its discs may lie in folders of their
  /// own, and its tracks may be by several artists.
  func album(of tags: FileTags, in folder: String) throws(SQLiteError) -> Int64? {
    let title = tags.album ?? Self.title(of: folder)
    let key = tags.album.map { Self.key(of: tags, $0, in: folder) } ?? Self.key(ofFolder: folder)
    if let number = albumNumbers[key] { return number }
    try statements.run(
      "INSERT INTO album (key, title, sort) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
      SQLiteValue(key), SQLiteValue(title), SQLiteValue(SortKey.ofShelf(title)))
    let number = try statements.number("SELECT id FROM album WHERE key = ?", SQLiteValue(key)) ?? 0
    if albumNumbers.count >= Self.cacheLimit { albumNumbers = [:] }
    albumNumbers[key] = number
    return number
  }

  /// MusicBrainz' number, where there is one. Else the title, with the album's artist and the folder in which those of
  /// its discs lie; without an artist the folder itself, for two collections in one shelf may have the same title.
  private static func key(of tags: FileTags, _ title: String, in folder: String) -> String {
    if let number = tags.albumNumber { return "id \(number)" }
    let isShared = tags.albumArtist != nil || LibraryPath.isDisc(folder)
    let place = isShared ? LibraryPath.parent(folder) ?? "" : folder
    let artist = tags.albumArtist.map(SortKey.of) ?? ""
    return [SortKey.of(title), artist, place].joined(separator: "\u{1f}")
  }

  /// Files that name no album are together the album of their folder; its discs may have folders of their own.
  private static func key(ofFolder folder: String) -> String { "folder \(home(ofDisc: folder))" }

  private static func title(of folder: String) -> String {
    ItemMetadata.shown(FileName.shown(LibraryPath.name(home(ofDisc: folder))))
  }

  private static func home(ofDisc folder: String) -> String {
    LibraryPath.isDisc(folder) ? LibraryPath.parent(folder) ?? folder : folder
  }

  func artist(_ name: String) throws(SQLiteError) -> Int64 {
    let key = SortKey.of(name)
    if let number = artistNumbers[key] { return number }
    try statements.run(
      "INSERT INTO artist (key, name, sort) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
      SQLiteValue(key), SQLiteValue(name), SQLiteValue(SortKey.ofShelf(name)))
    let number = try statements.number("SELECT id FROM artist WHERE key = ?", SQLiteValue(key)) ?? 0
    if artistNumbers.count >= Self.cacheLimit { artistNumbers = [:] }
    artistNumbers[key] = number
    return number
  }

  // MARK: - Marks

  func mark(album: Int64?, artist: Int64?) {
    if let album { markedAlbums.insert(album) }
    if let artist { markedArtists.insert(artist) }
  }

  func mark(track: Int64) throws(SQLiteError) {
    let found = try statements.prepared("SELECT album_id, artist_id FROM track WHERE id = ?")
      .first([SQLiteValue(track)]) { ($0.int64(0), $0.int64(1)) }
    mark(album: found?.0, artist: found?.1)
  }

  /// Those of the tracks in it, and in the folders of discs in it.
  func mark(folder: Int64) throws(SQLiteError) {
    let found = try statements.prepared(
      """
      SELECT DISTINCT album_id, artist_id FROM track
      WHERE folder = ? OR folder IN (SELECT id FROM folder WHERE parent = ?)
      """
    ).all([SQLiteValue(folder), SQLiteValue(folder)]) { ($0.int64(0), $0.int64(1)) }
    for (album, artist) in found { mark(album: album, artist: artist) }
  }

  // MARK: - What follows

  func refresh() throws(SQLiteError) {
    for album in markedAlbums { try refresh(album: album) }
    for artist in markedArtists { try refresh(artist: artist) }
    (markedAlbums, markedArtists) = ([], [])
  }

  private func refresh(album: Int64) throws(SQLiteError) {
    let before = try statements.number("SELECT artist FROM album WHERE id = ?", SQLiteValue(album))
    let names = try statements.prepared(
      """
      SELECT max(albumartist), min(album), count(artist)
      FROM track WHERE album_id = ? AND missing IS NULL
      """
    ).first([SQLiteValue(album)]) { ($0.text(0), $0.text(1), $0.int64(2) ?? 0) }
    var name = names?.0
    if name == nil { name = try artist(ofMost: names?.2 ?? 0, on: album) }
    if name?.isEmpty == true { name = nil }
    var artist: Int64?
    if let name { artist = try self.artist(name) }
    try statements.run(
      """
      UPDATE album SET artist = ?2, artist_name = ?3, artist_sort = ?4, artwork = ?5,
        title = coalesce(?6, title), sort = coalesce(?7, sort),
        (tracks, duration, year, added) = (
          SELECT count(*), sum(duration), min(year), min(added) FROM track
          WHERE album_id = ?1 AND missing IS NULL)
      WHERE id = ?1
      """, SQLiteValue(album), SQLiteValue(artist), SQLiteValue(name),
      SQLiteValue(name.map(SortKey.ofShelf) ?? ""), SQLiteValue(try artwork(ofAlbum: album)),
      SQLiteValue(names?.1), SQLiteValue(names?.1.map(SortKey.ofShelf)))
    for artist in [before, artist] { mark(album: nil, artist: artist) }
  }

  /// Returns the artist of more than half of an album's `count` tracks that name one, without guests; "Various artists" if
  /// there is none, and nil if no track names one.
  private func artist(ofMost count: Int64, on album: Int64) throws(SQLiteError) -> String? {
    guard count > 0 else { return nil }
    let rows = try statements.prepared(
      """
      SELECT artist, count(*) FROM track
      WHERE album_id = ? AND missing IS NULL AND artist IS NOT NULL
      GROUP BY artist ORDER BY count(*) DESC, artist LIMIT 100
      """
    ).all([SQLiteValue(album)]) { (name: Self.lead($0.text(0) ?? ""), tracks: $0.int64(1) ?? 0) }
    let tracks = Dictionary(rows.map { (SortKey.of($0.name), $0.tracks) }, uniquingKeysWith: +)
    return rows.first { (tracks[SortKey.of($0.name)] ?? 0) * 2 > count }?.name
      ?? Self.variousArtists
  }

  /// Returns the artist without the guests that are named behind `feat.` and the like.
  private static func lead(_ artist: String) -> String {
    let small = artist.lowercased()
    // Without a dot or a bracket it may be a part of a name, as in Little Feat.
    let marks = [" feat. ", " ft. ", " featuring ", " (feat", " (ft", " [feat", " [ft"]
    guard let place = marks.compactMap({ small.place(of: $0)?.lowerBound }).min() else {
      return artist
    }
    let lead = artist.prefix(small.distance(from: small.startIndex, to: place))
    return String(lead.hasSuffix(",") ? lead.dropLast() : lead)
  }

  /// The picture of its folder, or of the folder that its discs lie in, or one in its files.
  private func artwork(ofAlbum album: Int64) throws(SQLiteError) -> String? {
    let folders = try statements.prepared(
      """
      SELECT DISTINCT f.path, f.image, p.image FROM track t JOIN folder f ON f.id = t.folder
      LEFT JOIN folder p ON p.id = f.parent
      WHERE t.album_id = ? AND t.missing IS NULL ORDER BY f.path LIMIT 20
      """
    ).all([SQLiteValue(album)]) { row in
      let path = row.text(0) ?? ""
      return (own: row.text(1), shared: LibraryPath.isDisc(path) ? row.text(2) : nil)
    }
    if let image = folders.lazy.compactMap({ $0.shared }).first { return image }
    if let image = folders.lazy.compactMap({ $0.own }).first { return image }
    return try statements.prepared(
      """
      SELECT picture FROM track WHERE album_id = ? AND missing IS NULL AND picture IS NOT NULL
      ORDER BY coalesce(disc, 1), track LIMIT 1
      """
    ).first([SQLiteValue(album)]) { $0.text(0) } ?? nil
  }

  private func refresh(artist: Int64) throws(SQLiteError) {
    try statements.run(
      """
      UPDATE artist SET albums = (SELECT count(*) FROM album WHERE artist = ?1 AND tracks > 0),
        loose = (SELECT count(*) FROM track
          WHERE artist_id = ?1 AND album IS NULL AND missing IS NULL),
        artwork = (SELECT artwork FROM album
          WHERE artist = ?1 AND tracks > 0 AND artwork IS NOT NULL ORDER BY year, id LIMIT 1)
      WHERE id = ?1
      """, SQLiteValue(artist))
  }
}
