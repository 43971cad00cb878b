import House
import MPDProtocol
import Service
import WebServer

extension Client {
  // MARK: - Folders

  /// The path of a URI, which does not lead out of the library.
  func libraryPath(_ uri: String) async throws -> String {
    try path(uri, in: LibraryPaths(try await state()))
  }

  private func path(_ uri: String, in paths: LibraryPaths) throws -> String {
    guard uri == "/" || LibraryItem.isInside(uri) else {
      throw Ack.noExist("No such directory")
    }
    return paths.path(uri)
  }

  /// The addresses that some clients make up of their own name.
  private func refuseAddress(_ uri: String) throws {
    if uri.contains("://") { throw Ack.argument("Unsupported URI scheme") }
  }

  /// Paths of this machine, too.
  private func refuseForeign(_ uri: String) throws {
    try refuseAddress(uri)
    if uri.hasPrefix("/"), uri != "/" { throw Ack(.permission, "Access denied") }
  }

  mutating func lsInfo(_ uri: String) async throws {
    try refuseForeign(uri)
    let paths = LibraryPaths(try await state())
    let path = try path(uri, in: paths)
    let folders: [String]
    do {
      folders = try await self.folders(in: path)
    } catch {
      let song = try await written(.at(path), paths)
      if song.bytes.isEmpty { throw error }
      return reply.add(song)
    }
    reply.add(try await written(.inside(path), paths))
    for folder in folders { reply.pair("directory", paths.uri(folder)) }
    if uri.isEmpty || uri == "/" { try await listPlaylists() }
  }

  private func written(_ query: SongQuery, _ paths: LibraryPaths) async throws -> Reply {
    let tags = tags
    return try await household.library.songs(query, into: Reply()) { reply, song in
      Song(song, paths).write(to: &reply, tags: tags)
    }
  }

  private func folders(in path: String) async throws -> [String] {
    do {
      return try await household.library.folder(path).folders.map(\.path)
    } catch {
      if Self.isMissing(error) { throw Ack.noExist("No such directory") }
      throw error
    }
  }

  /// Refuses a path where there is neither a folder nor a song.
  private func demand(_ path: String) async throws {
    do {
      _ = try await folders(in: path)
    } catch {
      let isSong = try await household.library.songs(.at(path), into: false) { found, _ in
        found = true
      }
      guard isSong else { throw error }
    }
  }

  static func isMissing(_ error: any Error) -> Bool {
    if case .noSuch? = error as? Refusal { true } else { false }
  }

  mutating func listFiles(_ uri: String) async throws {
    try refuseForeign(uri)
    let path = try await libraryPath(uri)
    for folder in try await folders(in: path) { reply.pair("directory", Self.name(folder)) }
    reply.add(
      try await household.library.songs(.inside(path), into: Reply()) { reply, song in
        reply.pair("file", Self.name(song.path))
        reply.pair("size", song.byteCount)
        if song.modifiedS > 0 { reply.pair("Last-Modified", UTCTime.text(song.modifiedS)) }
      })
  }

