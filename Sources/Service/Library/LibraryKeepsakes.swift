package import House

/// The favourites of a household, and what it has played, from any thread. Problems are sentences for people.
package protocol LibraryKeepsakes: Sendable {
  /// In the order in which they became favourites, the latest first. Leaves out what is not there now.
  func favourites() async throws(Refusal) -> [LibraryThing]
  /// Makes something a favourite, or none any more. Doing it twice changes nothing.
  func setFavourite(
    _ kind: LibraryThing.Kind, _ id: String, to isFavourite: Bool
  ) async throws(Refusal)
  /// Albums, stations and inputs that were played, the latest first, each once.
  func recent(limit: Int) async throws(Refusal) -> [LibraryThing]
  /// Everything that was played, the latest first.
  func history(offset: Int, limit: Int) async throws(Refusal) -> PlayPage
  func clearHistory() async throws(Refusal)
}

/// Something that a household plays, as a tile or a row shows it.
package struct LibraryThing: Codable, Hashable, Sendable {
  package enum Kind: String, Codable, CaseIterable, Sendable {
    case album, artist, track, radio, playlist, input, podcast, episode
  }

  package var kind: Kind
  /// An input's is its name.
  package var id: String
  package var title: String
  /// Such as the artist of an album.
  package var detail: String?
  package var artwork: String?
  /// When it became a favourite, was played last or was published, in seconds since 1970.
  package var atS: Double?

  package init(_ kind: Kind, id: String, title: String, detail: String? = nil) {
    (self.kind, self.id, self.title, self.detail) = (kind, id, title, detail)
  }
}

/// A part of the history.
package struct PlayPage: Codable, Hashable, Sendable {
  package struct Play: Codable, Hashable, Sendable {
    package var kind: LibraryThing.Kind
    /// Absent if it is not there any more.
    package var id: String?
    package var title: String
    package var artist: String?
    package var artwork: String?
    package var albumId: String?
    /// When it was played, in seconds since 1970.
    package var atS: Double

    package init(_ kind: LibraryThing.Kind, id: String?, title: String, atS: Double) {
      (self.kind, self.id, self.title, self.atS) = (kind, id, title, atS)
    }
  }

  package var count: Int
  package var plays: [Play]

  package init(count: Int, plays: [Play]) { (self.count, self.plays) = (count, plays) }
}
