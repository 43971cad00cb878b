package import House
internal import Sender

/// A terminal's request to the library of a daemon.
package enum LibraryRequest: Codable, Hashable, Sendable {
  case favourites
  case radios
  case playlists
  /// The folders that the library reads.
  case folders
  /// The servers that the library asks.
  case servers
  /// Asks one of them whether it gives its songs.
  case check(server: String)
  /// The media servers of UPnP in the network.
  case foundServers
  /// Everything that the words find, a few of each kind.
  case search(text: String)
  /// Plays something in place of a group's queue; without rooms, where `tutti play` would.
  case play(thing: LibraryThing, rooms: [String], takes: Bool)
  /// Adds something to the end of a group's queue.
  case add(thing: LibraryThing)
  case favour(thing: LibraryThing, isFavourite: Bool)
  /// The items of a playlist, or the episodes of a podcast.
  case contents(playlist: LibraryThing)
  case edit(playlist: LibraryThing, edit: PlaylistOrder)
  /// Puts something at the end of the playlist of this name, which is made if there is none.
  case keep(thing: LibraryThing, playlist: String)
  /// Without a name the station is asked for its own.
  case addRadio(name: String?, uri: String, picture: String? = nil)
  /// Removes a station or a playlist, or unsubscribes from a podcast.
  case forget(thing: LibraryThing)
  case podcasts
  case subscribe(uri: String)
  /// Looks for new episodes.
  case refreshPodcasts
  case mark(episode: LibraryThing, isPlayed: Bool)
}

/// An edit of a playlist. Its items are numbered from 1, as `contents` lists them.
package enum PlaylistOrder: Codable, Hashable, Sendable {
  case rename(name: String)
  case drop(number: Int)
  case move(number: Int, to: Int)
}

package struct LibraryAnswer: Codable, Hashable, Sendable {
  package var things: [LibraryThing] = []
  /// The answer to `folders`.
  package var folders: [LibraryFolder]?
  /// The answer to `servers`.
  package var servers: [LibraryServer]?
  /// The answer to `foundServers`.
  package var found: [FoundServer]?
  /// A sentence about what was done.
  package var done: String?

  package init(things: [LibraryThing] = [], done: String? = nil) {
    (self.things, self.done) = (things, done)
  }
}

extension LibraryControl {
  /// Things of each kind in the answer to a search.
  private static var searchLimit: Int { 10 }

  /// Finds things, or changes what is kept of them; `play`, `add`, `addRadio`, `keep`, `check` and `foundServers` need a
  /// house.
  package func answer(_ request: LibraryRequest) async throws(Refusal) -> LibraryAnswer {
    switch request {
    case .favourites: return LibraryAnswer(things: try await favourites())
    case .radios: return LibraryAnswer(things: try await radios().map(\.thing))
    case .playlists: return LibraryAnswer(things: try await playlists().map(\.thing))
    case .folders:
      var answer = LibraryAnswer()
      answer.folders = try await libraryFolders()
      return answer
    case .servers:
      var answer = LibraryAnswer()
      answer.servers = try await libraryServers()
      return answer
    case .search(let text):
      let result = try await search(String(text.prefix(200)), limit: Self.searchLimit)
      return LibraryAnswer(things: result.things)
    case .favour(let thing, let isFavourite):
      try await setFavourite(thing.kind, thing.id, to: isFavourite)
      let said = isFavourite ? "is a favourite" : "is no favourite any more"
      return LibraryAnswer(done: "\(thing.title) \(said)")
    case .contents(let list) where list.kind == .podcast:
      return LibraryAnswer(things: try await podcast(list.id).episodes.map(\.thing))
    case .podcasts: return LibraryAnswer(things: try await podcasts().map(\.thing))
    case .subscribe(let uri):
      // Whoever is at this machine may name what is on it.
      let podcast = try await subscribe(uri, reach: .all)
      let count = "\(podcast.episodeCount) episode\(podcast.episodeCount == 1 ? "" : "s")"
      return LibraryAnswer(
        things: [podcast.thing], done: "subscribed to \(podcast.title), \(count)")
    case .refreshPodcasts:
      try await refreshPodcasts()
      return LibraryAnswer(done: "looks for new episodes")
    case .mark(let episode, let isPlayed):
      try await markEpisode(episode.id, isPlayed: isPlayed)
      return LibraryAnswer(done: "\(episode.title) is \(isPlayed ? "played" : "not played")")
    case .contents(let list):
      return LibraryAnswer(things: try await playlist(list.id).entries.map(\.thing))
    case .edit(let list, let edit): return LibraryAnswer(done: try await carryOut(edit, in: list))
    case .play, .add, .addRadio, .keep, .check, .foundServers: return LibraryAnswer()
    case .forget(let thing):
      switch thing.kind {
      case .radio: try await removeRadio(thing.id)
      case .playlist: try await removePlaylist(thing.id)
      case .podcast:
        try await unsubscribe(thing.id)
        return LibraryAnswer(done: "unsubscribed from \(thing.title)")
      case .album, .artist, .track, .input, .episode:
        throw .invalid("only stations, playlists and podcasts can be removed")
      }
      return LibraryAnswer(done: "\(thing.title) is removed")
    }
  }
}

