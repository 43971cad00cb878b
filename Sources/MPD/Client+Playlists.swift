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
    guard list.trackCount > 0 else { return }
    var entries = try await household.house.entries(
      of: [.library(.playlist(list.id))], for: asker, in: household.library)
    if let range {
      entries = Array(
        entries[min(range.lowerBound, entries.count)..<min(range.upperBound, entries.count)])
    }
    try await insert(entries, at: arguments.dropFirst(2).first)
  }

  // MARK: - Changing

  private func check(name: String) throws {
    guard StoredPlaylist.nameLengths.contains(name.unicodeScalars.count), !name.contains("/"),
      name != ".", name != ".."
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
    let list = try await list(name)
    try await checkNew(name: other)
    try await household.library.edit(playlist: list.id, .rename(other), expected: list.revision)
  }

  /// Clients count from 0, without what is gone. A list that is not there is made with all that it gets, or not at all.
  private func edit(
    _ name: String, makesNew: Bool = false,
    _ edit: ([QueuePage.Entry]) throws -> StoredPlaylist.Edit
  ) async throws {
    try check(name: name)
    let lists = try await household.library.playlists()
    guard let known = lists.first(where: { $0.name == name }) else {
      guard makesNew else { throw Ack.noExist("No such playlist") }
      var entries: [QueuePage.Entry] = []
      if case .add(let new, _) = try edit([]) { entries = new }
      _ = try await household.library.savePlaylist(name, entries)
      return
    }
    let list = try await household.library.playlist(known.id)
    try await household.library.edit(
      playlist: list.playlist.id, try edit(list.entries), expected: list.playlist.revision)
  }

  /// `playlistadd NAME URI [POSITION]`.
  func playlistAdd(_ arguments: [String]) async throws {
    let new = try await entries(of: arguments[1], isOne: false).map { QueuePage.Entry($0) }
    let place = try arguments.dropFirst(2).first.map { text in try Argument.number(text) }
    try await edit(arguments[0], makesNew: true) { entries in
      let place = place ?? entries.count
      guard place <= entries.count else { throw Ack.badIndex }
      return .add(new, before: entries.dropFirst(place).first?.id)
    }
  }

  func searchAddToPlaylist(_ arguments: [String]) async throws {
    var rest = Array(arguments.dropFirst())
    let new = try await found(&rest, isSearch: true).map { QueuePage.Entry($0) }
    try await edit(arguments[0], makesNew: true) { _ in .add(new, before: nil) }
  }

  func playlistDelete(_ name: String, _ text: String) async throws {
    let range = try Argument.range(text)
    try await edit(name) { entries in
      guard range.lowerBound < entries.count else { throw Ack.badIndex }
      return .remove(entries[range.lowerBound..<min(range.upperBound, entries.count)].map(\.id))
    }
  }

  /// `playlistmove NAME FROM TO`.
  func playlistMove(_ arguments: [String]) async throws {
    let (from, to) = (try Argument.number(arguments[1]), try Argument.number(arguments[2]))
    try await edit(arguments[0]) { entries in
      guard from < entries.count, to < entries.count else { throw Ack.badIndex }
      var rest = entries
      let moved = rest.remove(at: from)
      return .move(moved.id, before: rest.dropFirst(to).first?.id)
    }
  }

  func playlistClear(_ name: String) async throws {
    try await edit(name, makesNew: true) { _ in .clear }
  }
}
