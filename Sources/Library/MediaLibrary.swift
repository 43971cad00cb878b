package import Driver
import Glibc
package import House
import LinuxIO
import SQLiteStore
import Sender
package import Service
import Synchronization

/// The music in some folders, found by its tags: kept in a file, and kept up to date while others play. Every question
/// is answered on a thread of the library's own.
package final class MediaLibrary: LibraryControl {
  package struct Settings: Sendable {
    /// As the configuration and the household name them.
    package var folders: [HouseFolder]
    /// The file of the tables; its directory must exist.
    package var database: String
    /// A directory for pictures, which is made where there is none. May be emptied at any time.
    package var pictures: String
    /// A program that calls `LibraryWorker.run`, and its arguments; `--awaited` may follow them.
    package var worker: [String]
    /// How long a folder must be quiet before it is read, in milliseconds.
    package var quietTime: Int64 = 5_000
    /// Those that keep libraries beside the folders.
    package var servers: [MediaServer] = []
    /// Where measured loudness goes, for those who play.
    package var loudness = MeasuredLoudness()
    /// Where the places go at which items were left, for those who play.
    package var places = KeptPlaces()

    package init(folders: [String], database: String, pictures: String, worker: [String]) {
      self.init(
        folders: folders.map { HouseFolder(path: $0, isFixed: true) }, database: database,
        pictures: pictures, worker: worker)
    }

    package init(folders: [HouseFolder], database: String, pictures: String, worker: [String]) {
      (self.folders, self.database) = (folders, database)
      (self.pictures, self.worker) = (pictures, worker)
    }
  }

  /// Why there is no library: one line that says what to do.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private struct State {
    var chosen: [HouseFolder]
    var servers: [MediaServer]
    var folders: LibraryFolders
    /// Names of folders that are not there.
    var away: Set<String> = []
  }

  /// Shared with the scanner's thread.
  private final class Shelf: Sendable {
    let state: Mutex<State>
    let absences = AwayServers()

    init(_ folders: [HouseFolder], _ servers: [MediaServer]) {
      let paths = LibraryFolders(folders.map(\.path), served: servers.map(\.name))
      state = Mutex(State(chosen: folders, servers: servers, folders: paths))
    }

    var servers: [MediaServer] { state.withLock { $0.servers } }
  }

  var folders: LibraryFolders { shared.state.withLock { $0.folders } }
  private let shared: Shelf
  let file: LibraryFile
  let foreign: ForeignFiles
  let feeds: FeedDesk
  /// Reads the feed that somebody subscribes to and waits for: no round of slow feeds keeps them, and no other subscriber.
  let newFeeds: FeedDesk
  private let shelf: PictureShelf
  private let covers: String

  /// Opens it and begins to scan. A damaged file is made anew.
  ///
  /// - Parameters:
  ///   - changed: on the library's thread, at most twice a second while it scans.
  ///   - report: lines for people: what was left out and why. On any of the library's threads.
  package init(
    _ settings: Settings, changed: @escaping @Sendable (HouseState.LibraryFigures) -> Void,
    report: @escaping @Sendable (String) -> Void
  ) throws(Failure) {
    let shared = Shelf(settings.folders, settings.servers)
    self.shared = shared
    shelf = PictureShelf(
      folder: settings.pictures, command: settings.worker + [LibraryWorker.awaited])
    foreign = ForeignFiles(shelf)
    feeds = FeedDesk(command: settings.worker + [LibraryWorker.awaited])
    newFeeds = FeedDesk(command: settings.worker + [LibraryWorker.awaited], limit: 1)
    covers = HouseCovers.folder(beside: settings.database)
    do {
      try StateFile.createDirectory(path: settings.pictures)
      file = try LibraryFile(
        .init(
          folders: shared.state.withLock { $0.folders }, database: settings.database,
          worker: settings.worker,
          quietTime: settings.quietTime, servers: settings.servers, away: shared.absences,
          loudness: settings.loudness, places: settings.places),
        changed: { figures in
          shared.state.withLock { $0.away = Set(figures.awayFolders) }
          changed(figures)
        }, report: report)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: "the library cannot be opened: \(error)")
    }
  }

  /// Ends a scan at once, and all threads of it. Call it once.
  package func close() {
    file.close()
    // The file is asked last by feeds that stay unread: it notes that they are due.
    feeds.close()
    newFeeds.close()
    shelf.close()
  }

  /// Reads these folders from now on. What was found in others is missing.
  package func set(_ folders: [HouseFolder]) {
    change { $0.chosen = folders }
  }

  /// Asks these servers from now on. What others have told is missing.
  package func set(_ servers: [MediaServer]) {
    shared.absences.keep(servers.map(\.name))
    change { $0.servers = servers }
  }

  private func change(_ body: (inout State) -> Void) {
    let next: (LibraryFolders, [MediaServer])? = shared.state.withLock { state in
      let before = state
      body(&state)
      state.folders = LibraryFolders(
        state.chosen.map(\.path), served: state.servers.map(\.name))
      let isSame = state.folders.roots == before.folders.roots && state.servers == before.servers
      return isSame ? nil : (state.folders, state.servers)
    }
    if let (folders, servers) = next { file.set(folders, servers) }
  }

  package func libraryFolders() async throws(Refusal) -> [LibraryFolder] {
    let (chosen, servers, folders, away) = shared.state.withLock {
      ($0.chosen, $0.servers, $0.folders, $0.away)
    }
    let counts = try await file.answer { try LibraryQueries.trackCounts(folders, $0) }
    return folders.roots.map { root in
      LibraryFolder(
        name: FileName.shown(root.name), path: root.location,
        isFixed: chosen.first { $0.path == root.location }?.isFixed
          ?? servers.first { $0.location == root.location }?.isFixed ?? true,
        isAway: away.contains(root.name), trackCount: counts[root.name] ?? 0)
    }
  }

  package func libraryServers() async throws(Refusal) -> [LibraryServer] {
    let (servers, folders) = shared.state.withLock { ($0.servers, $0.folders) }
    let (counts, away) = (
      try await file.answer { try LibraryQueries.trackCounts(folders, $0) }, shared.absences.all
    )
    return servers.map { server in
      var shown = LibraryServer(
        name: server.name, kind: server.kind, address: server.address.text,
        isFixed: server.isFixed, trackCount: counts[server.name] ?? 0)
      shown.user = server.user.isEmpty ? nil : server.user
      shown.awaySinceS = away[server.name]
      return shown
    }
  }

  // MARK: - Questions

  package func albums(_ query: AlbumQuery) async throws(Refusal) -> AlbumPage {
    try await file.answer { try LibraryQueries.albums(query, $0) }
  }

  package func album(_ id: String) async throws(Refusal) -> AlbumContents {
    try await file.answer { try LibraryQueries.album(id, $0) }
  }

  package func artists(offset: Int, limit: Int) async throws(Refusal) -> ArtistPage {
    try await file.answer { try LibraryQueries.artists(offset: offset, limit: limit, $0) }
  }

  package func folder(_ path: String) async throws(Refusal) -> FolderContents {
    try await file.answer { [folders] in try LibraryQueries.folder(path, folders, $0) }
  }

  package func search(_ text: String, limit: Int) async throws(Refusal) -> SearchResult {
    guard let query = SearchQuery(text) else { return SearchResult() }
    return try await file.answer { try query.result($0, limit: limit) }
  }

  package func radios() async throws(Refusal) -> [Radio] {
    try await file.answer { try StoredLists.radios($0) }
  }

  package func addRadio(
    name: String, uri: String, picture: String? = nil
  ) async throws(Refusal) -> Radio {
    try await file.edit { try StoredLists.addRadio(name: name, uri: uri, picture: picture, $0) }
  }

  package func removeRadio(_ id: String) async throws(Refusal) {
    try await file.edit { try StoredLists.removeRadio(id, $0) }
  }

  package func playlists() async throws(Refusal) -> [StoredPlaylist] {
    try await file.answer { try StoredLists.playlists($0) }
  }

  package func playlist(_ id: String) async throws(Refusal) -> PlaylistContents {
    try await file.answer { [folders] database in
      let playlist = try StoredLists.playlist(id, database)
      let entries = try StoredLists.entries(ofPlaylist: id, folders, database)
      return PlaylistContents(
        playlist: playlist,
        entries: entries.map { QueuePage.Entry($0.entry, id: $0.position) },
        missing: try StoredLists.missing(ofPlaylist: id, database))
    }
  }

  package func narrow(among addresses: Set<String>) async throws(Refusal) -> Set<String> {
    // A library that is lost keeps nobody from the radio.
    guard !addresses.isEmpty, !file.isLost else { return [] }
    return try await file.answer { try StoredLists.narrow(among: addresses, $0) }
  }

  package func savePlaylist(
    _ name: String, _ entries: [QueuePage.Entry]
  ) async throws(Refusal) -> StoredPlaylist {
    try await file.edit { try StoredLists.save(name, entries, $0) }
  }

  package func edit(
    playlist id: String, _ edit: StoredPlaylist.Edit, expected: UInt64?
  ) async throws(Refusal) -> StoredPlaylist {
    try await file.edit {
      try PlaylistEdits.carryOut(edit, of: id, expected: expected, $0)
    }
  }

  package func removePlaylist(_ id: String) async throws(Refusal) {
    try await file.edit { try StoredLists.removePlaylist(id, $0) }
  }

  package func entries(
    of item: LibraryItem
  ) async throws(Refusal) -> [Order.NewEntry] {
    try await file.answer { [folders] in try QueueEntries.of(item, folders, $0) }
  }

  package func scan() async throws(Refusal) { file.scan() }

  // MARK: - Files

  package func artwork(_ hash: String, size: Int) async throws(Refusal) -> ServableFile {
    // It becomes the name of a file.
    guard hash.utf8.count == 32, hash.utf8.allSatisfy({ Self.digits.contains($0) }),
      PictureShelf.sizes.contains(size)
    else { throw .noSuch("There is no such picture.") }
    if let file = shelf.file(hash, size) { return file }
    let origins =
      try await file.answer { [folders, servers = shared.servers] in
        try PictureOrigins.of(hash, folders, servers, $0)
      } + foreign.origins(of: hash) + [coverOrigin(of: hash)].compactMap(\.self)
    guard !origins.isEmpty else { throw .noSuch("There is no such picture.") }
    return try await shelf.make(hash, size, of: origins)
  }

  /// The picture of what an input plays, which its program has given.
  private func coverOrigin(of hash: String) -> PictureShelf.Origin? {
    let path = covers + "/" + hash
    return access(path, R_OK) == 0 ? .init(location: path, isInside: false) : nil
  }

  private static let digits = Array("0123456789abcdef".utf8)

  package func media(track id: String) async throws(Refusal) -> ServableFile {
    try await file.answer { [folders] database in
      let number = LibraryNumber.parse(id, LibraryNumber.track)
      guard
        let track = try FoundTrack.all(database, where: "t.id = ?", [SQLiteValue(number)]).first,
        let base = folders.location(of: track.folder),
        let real = folders.confined("\(base)/\(track.name)")
      else { throw Refusal.noSuch("There is no such file in the library any more.") }
      return ServableFile(
        path: real, type: MediaType.of(track.name, hasVideo: track.track.hasVideo))
    }
  }
}