extension LibraryControl {
  /// Returns a few words about what was done.
  private func carryOut(
    _ order: PlaylistOrder, in list: LibraryThing
  ) async throws(Refusal) -> String {
    let contents = try await playlist(list.id)
    let (entries, said): ([QueuePage.Entry], String) = (contents.entries, "\(list.title): ")
    func entry(_ number: Int) throws(Refusal) -> QueuePage.Entry {
      guard number > 0, number <= entries.count else {
        throw .invalid("\(list.title) has \(entries.count) items; there is no number \(number)")
      }
      return entries[number - 1]
    }
    func edit(_ edit: StoredPlaylist.Edit) async throws(Refusal) {
      try await self.edit(playlist: list.id, edit, expected: contents.playlist.revision)
    }
    switch order {
    case .rename(let name):
      try await edit(.rename(name))
      return "\(list.title) is called \(name) now"
    case .drop(let number):
      let dropped = try entry(number)
      try await edit(.remove([dropped.id]))
      return said + "\(dropped.title) is taken out"
    case .move(let number, let place):
      let (moved, _) = (try entry(number), try entry(place))
      let rest = entries.filter { $0.id != moved.id }
      try await edit(.move(moved.id, before: rest.dropFirst(place - 1).first?.id))
      return said + "\(moved.title) is number \(place)"
    }
  }
}

extension QueuePage.Entry {
  fileprivate var thing: LibraryThing {
    LibraryThing(trackId == nil ? .radio : .track, id: trackId ?? uri, title: title, detail: artist)
  }
}

extension Radio {
  /// Characters of a station's name.
  package static let nameLengths = 1...100
  package static let uriLengths = 1...4_000

  static func checked(name: String) throws(Refusal) -> String {
    guard nameLengths.contains(name.unicodeScalars.count) else {
      throw .invalid("a station's name has 1 to \(nameLengths.upperBound) characters")
    }
    return name
  }

  /// True for an address of the web; a station has no other.
  package static func isAddress(_ uri: String) -> Bool {
    uriLengths.contains(uri.unicodeScalars.count) && WebAddress(uri) != nil
  }

  static func checked(uri: String) throws(Refusal) -> String {
    let uri = WebAddress.typed(uri)
    guard isAddress(uri) else {
      throw .invalid("a station needs an address such as http://host/path")
    }
    return uri
  }
}

