import SQLiteStore
import Service

/// A user's search text as queries to the index. Each word matches beginnings of words; accents and case do not count.
struct SearchQuery {
  /// Largest number of words; more would narrow the result little.
  static let wordLimit = 8
  private static let lengthLimit = 64

  private let words: [String]

  /// Returns nil if the text contains no word.
  init?(_ text: String) {
    words = text.split { !$0.isLetter && !$0.isNumber }.prefix(Self.wordLimit)
      .map { String($0.prefix(Self.lengthLimit)) }
    if words.isEmpty { return nil }
  }

  /// Matches all words, anywhere. Quotes are safe, because words are letters and digits.
  private var anywhere: String { words.map { "\"\($0)\"*" }.joined(separator: " ") }
  /// Matches the words in their order, at the beginning of `column`.
  private func first(in column: String) -> String {
    "\(column) : ^\"\(words.joined(separator: " "))\"*"
  }

  func result(_ database: Database, limit: Int) throws -> SearchResult {
    var result = SearchResult()
    result.tracks = try tracks(database, limit: limit)
    let album = try database.prepare(Album.columns + "WHERE tracks > 0 AND id = ?")
    result.albums = try numbers(.album, database, limit).compactMap { number in
      try album.first([SQLiteValue(number)]) { Album($0) }
    }
    let artist = try database.prepare(Artist.columns + "WHERE albums + loose > 0 AND id = ?")
    result.artists = try numbers(.artist, database, limit).compactMap { number in
      try artist.first([SQLiteValue(number)]) { Artist($0) }
    }
    result.radios = try numbers(.radio, database, limit).compactMap { number in
      try database.prepare(Radio.columns + "WHERE id = ?")
        .first([SQLiteValue(number)]) { Radio($0) }
    }
    result.playlists = try numbers(.playlist, database, limit).compactMap { number in
      try database.prepare(StoredPlaylist.columns + "WHERE id = ?")
        .first([SQLiteValue(number)]) { StoredPlaylist($0) }
    }
    result.podcasts = Array(try podcasts(database).prefix(limit))
    return result
  }

  /// They are so few that each is looked at.
  private func podcasts(_ database: Database) throws -> [Podcast] {
    let words = words.map(SortKey.of)
    return try Podcasts.all(database).filter { podcast in
      let title = SortKey.of(podcast.title).split { !$0.isLetter && !$0.isNumber }
      return words.allSatisfy { word in title.contains { $0.hasPrefix(word) } }
    }
  }

  /// Returns tracks, first those whose titles begin with the text. No other ranking, because it would have to read
  /// every hit of a common word.
  private func tracks(_ database: Database, limit: Int) throws -> [Track] {
    let find = try database.prepare(
      FoundTrack.columns + """
        WHERE t.missing IS NULL AND t.id IN (
          SELECT s.rowid FROM search s JOIN track k ON k.id = s.rowid
          WHERE s.search MATCH ? AND k.missing IS NULL LIMIT ?)
        """)
    var found: [Track] = []
    for question in [first(in: "title"), anywhere] where found.count < limit {
      let more = try find.all([SQLiteValue(question), SQLiteValue(limit * 2)]) {
        FoundTrack($0).track
      }
      found += more.filter { track in !found.contains { $0.id == track.id } }
    }
    return Array(found.prefix(limit))
  }

  private func numbers(_ kind: LabelKind, _ database: Database, _ limit: Int) throws -> [Int64] {
    let find = try database.prepare(
      "SELECT rowid / 4 FROM label WHERE label MATCH ? AND rowid % 4 = \(kind.rawValue) LIMIT ?")
    var found: [Int64] = []
    for question in [first(in: "text"), anywhere] where found.count < limit {
      let more = try find.all([SQLiteValue(question), SQLiteValue(limit * 2)]) { $0.int64(0) ?? 0 }
      found += more.filter { !found.contains($0) }
    }
    return Array(found.prefix(limit))
  }
}
