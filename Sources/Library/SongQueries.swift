package import House
import SQLiteStore
package import Service

extension MediaLibrary {
  package func songs<Value: Sendable>(
    _ query: SongQuery, into start: Value,
    _ body: @escaping @Sendable (inout Value, LibrarySong) -> Void
  ) async throws(Refusal) -> Value {
    try await file.answer { [folders] database in
      var value = start
      try SongQueries.forEach(query, folders, database) { body(&value, $0) }
      return value
    }
  }
}

/// Finds tracks with all their tags, for clients that search by conditions of their own.
enum SongQueries {
  private static let columns = """
    SELECT t.id, t.title, t.artist, t.albumartist, t.album, t.album_id, t.artist_id, t.track, t.disc,
      t.year, t.duration, t.codec,
      coalesce(CASE WHEN t.album IS NULL THEN t.picture END, a.artwork, f.image, t.picture),
      t.video, f.path, t.name, t.mtime, t.size,
      (SELECT group_concat(g.name, char(31)) FROM track_tag k JOIN tag g ON g.id = k.tag
        WHERE k.track = t.id AND g.kind = 'genre'),
      (SELECT group_concat(g.name, char(31)) FROM track_tag k JOIN tag g ON g.id = k.tag
        WHERE k.track = t.id AND g.kind = 'composer')
    FROM track t JOIN folder f ON f.id = t.folder LEFT JOIN album a ON a.id = t.album_id
    WHERE t.missing IS NULL

    """
  private static let order = " ORDER BY f.path, t.name"

  static func forEach(
    _ query: SongQuery, _ folders: LibraryFolders, _ database: Database,
    _ body: (LibrarySong) -> Void
  ) throws {
    func find(_ condition: String, _ values: SQLiteValue...) throws {
      try database.prepare(columns + condition + order)
        .forEach(values) { row in body(LibrarySong(row, folders)) }
    }
    switch query {
    case .below(""): try find("")
    case .below(let path):
      // All paths that begin with it and a slash: "0" is the character after it.
      try find(
        "AND (f.path = ? OR (f.path > ? AND f.path < ?))", SQLiteValue(path),
        SQLiteValue(path + "/"), SQLiteValue(path + "0"))
    case .inside(let path): try find("AND f.path = ?", SQLiteValue(path))
    case .at(let path):
      guard let folder = LibraryPath.parent(path) else { return }
      try find(
        "AND f.path = ? AND t.name = ?", SQLiteValue(folder), SQLiteValue(LibraryPath.name(path)))
    case .tracks(let ids):
      let one = try database.prepare(columns + "AND t.id = ?")
      for id in ids {
        guard let number = LibraryNumber.parse(id, LibraryNumber.track) else { continue }
        if let song = try one.first([SQLiteValue(number)], { LibrarySong($0, folders) }) {
          body(song)
        }
      }
    case .artist(let name): try find("AND t.artist = ?", SQLiteValue(name))
    case .album(let name): try find("AND t.album = ?", SQLiteValue(name))
    case .title(let name): try find("AND t.title = ?", SQLiteValue(name))
    }
  }
}

extension LibrarySong {
  fileprivate init(_ row: borrowing Row, _ folders: LibraryFolders) {
    let found = FoundTrack(row)
    self.init(found.track, path: found.folder + "/" + found.name)
    modifiedS = (row.int64(16) ?? 0) / 1_000_000_000
    byteCount = row.int64(17) ?? 0
    genres = Self.list(row.text(18))
    composers = Self.list(row.text(19))
    entry = found.entry(in: folders)
  }

  private static func list(_ text: String?) -> [String] {
    text?.split(separator: "\u{1f}").map(String.init) ?? []
  }
}