extension HouseControl {
  /// As the library's own answer, for what needs the house as well.
  package func answer(
    _ request: LibraryRequest, from library: any LibraryControl
  ) async throws(Refusal) -> LibraryAnswer {
    switch request {
    case .addRadio(let name, let uri, let picture):
      // Whoever is at this machine may name what is on it.
      let radio = try await addRadio(
        name: name, uri: uri, picture: picture, reach: .all, in: library)
      return LibraryAnswer(things: [radio.thing], done: "\(radio.name) is a station now")
    case .keep(let thing, let name):
      guard thing.kind != .input else { throw .invalid("an input cannot be in a playlist") }
      let entries = try await entries(of: [thing.wanted], for: .machine, in: library)
        .map { QueuePage.Entry($0) }
      if let list = try await library.playlists().first(where: { $0.name == name }) {
        try await library.edit(playlist: list.id, .add(entries, before: nil), expected: nil)
      } else {
        _ = try await library.savePlaylist(name, entries)
      }
      return LibraryAnswer(done: "\(thing.title(of: entries.first?.title)) is in \(name)")
    case .check(let name):
      try await check(server: name)
      return LibraryAnswer()
    case .foundServers:
      var answer = LibraryAnswer()
      answer.found = try await foundServers()
      return answer
    default: return try await library.answer(request)
    }
  }

  /// Adds something to a queue, for somebody at a terminal of this machine.
  package func add(
    _ thing: LibraryThing, to group: String, from library: any LibraryControl
  ) async throws(Refusal) -> LibraryAnswer {
    let entries = try await entries(of: [thing.wanted], for: .machine, in: library)
    _ = try await perform(.edit(group: group, .add(entries, at: .end), expected: nil))
    let place = try await state().groups.first { $0.id == group }?.name
    let title = thing.title(of: entries.first?.title)
    return LibraryAnswer(done: (place.map { "\($0): " } ?? "") + "\(title) is added")
  }
}

extension HouseClient {
  /// Plays something, for somebody at a terminal of this machine.
  ///
  /// - Parameter group: its name; nil is the group of the rooms.
  func play(
    _ thing: LibraryThing, in rooms: [String], takes: Bool, group: String?,
    from library: any LibraryControl
  ) async throws(Refusal) -> LibraryAnswer {
    let entries = try await entries(of: [thing.wanted], for: .machine, in: library)
    var request = PlayRequest(
      entries: [], rooms: rooms, addresses: [], shuffles: false, repetition: nil, effects: .init(),
      takes: takes)
    request.title = thing.title(of: entries.first?.title)
    return LibraryAnswer(done: try await play(request, entries, in: group).said)
  }
}

extension LibraryThing {
  /// - Parameter first: the title of its first entry. A podcast is played, and kept, as one episode of it.
  fileprivate func title(of first: String?) -> String {
    (kind == .podcast ? first : nil) ?? title
  }

  package var wanted: Wanted {
    switch kind {
    case .album: .library(.album(id))
    case .artist: .library(.artist(id))
    case .track: .library(.track(id))
    case .radio: .library(.radio(id))
    case .playlist: .library(.playlist(id))
    case .input: .input(id)
    case .podcast: .library(.podcast(id))
    case .episode: .library(.episode(id))
    }
  }
}

extension SearchResult {
  /// Everything in one list: artists, albums, tracks, stations, playlists, podcasts.
  package var things: [LibraryThing] {
    artists.map { LibraryThing(.artist, id: $0.id, title: $0.name) }
      + albums.map { LibraryThing(.album, id: $0.id, title: $0.title, detail: $0.artist) }
      + tracks.map { LibraryThing(.track, id: $0.id, title: $0.title, detail: $0.artist) }
      + radios.map(\.thing) + playlists.map(\.thing) + podcasts.map(\.thing)
  }
}

extension Radio {
  fileprivate var thing: LibraryThing {
    LibraryThing(.radio, id: id, title: name, detail: uri == name ? nil : uri)
  }
}

extension StoredPlaylist {
  fileprivate var thing: LibraryThing {
    let count = "\(trackCount) \(trackCount == 1 ? "item" : "items")"
    return LibraryThing(.playlist, id: id, title: name, detail: count)
  }
}
