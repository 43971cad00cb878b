import House
import SQLiteStore
import Service

/// Ways into a large library. None of them reads more rows than it returns, except through an index.
enum BrowsingQueries {
  static func artist(_ id: String, _ database: Database) throws -> ArtistContents {
    let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.artist))
    guard
      let artist = try database.prepare(Artist.columns + "WHERE id = ?")
        .first([number], { Artist($0) })
    else { throw Refusal.noSuch("There is no such artist in the library; look for it again.") }
    func albums(_ condition: String, _ values: [SQLiteValue]) throws -> [Album] {
      try database.prepare(
        Album.columns + "WHERE tracks > 0 AND " + condition
          + " ORDER BY year IS NULL, year, sort, id LIMIT ?"
      ).all(values + [SQLiteValue(ArtistContents.albumLimit)]) { Album($0) }
    }
    let own = try albums("artist = ?", [number])
    let others = try albums(
      """
      artist IS NOT ? AND id IN (
        SELECT album_id FROM track WHERE artist_id = ? AND missing IS NULL)
      """, [number, number])
    let count = try database.prepare("SELECT count(*) " + ofArtist + " AND missing IS NULL")
      .first([number, number]) { $0.int(0) ?? 0 }
    return ArtistContents(
      artist: artist, albums: own, appearsOn: others, trackCount: count ?? 0)
  }

  private static let ofArtist =
    "FROM track WHERE (artist_id = ? OR album_id IN (SELECT id FROM album WHERE artist = ?))"

  static func tracks(_ query: TrackQuery, _ database: Database) throws -> TrackPage {
    var (conditions, values) = (["missing IS NULL"], [SQLiteValue]())
    if let id = query.artistId {
      conditions.append(
        "(artist_id = ? OR album_id IN (SELECT id FROM album WHERE artist = ?))")
      let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.artist) ?? -1)
      values += [number, number]
    }
    if let id = query.tagId {
      conditions.append("id IN (SELECT track FROM track_tag WHERE tag = ?)")
      values.append(SQLiteValue(LibraryNumber.parse(id, LibraryNumber.tag) ?? -1))
    }
    let condition = "FROM track WHERE " + conditions.joined(separator: " AND ")
    let count = try database.prepare("SELECT count(*) " + condition)
      .first(values) { $0.int(0) ?? 0 }
    let order = query.order == .added ? "added DESC, id DESC" : "sort, id"
    // The numbers come from an index alone; only the tracks of this part are looked up.
    let numbers = try database.prepare(
      "SELECT id " + condition + " ORDER BY " + order + " LIMIT ? OFFSET ?"
    ).all(values + [SQLiteValue(query.limit), SQLiteValue(query.offset)]) { $0.int64(0) ?? 0 }
    let find = try database.prepare(FoundTrack.columns + "WHERE t.id = ?")
    let tracks = try numbers.compactMap { number in
      try find.first([SQLiteValue(number)]) { FoundTrack($0).track }
    }
    return TrackPage(count: count ?? 0, tracks: tracks)
  }

  /// Leaves out those of which no track is there.
  static func tags(
    _ kind: LibraryTag.Kind, offset: Int, limit: Int, _ database: Database
  ) throws -> TagPage {
    let used = """
      FROM tag WHERE kind = ? AND EXISTS (
        SELECT 1 FROM track_tag x JOIN track t ON t.id = x.track
        WHERE x.tag = tag.id AND t.missing IS NULL)
      """
    let count = try database.prepare("SELECT count(*) " + used)
      .first([.text(kind.rawValue)]) { $0.int(0) ?? 0 }
    let part = "(SELECT id, name, sort " + used + " ORDER BY sort, id LIMIT ? OFFSET ?)"
    let tags = try database.prepare(
      "SELECT g.id, g.name, count(DISTINCT t.album_id), count(*) FROM " + part + """
         g JOIN track_tag x ON x.tag = g.id JOIN track t ON t.id = x.track AND t.missing IS NULL
        GROUP BY g.id ORDER BY g.sort, g.id
        """
    ).all([.text(kind.rawValue), SQLiteValue(limit), SQLiteValue(offset)]) { row in
      LibraryTag(
        id: "\(LibraryNumber.tag)\(row.int64(0) ?? 0)", name: row.text(1) ?? "",
        albumCount: row.int(2) ?? 0, trackCount: row.int(3) ?? 0)
    }
    return TagPage(count: count ?? 0, tags: tags)
  }

  static func years(_ database: Database) throws -> [LibraryYear] {
    try database.prepare(
      """
      SELECT year, count(*) FROM album WHERE tracks > 0 AND year IS NOT NULL
      GROUP BY year ORDER BY year DESC
      """
    ).all { LibraryYear(year: $0.int(0) ?? 0, albumCount: $0.int(1) ?? 0) }
  }

  // MARK: - Letters

  /// More places than these help nobody; other scripts have thousands of first letters.
  private static let letterLimit = 60

  static func letters(_ list: LetteredList, _ database: Database) throws -> [LibraryLetter] {
    let heads: [(head: String, count: Int)]
    switch list {
    case .albums(.added): return []
    case .albums(.year):
      heads = try self.heads(
        """
        SELECT coalesce((year / 10) || '0s', ''), count(*) FROM album WHERE tracks > 0
        GROUP BY year / 10 ORDER BY year IS NULL, year / 10 DESC
        """, database)
      return places(heads) { $0 }
    case .albums(.artist):
      heads = try self.heads(firsts("artist_sort", "album WHERE tracks > 0"), database)
    case .albums(.title): heads = try self.heads(firsts("sort", "album WHERE tracks > 0"), database)
    case .artists:
      heads = try self.heads(firsts("sort", "artist WHERE albums + loose > 0"), database)
    case .tracks: heads = try self.heads(firsts("sort", "track WHERE missing IS NULL"), database)
    }
    return places(heads) { head in
      head.first.map { $0.isLetter ? $0.uppercased() : "#" } ?? "#"
    }
  }

  private static func firsts(_ column: String, _ table: String) -> String {
    "SELECT substr(" + column + ", 1, 1), count(*) FROM " + table + " GROUP BY 1 ORDER BY 1"
  }

  private static func heads(
    _ sql: String, _ database: Database
  ) throws -> [(head: String, count: Int)] {
    try database.prepare(sql).all { ($0.text(0) ?? "", $0.int(1) ?? 0) }
  }

  /// Joins neighbours with the same name. Where a name comes a second time, its first place counts.
  private static func places(
    _ heads: [(head: String, count: Int)], _ name: (String) -> String
  ) -> [LibraryLetter] {
    var (letters, offset) = ([LibraryLetter](), 0)
    for (head, count) in heads {
      let letter = name(head)
      if !letter.isEmpty, !letters.contains(where: { $0.letter == letter }) {
        letters.append(LibraryLetter(letter: letter, offset: offset))
      }
      offset += count
    }
    return Array(letters.prefix(letterLimit))
  }
}
