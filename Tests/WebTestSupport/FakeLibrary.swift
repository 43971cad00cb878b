package import House
package import Sender
package import Service

/// A library of one album, with one picture and one film in a folder, and a picture `def456` that is still being
/// made.
package actor FakeLibrary: LibraryControl {
  private let folder: String
  private var stations = [Radio(id: "s1", name: "FIP", uri: "http://example.org/fip")]
  private var lastNumber = 1
  private var kept: [LibraryThing] = []
  private var plays = [PlayPage.Play(.track, id: "t1", title: "Sinnerman 1", atS: 1_700_000_000)]
  private var lists = [StoredPlaylist(id: "p1", name: "Sunday", trackCount: 3)]
  private var listed: [String: [QueuePage.Entry]] = [:]
  private var feeds = [
    Podcast(id: "f1", title: "Daily", uri: "http://example.org/feed", episodeCount: 2, newCount: 1)
  ]
  private var played: Set = ["e2"]

  /// - Parameter folder: contains the files `picture.jpg` and `film.mp4`.
  package init(folder: String) { self.folder = folder }

  private static let tracks = (1...3).map { number in
    var track = Track(id: "t\(number)", title: "Sinnerman \(number)")
    (track.artist, track.albumId, track.durationS) = ("Nina Simone", "a1", 622.1)
    track.artwork = "abc123"
    return track
  }

  private static let album = Album(id: "a1", title: "Pastel Blues", trackCount: 3)

  package func songs<Value: Sendable>(
    _ query: SongQuery, into start: Value,
    _ body: @escaping @Sendable (inout Value, LibrarySong) -> Void
  ) throws(Refusal) -> Value {
    var value = start
    for track in Self.tracks {
      let song = Self.song(track)
      if Self.isMeant(song, by: query) { body(&value, song) }
    }
    return value
  }

  private static func song(_ track: Track) -> LibrarySong {
    var song = LibrarySong(track, path: "Music/Jazz/\(track.title).flac")
    song.track.album = album.title
    (song.genres, song.modifiedS, song.byteCount) = (["Jazz"], 1_700_000_000, 1_000)
    song.entry = Order.NewEntry(location: "/srv/\(song.path)")
    song.entry?.trackId = track.id
    return song
  }

  private static func isMeant(_ song: LibrarySong, by query: SongQuery) -> Bool {
    switch query {
    case .below(let path): path.isEmpty || song.path.hasPrefix(path + "/")
    case .inside(let path): path == "Music/Jazz"
    case .at(let path): song.path == path
    case .tracks(let ids): ids.contains(song.track.id)
    case .artist(let name): song.track.artist == name
    case .album(let name): song.track.album == name
    case .title(let name): song.track.title == name
    }
  }

  package func albums(_ query: AlbumQuery) throws(Refusal) -> AlbumPage {
    AlbumPage(count: 1, albums: query.offset == 0 ? [Self.album] : [])
  }

  package func album(_ id: String) throws(Refusal) -> AlbumContents {
    guard id == "a1" else { throw .noSuch("There is no album \(id).") }
    return AlbumContents(album: Self.album, tracks: Self.tracks)
  }

  package func artists(offset: Int, limit: Int) throws(Refusal) -> ArtistPage {
    ArtistPage(count: 1, artists: [Artist(id: "r1", name: "Nina Simone", albumCount: 1)])
  }

  package func folder(_ path: String) throws(Refusal) -> FolderContents {
    // Accepts any path: the caller has already checked that it stays in the library.
    let folders = path.isEmpty ? [FolderContents.Folder(path: "Jazz", name: "Jazz")] : []
    return FolderContents(path: path, folders: folders, tracks: path.isEmpty ? [] : Self.tracks)
  }

  package func search(_ text: String, limit: Int) throws(Refusal) -> SearchResult {
    var result = SearchResult()
    result.tracks = Self.tracks.filter { $0.title.lowercased().hasPrefix(text.lowercased()) }
    if text == "daily" {
      result.podcasts = [
        Podcast(id: "f1", title: "Daily", uri: "https://a/?key=1", episodeCount: 1, newCount: 0)
      ]
    }
    return result
  }

  package func favourites() throws(Refusal) -> [LibraryThing] { kept }

  package func setFavourite(
    _ kind: LibraryThing.Kind, _ id: String, to isFavourite: Bool
  ) throws(Refusal) {
    guard ["a1", "r1", "t1", "s1", "p1", "Turntable", "f1", "e1"].contains(id) else {
      throw .noSuch("There is no \(kind) \(id).")
    }
    kept.removeAll { $0.kind == kind && $0.id == id }
    if isFavourite { kept.insert(LibraryThing(kind, id: id, title: "The \(kind)"), at: 0) }
  }

  package func recent(limit: Int) throws(Refusal) -> [LibraryThing] {
    plays.isEmpty ? [] : [LibraryThing(.album, id: "a1", title: "Pastel Blues")]
  }

  package func history(offset: Int, limit: Int) throws(Refusal) -> PlayPage {
    PlayPage(count: plays.count, plays: Array(plays.dropFirst(offset).prefix(limit)))
  }

  package func clearHistory() throws(Refusal) { plays = [] }

  package func artist(_ id: String) throws(Refusal) -> ArtistContents {
    guard id == "r1" else { throw .noSuch("There is no artist \(id).") }
    return ArtistContents(
      artist: Artist(id: "r1", name: "Nina Simone", albumCount: 1), albums: [Self.album],
      appearsOn: [], trackCount: 3)
  }

  package func tracks(_ query: TrackQuery) throws(Refusal) -> TrackPage {
    TrackPage(
      count: Self.tracks.count,
      tracks: Array(Self.tracks.dropFirst(query.offset).prefix(query.limit)))
  }

  package func tags(_ kind: LibraryTag.Kind, offset: Int, limit: Int) throws(Refusal) -> TagPage {
    let tag = LibraryTag(id: "g1", name: "A \(kind)", albumCount: 1, trackCount: 3)
    return TagPage(count: 1, tags: offset == 0 ? [tag] : [])
  }

  package func years() throws(Refusal) -> [LibraryYear] { [LibraryYear(year: 1965, albumCount: 1)] }

  package func lyrics(ofTrack id: String) throws(Refusal) -> LyricsContents {
    guard id == "t1" else { throw .noSuch("There is no track \(id).") }
    return LyricsContents(lines: [.init(text: "Oh, Sinnerman", atS: 12.5)])
  }

  package func letters(_ list: LetteredList) throws(Refusal) -> [LibraryLetter] {
    list == .albums(.added) ? [] : [LibraryLetter(letter: "N", offset: 0)]
  }

  package func radios() throws(Refusal) -> [Radio] {
    stations
  }

  package func addRadio(name: String, uri: String, picture: String?) throws(Refusal) -> Radio {
    stations.append(Radio(id: newID("s"), name: name, uri: uri))
    return stations[stations.count - 1]
  }

  package func removeRadio(_ id: String) throws(Refusal) {
    guard let place = stations.firstIndex(where: { $0.id == id }) else {
      throw .noSuch("There is no station \(id).")
    }
    stations.remove(at: place)
  }

  package func playlists() throws(Refusal) -> [StoredPlaylist] {
    lists
  }

  package func playlist(_ id: String) throws(Refusal) -> PlaylistContents {
    guard let list = lists.first(where: { $0.id == id }) else {
      throw .noSuch("There is no playlist \(id).")
    }
    return PlaylistContents(playlist: list, entries: listed[id] ?? [])
  }

  package func savePlaylist(_ name: String, _ entries: [QueuePage.Entry]) throws(Refusal)
    -> StoredPlaylist
  {
    let list = StoredPlaylist(id: newID("p"), name: name, trackCount: entries.count)
    lists.append(list)
    listed[list.id] = Self.numbered(entries, from: 0)
    return list
  }

  private static func numbered(_ entries: [QueuePage.Entry], from first: Int) -> [QueuePage.Entry] {
    entries.enumerated().map { offset, entry in
      var entry = entry
      entry.id = first + offset
      return entry
    }
  }

  package func edit(
    playlist id: String, _ edit: StoredPlaylist.Edit, expected: UInt64?
  ) throws(Refusal) -> StoredPlaylist {
    guard let place = lists.firstIndex(where: { $0.id == id }) else {
      throw .noSuch("There is no playlist \(id).")
    }
    var entries = listed[id] ?? []
    if let expected, expected != lists[place].revision {
      throw .outdated(revision: lists[place].revision)
    }
    guard Set(edit.positions).isSubset(of: entries.map(\.id)) else {
      throw .noSuch("There is no such entry.")
    }
    func index(_ next: Int?) -> Int { entries.firstIndex { $0.id == next } ?? entries.count }
    switch edit {
    case .rename(let name): lists[place].name = name
    case .add(let new, let next):
      let first = 1 + (entries.map(\.id).max() ?? -1)
      entries.insert(contentsOf: Self.numbered(new, from: first), at: index(next))
    case .remove(let ids): entries.removeAll { ids.contains($0.id) }
    case .move(let id, let next):
      let entry = entries.remove(at: index(id))
      entries.insert(entry, at: index(next))
    case .clear: entries = []
    }
    listed[id] = entries
    lists[place].revision += 1
    lists[place].trackCount = entries.count
    return lists[place]
  }

  package func narrow(among addresses: Set<String>) -> Set<String> {
    let entries = listed.values.joined().filter { $0.reach == .internet }
    return addresses.intersection(entries.map(\.uri))
  }

  package func removePlaylist(_ id: String) throws(Refusal) {
    guard let place = lists.firstIndex(where: { $0.id == id }) else {
      throw .noSuch("There is no playlist \(id).")
    }
    lists.remove(at: place)
    listed[id] = nil
  }

  package func podcasts() throws(Refusal) -> [Podcast] { feeds }

  /// - Parameter reach: not `.all`, which no browser has.
  package func subscribe(_ uri: String, reach: SourceReach) throws(Refusal) -> Podcast {
    guard reach == .network, !uri.hasSuffix("/broken") else {
      throw .invalid("this feed cannot be read: it is no feed")
    }
    feeds.append(Podcast(id: newID("f"), title: "New", uri: uri, episodeCount: 0, newCount: 0))
    return feeds[feeds.count - 1]
  }

  package func unsubscribe(_ id: String) throws(Refusal) {
    guard let place = feeds.firstIndex(where: { $0.id == id }) else {
      throw .noSuch("There is no podcast \(id).")
    }
    feeds.remove(at: place)
  }

  package func podcast(_ id: String) throws(Refusal) -> PodcastContents {
    guard let podcast = feeds.first(where: { $0.id == id }) else {
      throw .noSuch("There is no podcast \(id).")
    }
    let episodes = ["e1", "e2"].map { id in
      var episode = Episode(
        id: id, title: "No. \(id)", isNew: id == "e1", isPlayed: played.contains(id))
      (episode.publishedAtS, episode.durationS) = (1_700_000_000, 1_800)
      if id == "e1" { episode.positionS = 600 }
      return episode
    }
    return PodcastContents(podcast: podcast, episodes: episodes)
  }

  package func refreshPodcasts() throws(Refusal) {}

  package func markEpisode(_ id: String, isPlayed: Bool) throws(Refusal) {
    guard ["e1", "e2"].contains(id) else { throw .noSuch("There is no episode \(id).") }
    if isPlayed { played.insert(id) } else { played.remove(id) }
  }

  package func begun(limit: Int) throws(Refusal) -> [LibraryThing] {
    [LibraryThing(.episode, id: "e1", title: "No. e1", detail: "20 min left")]
  }

  package func entries(of item: LibraryItem) throws(Refusal) -> [Order.NewEntry] {
    switch item {
    case .track(let id):
      guard let track = Self.tracks.first(where: { $0.id == id }) else {
        throw .noSuch("There is no track \(id).")
      }
      return [entry(track)]
    case .album("a1"), .artist("r1"), .folder, .playlist("p1"):
      return Self.tracks.map(entry)
    case .podcast("f1"), .episode("e1"):
      return [Order.NewEntry(location: "http://example.org/e1.mp3")]
    case .radio("s1"): return [Order.NewEntry(location: "http://example.org/fip")]
    case .album, .artist, .playlist, .radio, .podcast, .episode:
      throw .noSuch("There is no such thing in the library.")
    }
  }

  private func entry(_ track: Track) -> Order.NewEntry {
    var entry = Order.NewEntry(location: "\(folder)/film.mp4")
    (entry.title, entry.artist, entry.trackId) = (track.title, track.artist, track.id)
    return entry
  }

  private func newID(_ letter: String) -> String {
    lastNumber += 1
    return "\(letter)\(lastNumber)"
  }

  package func scan() throws(Refusal) {}

  package func libraryFolders() throws(Refusal) -> [LibraryFolder] {
    [.init(name: "Music", path: "/srv/Music", isFixed: true, isAway: false, trackCount: 3)]
  }

  package func libraryServers() throws(Refusal) -> [LibraryServer] {
    var server = LibraryServer(
      name: "Home", kind: .subsonic, address: "https://music.example:443/", isFixed: true,
      trackCount: 7)
    (server.user, server.awaySinceS) = ("anna", 1_700_000_000)
    return [server]
  }

  package func artwork(_ hash: String, size: Int) throws(Refusal) -> ServableFile {
    if hash == "def456" { throw .notYet("The picture is being made.") }
    guard hash == "abc123" else { throw .noSuch("There is no such picture.") }
    return ServableFile(path: "\(folder)/picture.jpg", type: "image/jpeg")
  }

  package func media(track: String) throws(Refusal) -> ServableFile {
    guard track == "t1" else { throw .noSuch("There is no track \(track).") }
    return ServableFile(path: "\(folder)/film.mp4", type: "video/mp4")
  }
}

/// Accepts one PIN, and makes the asker wait after a second wrong one.
package actor FakePairing: PairingControl {
  private var wrongCount = 0
  private var speechCount = 0

  package init() {}

  package func pair(room: String, pin: String) throws(Refusal) {
    guard room.count == 32 else { throw .noSuch("There is no room \(room).") }
    guard pin != "1234 5678" else { return }
    wrongCount += 1
    guard wrongCount == 1 else {
      throw .tooMany("Too many wrong PINs; wait for half a minute.", retryAfterS: 30)
    }
    throw .invalid("This is not the PIN that stands on the room; read it again.")
  }

  package func unpair(room: String) throws(Refusal) {
    guard room.count == 32 else { throw .noSuch("There is no room \(room).") }
  }

  package func sayPIN(room: String) throws(Refusal) {
    guard room.count == 32 else { throw .noSuch("There is no room \(room).") }
    speechCount += 1
    guard speechCount <= 3 else {
      throw .tooMany("It has said its PIN often enough.", retryAfterS: 1800)
    }
  }
}
