package import House

/// A terminal's request to the library of a daemon.
package enum LibraryRequest: Codable, Hashable, Sendable {
  case favourites
  /// Everything that the words find, a few of each kind.
  case search(text: String)
  /// Plays something in place of a group's queue, or adds it to the end.
  case play(thing: LibraryThing, isAdded: Bool)
}

package struct LibraryAnswer: Codable, Hashable, Sendable {
  package var things: [LibraryThing] = []
  /// A sentence about what was done.
  package var done: String?

  package init(things: [LibraryThing] = [], done: String? = nil) {
    (self.things, self.done) = (things, done)
  }
}

extension LibraryControl {
  /// Things of each kind in the answer to a search.
  private static var searchLimit: Int { 10 }

  /// Finds things; `play` needs a house.
  package func things(_ request: LibraryRequest) async throws(Refusal) -> [LibraryThing] {
    switch request {
    case .favourites: try await favourites()
    case .search(let text):
      try await search(String(text.prefix(200)), limit: Self.searchLimit).things
    case .play: []
    }
  }
}

extension HouseControl {
  /// Plays or adds something, for somebody at a terminal of this machine.
  package func play(
    _ thing: LibraryThing, in group: String, isAdded: Bool, from library: any LibraryControl
  ) async throws(Refusal) -> LibraryAnswer {
    let entries = try await entries(of: [thing.wanted], for: .machine, in: library)
    _ = try await perform(
      .edit(group: group, .add(entries, at: isAdded ? .end : .now), expected: nil))
    let place = try await state().groups.first { $0.id == group }?.name
    let said = isAdded ? "\(thing.title) is added" : "plays \(thing.title)"
    return LibraryAnswer(done: (place.map { "\($0): " } ?? "") + said)
  }
}

extension LibraryThing {
  package var wanted: Wanted {
    switch kind {
    case .album: .library(.album(id))
    case .artist: .library(.artist(id))
    case .track: .library(.track(id))
    case .radio: .library(.radio(id))
    case .playlist: .library(.playlist(id))
    case .input: .input(id)
    }
  }
}

extension SearchResult {
  /// Everything in one list: artists, albums, tracks, stations, playlists.
  package var things: [LibraryThing] {
    artists.map { LibraryThing(.artist, id: $0.id, title: $0.name) }
      + albums.map { LibraryThing(.album, id: $0.id, title: $0.title, detail: $0.artist) }
      + tracks.map { LibraryThing(.track, id: $0.id, title: $0.title, detail: $0.artist) }
      + radios.map { LibraryThing(.radio, id: $0.id, title: $0.name) }
      + playlists.map { LibraryThing(.playlist, id: $0.id, title: $0.name) }
  }
}
