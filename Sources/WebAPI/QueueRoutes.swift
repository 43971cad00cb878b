import Service
import WebServer

extension WebAPI {
  private static let queue = "/api/v1/groups/{id}/queue"

  static let queueRoutes: [Route] = [
    Route("GET", queue, .guest) { api, call in
      let limit = try call.integer("limit", in: 1...pageLimit, default: 200)
      let page = try await api.house.queue(group: call["id"], offset: call.offset, limit: limit)
      var response = try json(page)
      response.headers.append(("ETag", "\"\(page.revision)\""))
      return response
    },
    Route("POST", queue, .guest) { api, call in
      var fields = try call.fields()
      let items = try fields.objects("items", count: 1...itemLimit)
      let place = try fields.choice("at", of: places.keys.sorted())
      try fields.end()
      guard let items else { throw APIProblem.missing("items") }
      guard let place = place.flatMap({ places[$0] }) else { throw APIProblem.missing("at") }
      return try await api.edit(call, .add(api.entries(items, for: call), at: place))
    },
    Route("DELETE", queue, .guest) { api, call in try await api.plainEdit(call, .clear) },
    Route("POST", "\(queue)/undo", .guest) { api, call in try await api.plainEdit(call, .undo) },
    Route("POST", "\(queue)/shuffle", .guest) { api, call in try await api.plainEdit(call, .shuffle)
    },
    Route("POST", "\(queue)/save", .household) { api, call in
      var fields = try call.fields()
      let name = try fields.string("name", lengths: 1...100)
      try fields.end()
      guard let name else { throw APIProblem.missing("name") }
      let entries = try await api.wholeQueue(call["id"])
      return try json(await api.library.savePlaylist(name, entries), status: 201)
    },
    Route("DELETE", "\(queue)/{entryId}", .guest) { api, call in
      try await api.plainEdit(call, .remove(call.entryID()))
    },
    Route("PATCH", "\(queue)/{entryId}", .guest) { api, call in
      var fields = try call.fields()
      let isEnd = fields.isNull("before")
      let other = try fields.integer("before")
      try fields.end()
      guard isEnd || other != nil else { throw APIProblem.missing("before") }
      return try await api.edit(call, .move(call.entryID(), to: other.map { .before($0) } ?? .end))
    },
    Route("POST", "\(queue)/{entryId}/play", .guest) { api, call in
      try call.noFields()
      let edit = HouseRequest.QueueEdit.play(try call.entryID())
      return try await api.group(
        .edit(group: call["id"], edit, expected: call.expectedRevision()))
    },
  ]

  private static let places: [String: HouseRequest.Place] = [
    "end": .end, "next": .next, "now": .now,
  ]
  /// Entries of one answer, and items of one request.
  private static let pageLimit = 1_000
  private static let itemLimit = 1_000
  /// Entries that one request adds: an artist may have many.
  private static let addLimit = 20_000

  private struct Edited: Encodable {
    let revision: UInt64
    var added: [Int]?
  }

  private func plainEdit(_ call: RouteCall, _ edit: HouseRequest.QueueEdit) async throws
    -> WebResponse
  {
    try call.noFields()
    return try await self.edit(call, edit)
  }

  private func edit(_ call: RouteCall, _ edit: HouseRequest.QueueEdit) async throws -> WebResponse {
    let request = HouseRequest.edit(
      group: call["id"], edit, expected: try call.expectedRevision())
    guard case .queue(let revision, let added) = try await house.perform(request) else {
      return try await done()
    }
    guard case .add = edit else { return try await done(Edited(revision: revision)) }
    return try await done(Edited(revision: revision, added: added))
  }

  private func wholeQueue(_ group: String) async throws -> [QueuePage.Entry] {
    var entries: [QueuePage.Entry] = []
    while true {
      let page = try await house.queue(group: group, offset: entries.count, limit: Self.pageLimit)
      entries += page.entries
      if page.entries.isEmpty || entries.count >= page.count { return entries }
    }
  }

  // MARK: - Items

  private func entries(_ items: [JSONFields], for call: RouteCall) async throws -> [HouseRequest
    .NewEntry]
  {
    var entries: [HouseRequest.NewEntry] = []
    for item in items {
      entries += try await self.entries(item, for: call)
      guard entries.count <= Self.addLimit else {
        throw APIProblem(
          status: 422, detail: "These are more than \(Self.addLimit) items; add fewer.")
      }
    }
    return entries
  }

  private func entries(_ item: JSONFields, for call: RouteCall) async throws -> [HouseRequest
    .NewEntry]
  {
    var fields = item
    var found: [LibraryItem] = []
    for (key, make) in Self.itemKinds {
      if let text = try fields.string(key) { found.append(make(text)) }
    }
    let input = try fields.string("inputId", lengths: 1...64)
    // Only the library leads to files: else anybody in the network could play and read any of this machine.
    let uri = try fields.string("uri", lengths: 1...4_000)
    try fields.end()
    if let input {
      try call.need(.household, to: "play inputs")
      guard found.isEmpty, uri == nil else { throw Self.notOne }
      guard try await house.state().inputs.contains(where: { $0.name == input }) else {
        throw APIProblem.noSuch("There is no input \(input); see the list of inputs.")
      }
      return [HouseRequest.NewEntry(input: input)]
    }
    switch (found.first, uri) {
    case (.folder(let path)?, nil) where found.count == 1 && !Self.isInside(path):
      throw APIProblem.noSuch("There is no folder \(path) in the library.")
    case (let item?, nil) where found.count == 1: return try await library.entries(of: item)
    case (nil, let uri?):
      guard WebAddress.isOne(uri) else {
        throw APIProblem.invalid(
          "uri must be an address such as http://host/path; files play through the library.")
      }
      if !call.asker.mayReach(uri) {
        try call.need(.household, to: "play addresses of this network")
      }
      var entry = HouseRequest.NewEntry(location: uri)
      entry.reach = call.asker.reach
      return [entry]
    default: throw Self.notOne
    }
  }

  private static let notOne = APIProblem.invalid(
    "An item has exactly one of \(itemKinds.map(\.key).joined(separator: ", ")), inputId and uri.")

  private static let itemKinds: [(key: String, make: @Sendable (String) -> LibraryItem)] = [
    ("trackId", { .track($0) }), ("albumId", { .album($0) }), ("artistId", { .artist($0) }),
    ("folder", { .folder($0) }), ("playlistId", { .playlist($0) }), ("radioId", { .radio($0) }),
  ]
}
