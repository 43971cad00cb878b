import Dispatch
package import House
package import Sender
package import Service
internal import Synchronization
package import WebServer

/// Runs the page and the HTTP interface beside a program's own event loop, until it is released.
package final class WebService: Sendable {
  /// The TCP port on which it listens.
  package let port: Int
  private let task: Task<Void, Never>

  /// Returns once it listens. Blocks the thread until then, for no longer than a system call.
  package init(
    _ configuration: WebServerConfiguration, house: any HouseControl, library: any LibraryControl,
    pairing: any PairingControl, access: HouseAccess
  ) throws(WebServer.ListenError) {
    let start = Start()
    task = Task.detached {
      do throws(WebServer.ListenError) {
        try await serveHTTP(
          configuration, house: house, library: library, pairing: pairing, access: access,
          began: { start.set(.success($0)) })
      } catch {
        start.set(.failure(error))
      }
    }
    port = try start.wait()
  }

  deinit { task.cancel() }

  /// Passes the result of the start from the server's thread to the caller.
  private final class Start: Sendable {
    private let result = Mutex<Result<Int, WebServer.ListenError>?>(nil)
    private let news = DispatchSemaphore(value: 0)

    func set(_ outcome: Result<Int, WebServer.ListenError>) {
      result.withLock { $0 = $0 ?? outcome }
      news.signal()
    }

    func wait() throws(WebServer.ListenError) -> Int {
      news.wait()
      return try result.withLock { $0 }?.get() ?? 0
    }
  }
}

/// Stands in for the library in a household that has none: lists are empty, and everything else is
/// refused.
package struct NoLibrary: LibraryControl {
  private let none: Refusal

  /// - Parameter reason: one sentence for people.
  package init(
    because reason: String =
      "There is no library; name a folder with music in the configuration: library = /srv/music"
  ) { none = .unavailable(reason) }

  package func albums(_ query: AlbumQuery) throws(Refusal) -> AlbumPage {
    AlbumPage(count: 0, albums: [])
  }
  package func artists(offset: Int, limit: Int) throws(Refusal) -> ArtistPage {
    ArtistPage(count: 0, artists: [])
  }
  package func search(_ text: String, limit: Int) throws(Refusal) -> SearchResult {
    SearchResult()
  }
  package func favourites() throws(Refusal) -> [LibraryThing] { [] }
  package func recent(limit: Int) throws(Refusal) -> [LibraryThing] { [] }
  package func history(offset: Int, limit: Int) throws(Refusal) -> PlayPage {
    PlayPage(count: 0, plays: [])
  }
  package func clearHistory() throws(Refusal) {}
  package func setFavourite(
    _ kind: LibraryThing.Kind, _ id: String, to isFavourite: Bool
  ) throws(Refusal) { throw none }
  package func artist(_ id: String) throws(Refusal) -> ArtistContents { throw none }
  package func tracks(_ query: TrackQuery) throws(Refusal) -> TrackPage {
    TrackPage(count: 0, tracks: [])
  }
  package func tags(_ kind: LibraryTag.Kind, offset: Int, limit: Int) throws(Refusal) -> TagPage {
    TagPage(count: 0, tags: [])
  }
  package func years() throws(Refusal) -> [LibraryYear] { [] }
  package func lyrics(ofTrack id: String) throws(Refusal) -> LyricsContents { throw none }
  package func letters(_ list: LetteredList) throws(Refusal) -> [LibraryLetter] { [] }
  package func radios() throws(Refusal) -> [Radio] { [] }
  package func playlists() throws(Refusal) -> [StoredPlaylist] { [] }
  package func podcasts() throws(Refusal) -> [Podcast] { [] }
  package func subscribe(_ uri: String, reach: SourceReach) throws(Refusal) -> Podcast {
    throw none
  }
  package func unsubscribe(_ id: String) throws(Refusal) { throw none }
  package func podcast(_ id: String) throws(Refusal) -> PodcastContents { throw none }
  package func refreshPodcasts() throws(Refusal) {}
  package func markEpisode(_ id: String, isPlayed: Bool) throws(Refusal) { throw none }
  package func begun(limit: Int) throws(Refusal) -> [LibraryThing] { [] }
  package func folder(_ path: String) throws(Refusal) -> FolderContents {
    FolderContents(path: path, folders: [], tracks: [])
  }
  package func album(_ id: String) throws(Refusal) -> AlbumContents { throw none }
  package func addRadio(name: String, uri: String, picture: String?) throws(Refusal) -> Radio {
    throw none
  }
  package func removeRadio(_ id: String) throws(Refusal) { throw none }
  package func playlist(_ id: String) throws(Refusal) -> PlaylistContents { throw none }
  package func savePlaylist(_ name: String, _ entries: [QueuePage.Entry]) throws(Refusal)
    -> StoredPlaylist
  { throw none }
  package func edit(
    playlist id: String, _ edit: StoredPlaylist.Edit, expected: UInt64?
  ) throws(Refusal) -> StoredPlaylist { throw none }
  package func removePlaylist(_ id: String) throws(Refusal) { throw none }
  package func narrow(among addresses: Set<String>) -> Set<String> { [] }
  package func entries(of item: LibraryItem) throws(Refusal) -> [Order.NewEntry] {
    throw none
  }
  package func libraryFolders() throws(Refusal) -> [LibraryFolder] { [] }
  package func libraryServers() throws(Refusal) -> [LibraryServer] { [] }
  package func scan() throws(Refusal) { throw none }
  package func songs<Value: Sendable>(
    _ query: SongQuery, into start: Value,
    _ body: @escaping @Sendable (inout Value, LibrarySong) -> Void
  ) throws(Refusal) -> Value { start }
  package func artwork(_ hash: String, size: Int) throws(Refusal) -> ServableFile {
    throw none
  }
  package func media(track: String) throws(Refusal) -> ServableFile { throw none }
}

/// Stands in for pairing where all rooms are open to everybody.
package struct NoPairing: PairingControl {
  package init() {}

  package func pair(room: String, pin: String) throws(Refusal) {
    throw .unavailable("This room needs no pairing.")
  }
  package func unpair(room: String) throws(Refusal) {
    throw .unavailable("This room is not paired.")
  }
  package func sayPIN(room: String) throws(Refusal) {
    throw .unavailable("This room needs no pairing.")
  }
}
