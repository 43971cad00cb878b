import House
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
      let place = try place(
        &fields, words: ["now": .now, "nowAndKeep": .nowAndKeep, "next": .next, "end": .end])
      try fields.end()
      guard let items else { throw APIProblem.missing("items") }
      guard let place else { throw APIProblem.missing("at") }
      let wanted = try items.map(wanted)
      let entries = try await api.house.entries(of: wanted, for: call.asker, in: api.library)
      return try await api.edit(call, .add(entries, at: place))
    },
    Route("DELETE", queue, .guest) { api, call in try await api.plainEdit(call, .clear) },
    Route("POST", "\(queue)/clear-others", .guest) { api, call in
      try await api.plainEdit(call, .clearOthers)
    },
    Route("POST", "\(queue)/undo", .guest) { api, call in try await api.plainEdit(call, .undo) },
    Route("POST", "\(queue)/shuffle", .guest) { api, call in try await api.plainEdit(call, .shuffle)
    },
    Route("POST", "\(queue)/unshuffle", .guest) { api, call in
      try await api.plainEdit(call, .unshuffle)
    },
    Route("POST", "\(queue)/save", .household) { api, call in
      var fields = try call.fields()
      let name = try fields.string("name", lengths: StoredPlaylist.nameLengths)
      try fields.end()
      guard let name else { throw APIProblem.missing("name") }
      return try json(
        await api.house.save(call["id"], as: name, in: api.library).list, status: 201)
    },
    Route("DELETE", "\(queue)/{entryId}", .guest) { api, call in
      try await api.plainEdit(call, .remove([call.entryID()]))
    },
    Route("PATCH", "\(queue)/{entryId}", .guest) { api, call in
      var fields = try call.fields()
      let place = try place(&fields, words: ["next": .next, "end": .end])
      try fields.end()
      guard let place else { throw APIProblem.missing("before") }
      return try await api.edit(call, .move(call.entryID(), to: place))
    },
    Route("POST", "\(queue)/{entryId}/play", .guest) { api, call in
      try call.noFields()
      let edit = Order.QueueEdit.play(try call.entryID())
      return try await api.group(
        .edit(group: call["id"], edit, expected: call.expectedRevision()))
    },
  ]

  /// Reads a place in the queue. `at` is a word, or a number in the list counted from 1; `before` is an entry, or null
  /// for the end. Returns nil if neither is there.
  private static func place(
    _ fields: inout JSONFields, words: [String: Order.Place]
  ) throws -> Order.Place? {
    var places: [Order.Place] = []
    switch try fields.wordOrNumber("at", of: words.keys.sorted(), from: 1) {
    case .word(let word)?: places += [words[word]].compactMap(\.self)
    case .number(let number)?: places.append(.number(number))
    case nil: break
    }
    if fields.isNull("before") { places.append(.end) }
    if let entry = try fields.integer("before") { places.append(.before(entry)) }
    guard places.count < 2 else {
      throw APIProblem.invalid("Exactly one of at and before must be there.")
    }
    return places.first
  }

  /// Maximum number of entries in one answer, and of items in one request.
  private static let pageLimit = 1_000
  private static let itemLimit = 1_000
  private struct Edited: Encodable {
    let revision: UInt64
    var added: [Int]?
  }

  private func plainEdit(_ call: RouteCall, _ edit: Order.QueueEdit) async throws
    -> WebResponse
  {
    try call.noFields()
    return try await self.edit(call, edit)
  }

  private func edit(_ call: RouteCall, _ edit: Order.QueueEdit) async throws -> WebResponse {
    let answer = try await house.perform(
      .edit(group: call["id"], edit, expected: try call.expectedRevision()))
    guard let queue = answer.queue else { return Self.done(at: answer.revision) }
    var edited = Edited(revision: queue.revision)
    if case .add = edit { edited.added = queue.added }
    return try Self.done(edited, at: answer.revision)
  }

  // MARK: - Items

  static func wanted(_ item: JSONFields) throws -> Wanted {
    var fields = item
    var found: [Wanted] = []
    for (key, make) in itemKinds {
      if let text = try fields.string(key) { found.append(.library(make(text))) }
    }
    if let name = try fields.string("inputId", lengths: 1...64) { found.append(.input(name)) }
    if let uri = try fields.string("uri", lengths: 1...4_000) {
      guard let address = WebAddress(uri) else {
        throw APIProblem.invalid(
          "uri must be an address such as http://host/path; files play through the library.")
      }
      found.append(.address(address))
    }
    try fields.end()
    guard let wanted = found.first, found.count == 1 else { throw notOne }
    return wanted
  }

  private static let notOne = APIProblem.invalid(
    "An item has exactly one of \(itemKinds.map(\.key).joined(separator: ", ")), inputId and uri.")

  private static let itemKinds: [(key: String, make: @Sendable (String) -> LibraryItem)] = [
    ("trackId", { .track($0) }), ("albumId", { .album($0) }), ("artistId", { .artist($0) }),
    ("folder", { .folder($0) }), ("playlistId", { .playlist($0) }), ("radioId", { .radio($0) }),
    ("podcastId", { .podcast($0) }), ("episodeId", { .episode($0) }),
  ]
}
