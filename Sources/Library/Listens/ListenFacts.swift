import House
import SQLiteStore
import Service

/// The facts that the library adds to a listen.
struct ListenFacts: Sendable, Equatable {
  var number: Int?
  var releaseId: String?
  /// True for audiobooks and the like, by their genres or names.
  var isSpoken = false
  /// The library folder that it is in, or the library of a server, and its identifier there.
  var library: String?
  var libraryId: String?

  private static let spoken = Set(
    [
      "audiobook", "audiobooks", "audio book", "audio books", "audio drama", "hörbuch", "hörspiel",
      "livre audio", "audiolibro", "luisterboek", "podcast", "podcasts", "radio drama",
      "spoken word", "spoken & audio", "speech",
    ].map(SortKey.of))

  /// True if the name of a file says that it is an audiobook.
  static func isSpoken(_ name: String) -> Bool {
    [".m4b", ".aa", ".aax"].contains { name.lowercased().hasSuffix($0) }
  }

  /// Returns nil if there is no such track.
  static func of(track id: String, _ database: Database) throws(SQLiteError) -> ListenFacts? {
    let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.track))
    let genres = try database.prepare(
      "SELECT g.key FROM track_tag t JOIN tag g ON g.id = t.tag WHERE t.track = ? AND g.kind = 'genre'"
    ).all([number]) { $0.text(0) ?? "" }
    return try database.prepare(
      """
      SELECT t.name, t.track, a.key, f.path FROM track t JOIN folder f ON f.id = t.folder
      LEFT JOIN album a ON a.id = t.album_id WHERE t.id = ?
      """
    ).first([number]) { row in
      let name = row.text(0) ?? ""
      return ListenFacts(
        number: row.int(1), releaseId: row.text(2).flatMap(release),
        isSpoken: isSpoken(name) || !spoken.isDisjoint(with: genres),
        library: row.text(3).map { String($0.prefix { $0 != "/" }) },
        libraryId: ServedName.id(ofName: name))
    }
  }

  /// The identifier in the key of an album, where the tags of its files have one.
  private static func release(_ key: String) -> String? {
    guard key.hasPrefix("id ") else { return nil }
    let id = key.dropFirst(3).lowercased()
    let isOne = id.utf8.enumerated().allSatisfy { place, letter in
      [8, 13, 18, 23].contains(place)
        ? letter == UInt8(ascii: "-") : "0123456789abcdef".utf8.contains(letter)
    }
    return id.utf8.count == 36 && isOne ? id : nil
  }
}

extension MediaLibrary {
  func listenFacts(track id: String) async throws(Refusal) -> ListenFacts? {
    try await file.answer { try ListenFacts.of(track: id, $0) }
  }
}
