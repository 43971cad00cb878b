import House
import MPDProtocol
import Service

extension Client {
  mutating func listPlaylists() async throws {
    let time = UTCTime.text(await household.hub.libraryTime)
    for list in try await household.library.playlists() {
      reply.pair("playlist", list.name)
      reply.pair("Last-Modified", time)
    }
  }

  private func list(_ name: String) async throws -> StoredPlaylist {
    let lists = try await household.library.playlists()
    guard let list = lists.first(where: { $0.name == name }) else {
      throw Ack.noExist("No such playlist")
    }
    return list
  }

  private func contents(_ name: String) async throws -> PlaylistContents {
    try await household.library.playlist(try await list(name).id)
  }

  mutating func listPlaylist(_ name: String, hasInfo: Bool) async throws {
    let contents = try await contents(name)
    let paths = LibraryPaths(try await state())
    for song in try await household.library.songs(of: contents.entries, paths) {
      if hasInfo {
        song.write(to: &reply, tags: tags)
      } else {
        reply.pair("file", song.uri)
      }
    }
  }

  /// `load NAME [RANGE [PLACE]]`.
  func load(_ arguments: [String]) async throws {
    let list = try await list(arguments[0])
    let range = try arguments.dropFirst().first.map(Argument.range)
    var entries = try await household.house.entries(
      of: [.library(.playlist(list.id))], for: asker, in: household.library)
    if let range {
      entries = Array(
        entries[min(range.lowerBound, entries.count)..<min(range.upperBound, entries.count)])
    }
    try await insert(entries, at: arguments.dropFirst(2).first)
  }

  // MARK: - Changing

  private static let nameLimit = 100

  private func check(name: String) throws {
    guard (1...Self.nameLimit).contains(name.count), !name.contains("/"), name != ".", name != ".."
    else { throw Ack.argument("Bad playlist name") }
  }

  private func checkNew(name: String) async throws {
    try check(name: name)
    let lists = try await household.library.playlists()
    if lists.contains(where: { $0.name == name }) {
      throw Ack(.exists, "Playlist already exists")
    }
  }

  func save(_ name: String) async throws {
    try await checkNew(name: name)
    guard let group = try await view().group else {
      _ = try await household.library.savePlaylist(name, [])
      return
    }
    _ = try await household.house.save(group.id, as: name, in: household.library)
  }

  func removePlaylist(_ name: String) async throws {
    try check(name: name)
    try await household.library.removePlaylist(try await list(name).id)
  }

  func renamePlaylist(_ name: String, to other: String) async throws {
    let contents = try await contents(name)
    try await checkNew(name: other)
    _ = try await household.library.savePlaylist(other, contents.entries)
    try await household.library.removePlaylist(contents.playlist.id)
  }

  /// A list that is changed is saved anew, and then takes the place of the one before.
  private func replace(
    _ name: String, makesNew: Bool = false,
    _ change: (inout [QueuePage.Entry]) throws -> Void
  ) async throws {
    try check(name: name)
    let lists = try await household.library.playlists()
    let old = lists.first { $0.name == name }
    guard old != nil || makesNew else { throw Ack.noExist("No such playlist") }
    var entries: [QueuePage.Entry] = []
    if let old { entries = try await household.library.playlist(old.id).entries }
    try change(&entries)
    _ = try await household.library.savePlaylist(name, entries)
    if let old { try await household.library.removePlaylist(old.id) }
  }

  /// `playlistadd NAME URI [POSITION]`.
  func playlistAdd(_ arguments: [String]) async throws {
    let new = try await entries(of: arguments[1], isOne: false).map(Self.listed)
    let place = try arguments.dropFirst(2).first.map { text in try Argument.number(text) }
    try await replace(arguments[0], makesNew: true) { entries in
      let place = place ?? entries.count
      guard place <= entries.count else { throw Ack.badIndex }
      entries.insert(contentsOf: new, at: place)
    }
  }

  func searchAddToPlaylist(_ arguments: [String]) async throws {
    var rest = Array(arguments.dropFirst())
    let new = try await found(&rest, isSearch: true).map(Self.listed)
    try await replace(arguments[0], makesNew: true) { $0 += new }
  }

  private static func listed(_ entry: Order.NewEntry) -> QueuePage.Entry {
    var listed = QueuePage.Entry(
      id: 0, title: entry.title ?? entry.location, uri: entry.location, isCurrent: false)
    (listed.artist, listed.album, listed.durationS) = (entry.artist, entry.album, entry.durationS)
    (listed.trackId, listed.reach) = (entry.trackId, entry.reach)
    return listed
  }

  func playlistDelete(_ name: String, _ text: String) async throws {
    let range = try Argument.range(text)
    try await replace(name) { entries in
      guard range.lowerBound < entries.count else { throw Ack.badIndex }
      entries.removeSubrange(range.lowerBound..<min(range.upperBound, entries.count))
    }
  }

  /// `playlistmove NAME FROM TO`.
  func playlistMove(_ arguments: [String]) async throws {
    let (from, to) = (try Argument.number(arguments[1]), try Argument.number(arguments[2]))
    try await replace(arguments[0]) { entries in
      guard from < entries.count, to < entries.count else { throw Ack.badIndex }
      entries.insert(entries.remove(at: from), at: to)
    }
  }

  func playlistClear(_ name: String) async throws {
    try await replace(name, makesNew: true) { $0 = [] }
  }
}