  private static func name(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  private struct Tree: Sendable {
    var reply = Reply()
    var folders: Set<String> = []
    var count = 0
  }

  /// Songs with the folders that they lie in.
  mutating func listAll(_ uri: String, hasInfo: Bool) async throws {
    try refuseAddress(uri)
    let paths = LibraryPaths(try await state())
    let path = try await libraryPath(uri)
    let (tags, root) = (tags, paths.uri(path))
    @Sendable func write(_ tree: inout Tree, _ song: LibrarySong) {
      let song = Song(song, paths)
      tree.count += 1
      Self.writeFolders(of: song.uri, below: root, &tree)
      if hasInfo {
        song.write(to: &tree.reply, tags: tags)
      } else {
        tree.reply.pair("file", song.uri)
      }
    }
    let one = try await household.library.songs(.at(path), into: Reply()) { reply, song in
      let song = Song(song, paths)
      hasInfo ? song.write(to: &reply, tags: tags) : reply.pair("file", song.uri)
    }
    guard one.bytes.isEmpty else { return reply.add(one) }
    _ = try await folders(in: path)
    let tree = try await household.library.songs(.below(path), into: Tree()) { write(&$0, $1) }
    reply.add(tree.reply)
  }

  /// Writes folders that are not written yet, the outermost first.
  private static func writeFolders(of uri: String, below root: String, _ tree: inout Tree) {
    var folder = ""
    for part in uri.split(separator: "/").dropLast() {
      folder += folder.isEmpty ? String(part) : "/\(part)"
      guard folder.utf8.count >= root.utf8.count, !tree.reply.isFull else { continue }
      if tree.folders.insert(folder).inserted { tree.reply.pair("directory", folder) }
    }
  }

  // MARK: - Searching

  /// The least that the library must look at for a filter.
  private func query(_ filter: SongFilter, _ paths: LibraryPaths) -> SongQuery {
    if !filter.folder.isEmpty { return .below(paths.path(filter.folder)) }
    return switch filter.exact {
    case (.artist, let value)?: .artist(value)
    case (.album, let value)?: .album(value)
    case (.title, let value)?: .title(value)
    default: .below("")
    }
  }

  /// Calls `body` with each song of the library that matches.
  func songs<Value: Sendable>(
    _ filter: SongFilter, into start: Value,
    _ body: @escaping @Sendable (inout Value, Song, LibrarySong) -> Void
  ) async throws -> Value {
    let paths = LibraryPaths(try await state())
    if !filter.folder.isEmpty { try await demand(paths.path(filter.folder)) }
    return try await household.library.songs(query(filter, paths), into: start) { value, found in
      let song = Song(found, paths)
      if filter.matches(song) { body(&value, song, found) }
    }
  }

  mutating func find(_ arguments: [String], isSearch: Bool) async throws {
    var arguments = arguments
    let order = try SongOrder(takenFrom: &arguments)
    let filter = try SongFilter(arguments, isSearch: isSearch)
    let tags = tags
    if order.sort == nil {
      let window = order.window ?? 0..<Int.max
      let found = try await songs(filter, into: (Reply(), 0)) { found, song, _ in
        if window.contains(found.1) { song.write(to: &found.0, tags: tags) }
        found.1 += 1
      }
      return reply.add(found.0)
    }
    let found = try await songs(filter, into: [Song]()) { found, song, _ in
      if found.count < TagTree.limit { found.append(song) }
    }
    for song in order.applied(to: found) { song.write(to: &reply, tags: tags) }
  }

  func findAdd(_ arguments: [String], isSearch: Bool) async throws {
    var arguments = arguments
    var place: String?
    if arguments.count > 2, arguments[arguments.count - 2] == "position" {
      place = arguments[arguments.count - 1]
      arguments.removeLast(2)
    }
    try await insert(try await found(&arguments, isSearch: isSearch), at: place)
  }

  /// Returns the songs that match as entries of a queue.
  func found(_ arguments: inout [String], isSearch: Bool) async throws -> [Order.NewEntry] {
    let order = try SongOrder(takenFrom: &arguments)
    let filter = try SongFilter(arguments, isSearch: isSearch)
    let found = try await songs(filter, into: [(Song, Order.NewEntry)]()) { found, song, library in
      guard found.count <= Wanted.addLimit, let entry = library.entry else { return }
      found.append((song, entry))
    }
    guard found.count <= Wanted.addLimit else {
      throw Ack(.tooLong, "These are more than \(Wanted.addLimit) songs; add fewer.")
    }
    let entries = Dictionary(found.map { ($0.0.uri, $0.1) }, uniquingKeysWith: { one, _ in one })
    return order.applied(to: found.map(\.0)).compactMap { entries[$0.uri] }
  }

  // MARK: - Lists of tags

  mutating func list(_ arguments: [String]) async throws {
    var arguments = arguments
    let name = arguments.removeFirst()
    if name.lowercased() == "file" || name.lowercased() == "filename" {
      let filter = try SongFilter(arguments, isSearch: false)
      return reply.add(
        try await songs(filter, into: Reply()) { reply, song, _ in reply.pair("file", song.uri) })
    }
    guard TagType.isKnown(name) else { throw Ack.argument("Unknown tag type: \(name)") }
    let groups = try Self.takeGroups(&arguments)
    let distinct = Set([name.lowercased()] + groups.map { $0.rawValue.lowercased() })
    guard distinct.count == groups.count + 1 else { throw Ack.argument("Conflicting group") }
    // The oldest form: `list album ARTIST`.
    if name.lowercased() == "album", arguments.count == 1, !arguments[0].hasPrefix("(") {
      arguments = ["artist", arguments[0]]
    }
    let filter = try SongFilter(arguments, isSearch: false)
    guard let tag = TagType(name) else { return }
    let tree = try await songs(filter, into: TagTree(tag, groups: groups)) { tree, song, _ in
      tree.add(song)
    }
    tree.write(to: &reply)
  }

  /// Takes `group TAG` from the end of the arguments. Returns them in the order of the arguments.
  private static func takeGroups(_ arguments: inout [String]) throws -> [TagType] {
    var groups: [TagType] = []
    while arguments.count >= 2, arguments[arguments.count - 2] == "group" {
      let name = arguments[arguments.count - 1]
      guard let tag = TagType(name) else { throw Ack.argument("Unknown tag type: \(name)") }
      groups.insert(tag, at: 0)
      arguments.removeLast(2)
    }
    return groups
  }

  mutating func count(_ arguments: [String]) async throws {
    var arguments = arguments
    let groups = try Self.takeGroups(&arguments)
    guard groups.count < 2 else { throw Ack.argument("Too many groups") }
    let filter = try SongFilter(arguments, isSearch: false)
    let count = try await songs(filter, into: SongCount(group: groups.first)) { count, song, _ in
      count.add(song)
    }
    count.write(to: &reply)
  }

  mutating func readComments(_ uri: String) async throws {
    let path = try await libraryPath(uri)
    let paths = LibraryPaths(try await state())
    let found = try await household.library.songs(.at(path), into: [Song]()) { found, song in
      found.append(Song(song, paths))
    }
    guard let song = found.first else { throw Ack.noSong }
    for tag in TagType.allCases {
      for value in song.values(of: tag) { reply.pair(tag.rawValue.uppercased(), value) }
    }
  }

  mutating func update() async throws {
    try await household.library.scan()
    let number = await household.hub.nextScan()
    // Clients take a status that tells of no scan for its end.
    try await settle { $0.library.scan != nil }
    reply.pair("updating_db", number)
  }

  // MARK: - Pictures

  /// The size of pictures, in pixels each way.
  private static let pictureSize = 1_200

  /// - Parameter isRead: true for the command that answers nothing if there is no picture.
  mutating func picture(_ uri: String, from text: String, isRead: Bool) async throws {
    let start = try Argument.number(text)
    guard let hash = try await artwork(of: uri, isRead: isRead) else {
      if isRead { return }
      throw Ack.noExist("No file exists")
    }
    let file = try await pictureFile(hash)
    guard
      let part = await household.server.read(file.path, from: start, count: binaryLimit)
    else { throw Ack.noExist("No file exists") }
    guard start <= part.size else { throw Ack.argument("Offset too large") }
    reply.pair("size", part.size)
    if isRead { reply.pair("type", file.type) }
    reply.add(binary: part.bytes)
  }

  /// How long a client waits at most for a picture that is being made, and how often that is looked for.
  private static let making = (limit: 50, step: Duration.milliseconds(100))

  /// Clients would take a refusal for the lack of a picture, and not ask again.
  private func pictureFile(_ hash: String) async throws -> ServableFile {
    for _ in 0..<Self.making.limit {
      do {
        return try await household.library.artwork(hash, size: Self.pictureSize)
      } catch {
        guard case .notYet = error else { throw error }
        try await Task.sleep(for: Self.making.step)
      }
    }
    throw Ack.noExist("No file exists")
  }

  /// A folder has the picture of its first song that has one.
  private func artwork(of uri: String, isRead: Bool) async throws -> String? {
    if uri.contains("://") || uri.hasPrefix("/") { return try await queuedArtwork(of: uri) }
    let path = try await libraryPath(uri)
    let song = try await firstArtwork(.at(path))
    if song.isThere { return song.hash }
    let folder = try await firstArtwork(.inside(path))
    if !folder.isThere, isRead { throw Ack.noExist("No such song") }
    return folder.hash
  }

  private func firstArtwork(
    _ query: SongQuery
  ) async throws -> (isThere: Bool, hash: String?) {
    try await household.library.songs(query, into: (false, nil)) { found, song in
      found = (true, found.1 ?? song.track.artwork)
    }
  }

  private func queuedArtwork(of uri: String) async throws -> String? {
    let (_, queue) = try await queue()
    guard let place = queue.songs.firstIndex(where: { $0.uri == uri }) else { return nil }
    return queue.artwork[place]
  }
}
