/// A track that a household has heard, in the form that services of listens take.
package struct Listen: Codable, Hashable, Sendable {
  /// Longest text of a listen, in bytes; a longer one is cut.
  package static let textLimit = 500

  package var artist: String
  package var title: String
  package var album: String?
  package var durationS: Double?
  /// Its number on its disc.
  package var number: Int?
  /// MusicBrainz's identifier of the album.
  package var releaseId: String?
  /// When it began, in seconds since 1970.
  package var atS: Int64
  /// The name of the server's library that has it, and its identifier there.
  package var library: String?
  package var libraryId: String?

  /// Returns nil for an item that names no artist: no service takes it.
  package init?(_ item: HouseState.Item, at seconds: Int64) {
    guard let artist = Self.cut(item.artist), let title = Self.cut(item.title) else { return nil }
    (self.artist, self.title, album) = (artist, title, Self.cut(item.album))
    (durationS, atS) = (item.durationS, seconds)
  }

  private static func cut(_ text: String?) -> String? {
    guard let text, !text.allSatisfy(\.isWhitespace) else { return nil }
    guard text.utf8.count > textLimit else { return text }
    var cut = ""
    var count = 0
    for letter in text {
      count += letter.utf8.count
      if count > textLimit { break }
      cut.append(letter)
    }
    return cut
  }
}
