import House
import Service
import WebServer

/// Playlists of the library: they are read, made and edited.
extension WebAPI {
  private static let playlists = "\(library)/playlists"
  private static let playlist = "\(playlists)/{id}"
  private static let itemLimit = 1_000

  static let playlistRoutes: [Route] = [
    Route("GET", playlists, .guest) { api, _ in
      try json(["playlists": await api.library.playlists()])
    },
    Route("POST", playlists, .household) { api, call in
      var fields = try call.fields()
      let name = try fields.string("name", lengths: StoredPlaylist.nameLengths)
      let items = try fields.objects("items", count: 0...itemLimit)
      try fields.end()
      guard let name else { throw APIProblem.missing("name") }
      let entries = try await api.listed(items ?? [], for: call)
      return try json(await api.library.savePlaylist(name, entries), status: 201)
    },
    Route("GET", playlist, .guest) { api, call in
      try json(await api.library.playlist(call["id"]))
    },
    Route("PATCH", playlist, .household) { api, call in
      var fields = try call.fields()
      let name = try fields.string("name", lengths: StoredPlaylist.nameLengths)
      try fields.end()
      guard let name else { throw APIProblem.missing("name") }
      return try await api.edit(call, .rename(name))
    },
    Route("DELETE", playlist, .household) { api, call in
      try call.noFields()
      try await api.library.removePlaylist(call["id"])
      return WebResponse(status: 204)
    },
    Route("POST", "\(playlist)/entries", .household) { api, call in
      var fields = try call.fields()
      let items = try fields.objects("items", count: 1...itemLimit)
      let next = try fields.integer("before")
      try fields.end()
      guard let items else { throw APIProblem.missing("items") }
      return try await api.edit(call, .add(api.listed(items, for: call), before: next))
    },
    Route("PATCH", "\(playlist)/entries/{entryId}", .household) { api, call in
      var fields = try call.fields()
      let isLast = fields.isNull("before")
      let next = try fields.integer("before")
      try fields.end()
      guard isLast || next != nil else { throw APIProblem.missing("before") }
      return try await api.edit(call, .move(call.entryID(), before: next))
    },
    Route("DELETE", "\(playlist)/entries/{entryId}", .household) { api, call in
      try call.noFields()
      return try await api.edit(call, .remove([call.entryID()]))
    },
  ]

  private func listed(
    _ items: [JSONFields], for call: RouteCall
  ) async throws -> [QueuePage.Entry] {
    let wanted = try items.map(Self.wanted)
    for case .input in wanted {
      throw APIProblem.invalid("A playlist has tracks and addresses; an input cannot be in it.")
    }
    return try await house.entries(of: wanted, for: call.asker, in: library)
      .map { QueuePage.Entry($0) }
  }

  private func edit(_ call: RouteCall, _ edit: StoredPlaylist.Edit) async throws -> WebResponse {
    try Self.json(
      await library.edit(playlist: call["id"], edit, expected: call.expectedRevision()))
  }
}
