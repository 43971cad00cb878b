package import House

/// Ways into a large library, from any thread.
package protocol LibraryBrowsing: Sendable {
  func artist(_ id: String) async throws(Refusal) -> ArtistContents
  func tracks(_ query: TrackQuery) async throws(Refusal) -> TrackPage
  /// Genres or composers by name.
  func tags(_ kind: LibraryTag.Kind, offset: Int, limit: Int) async throws(Refusal) -> TagPage
  /// Years in which albums were released, the latest first.
  func years() async throws(Refusal) -> [LibraryYear]
  /// Places to jump to in a list of the whole library.
  func letters(_ list: LetteredList) async throws(Refusal) -> [LibraryLetter]
  /// Those in the file of a track, or in a file beside it. Without lines if there are none.
  func lyrics(ofTrack id: String) async throws(Refusal) -> LyricsContents
}

package struct LyricsContents: Codable, Hashable, Sendable {
  package struct Line: Codable, Hashable, Sendable {
    package var text: String
    /// When it is sung, in seconds of the track. Either all lines have it, in order, or none.
    package var atS: Double?

    package init(text: String, atS: Double? = nil) { (self.text, self.atS) = (text, atS) }
  }

  package var lines: [Line]

  package init(lines: [Line]) { self.lines = lines }
}

package struct ArtistContents: Codable, Hashable, Sendable {
  package var artist: Artist
  /// In the order of their years. At most `albumLimit` of each kind.
  package var albums: [Album]
  /// Albums of others with tracks by this artist.
  package var appearsOn: [Album]
  package var trackCount: Int

  package static let albumLimit = 500

  package init(artist: Artist, albums: [Album], appearsOn: [Album], trackCount: Int) {
    (self.artist, self.albums) = (artist, albums)
    (self.appearsOn, self.trackCount) = (appearsOn, trackCount)
  }
}

package struct TrackQuery: Hashable, Sendable {
  package enum Order: String, CaseIterable, Sendable {
    case title, added
  }

  package var order: Order
  package var artistId: String?
  /// The id of a genre or a composer.
  package var tagId: String?
  package var offset: Int
  package var limit: Int

  package init(
    order: Order, artistId: String? = nil, tagId: String? = nil, offset: Int = 0, limit: Int
  ) {
    (self.order, self.artistId, self.tagId) = (order, artistId, tagId)
    (self.offset, self.limit) = (offset, limit)
  }
}

package struct TrackPage: Codable, Hashable, Sendable {
  package var count: Int
  package var tracks: [Track]

  package init(count: Int, tracks: [Track]) { (self.count, self.tracks) = (count, tracks) }
}

/// A genre or a composer.
package struct LibraryTag: Codable, Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case genre, composer
  }

  package var id: String
  package var name: String
  package var albumCount: Int
  package var trackCount: Int

  package init(id: String, name: String, albumCount: Int, trackCount: Int) {
    (self.id, self.name) = (id, name)
    (self.albumCount, self.trackCount) = (albumCount, trackCount)
  }
}

package struct TagPage: Codable, Hashable, Sendable {
  package var count: Int
  package var tags: [LibraryTag]

  package init(count: Int, tags: [LibraryTag]) { (self.count, self.tags) = (count, tags) }
}

package struct LibraryYear: Codable, Hashable, Sendable {
  package var year: Int
  package var albumCount: Int

  package init(year: Int, albumCount: Int) { (self.year, self.albumCount) = (year, albumCount) }
}

package enum LetteredList: Hashable, Sendable {
  case albums(AlbumQuery.Order)
  case artists
  case tracks
}

/// Where the names that begin with a letter start in a list. Names that begin with something else come first, as `#`.
package struct LibraryLetter: Codable, Hashable, Sendable {
  /// A letter, or a decade such as `1990s`.
  package var letter: String
  /// Counts from 0.
  package var offset: Int

  package init(letter: String, offset: Int) { (self.letter, self.offset) = (letter, offset) }
}
