import Glibc
package import House
package import Service

extension MediaLibrary {
  package func favourites() async throws(Refusal) -> [LibraryThing] {
    try await file.answer { try Keepsakes.favourites($0) }
  }

  package func setFavourite(
    _ kind: LibraryThing.Kind, _ id: String, to isFavourite: Bool
  ) async throws(Refusal) {
    let now = Int64(time(nil))
    try await file.edit {
      try Keepsakes.setFavourite(kind, id, to: isFavourite, at: now, $0)
    }
  }

  package func recent(limit: Int) async throws(Refusal) -> [LibraryThing] {
    try await file.answer { try Keepsakes.recent(limit: limit, $0) }
  }

  package func history(offset: Int, limit: Int) async throws(Refusal) -> PlayPage {
    try await file.answer { try Keepsakes.history(offset: offset, limit: limit, $0) }
  }

  package func clearHistory() async throws(Refusal) {
    try await file.answer { try Keepsakes.clearHistory($0) }
  }

  /// Plays change no revision: a page that shows them asks when the music changes.
  func note(_ play: Keepsakes.Play) async throws(Refusal) {
    try await file.answer { try Keepsakes.note(play, $0) }
  }

  // MARK: - Browsing

  package func artist(_ id: String) async throws(Refusal) -> ArtistContents {
    try await file.answer { try BrowsingQueries.artist(id, $0) }
  }

  package func tracks(_ query: TrackQuery) async throws(Refusal) -> TrackPage {
    try await file.answer { try BrowsingQueries.tracks(query, $0) }
  }

  package func tags(
    _ kind: LibraryTag.Kind, offset: Int, limit: Int
  ) async throws(Refusal) -> TagPage {
    try await file.answer { try BrowsingQueries.tags(kind, offset: offset, limit: limit, $0) }
  }

  package func years() async throws(Refusal) -> [LibraryYear] {
    try await file.answer { try BrowsingQueries.years($0) }
  }

  package func letters(_ list: LetteredList) async throws(Refusal) -> [LibraryLetter] {
    try await file.answer { try BrowsingQueries.letters(list, $0) }
  }
}
