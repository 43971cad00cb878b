import House
import Service
import WebServer

extension WebAPI {
  static let library = "/api/v1/library"

  static let libraryRoutes: [Route] = [
    Route("GET", "\(library)/albums", .guest) { api, call in
      try json(await api.library.albums(albumQuery(call)))
    },
    Route("GET", "\(library)/albums/{id}", .guest) { api, call in
      try json(await api.library.album(call["id"]))
    },
    Route("GET", "\(library)/artists", .guest) { api, call in
      let limit = try call.integer("limit", in: 1...libraryPageLimit, default: 200)
      return try json(await api.library.artists(offset: call.offset, limit: limit))
    },
    Route("GET", "\(library)/folders", .guest) { api, call in
      let path = call.request.query("path") ?? ""
      guard LibraryItem.isInside(path) else {
        throw APIProblem.noSuch("There is no such folder in the library.")
      }
      return try json(await api.library.folder(path))
    },
    Route("GET", "\(library)/search", .guest) { api, call in
      let limit = try call.integer("limit", in: 1...libraryPageLimit, default: 20)
      guard let text = call.request.query("q"), text.unicodeScalars.count <= 200 else {
        throw APIProblem.invalid("q must be there, with at most 200 characters.")
      }
      var found = try await api.library.search(text, limit: limit)
      found.podcasts = found.podcasts.map { shown($0, to: call) }
      return try json(found)
    },
    Route("GET", "\(library)/radios", .guest) { api, _ in
      try json(["radios": await api.library.radios()])
    },
    Route("POST", "\(library)/radios", .household) { api, call in
      var fields = try call.fields()
      let name = try fields.string("name", lengths: Radio.nameLengths)
      let uri = try fields.string("uri", lengths: Radio.uriLengths).map(WebAddress.typed)
      let picture = try fields.string("picture", lengths: Radio.uriLengths)
      try fields.end()
      guard let uri else { throw APIProblem.missing("uri") }
      for address in [uri, picture ?? uri] where !Radio.isAddress(address) {
        throw APIProblem.noAddress(address)
      }
      return try json(
        await api.house.addRadio(
          name: name, uri: uri, picture: picture, reach: call.asker.reach, in: api.library),
        status: 201)
    },
    Route("DELETE", "\(library)/radios/{id}", .household) { api, call in
      try call.noFields()
      try await api.library.removeRadio(call["id"])
      return WebResponse(status: 204)
    },
    Route("POST", "\(library)/scan", .household) { api, call in
      try call.noFields()
      try await api.library.scan()
      return WebResponse(status: 202)
    },
  ]

  static let fileRoutes: [Route] = [
    Route("GET", "/api/v1/artwork/{hash}", .guest) { api, call in
      guard
        let size = [300, 1_200].first(where: { "\($0)" == call.request.query("size") ?? "300" })
      else { throw APIProblem.invalid("size must be 300 or 1200.") }
      guard call["hash"].utf8.count <= 128, call["hash"].allSatisfy({ $0.isHexDigit }) else {
        throw APIProblem.noSuch("There is no such picture.")
      }
      let file = try await api.library.artwork(call["hash"], size: size)
      var response = WebResponse(.file(path: file.path, type: file.type))
      response.caching = .immutable(tag: call["hash"])
      return response
    },
    Route("GET", "\(library)/tracks/{id}/media", .household) { api, call in
      let file = try await api.library.media(track: call["id"])
      return WebResponse(.file(path: file.path, type: file.type))
    },
  ]

  static let libraryPageLimit = 1_000
  /// Releases before the first recording are misread tags.
  private static let years = 1_000...9_999

  private static func albumQuery(_ call: RouteCall) throws -> AlbumQuery {
    let name = call.request.query("sort") ?? "artist"
    guard let order = AlbumQuery.Order(rawValue: name) else {
      throw APIProblem.invalid("sort must be artist, title, added or year.")
    }
    var query = AlbumQuery(
      order: order, artistId: call.request.query("artistId"), offset: try call.offset,
      limit: try call.integer("limit", in: 1...libraryPageLimit, default: 200))
    query.tagId = call.request.query("tagId")
    if call.request.query("year") != nil {
      query.year = try call.integer("year", in: years, default: years.lowerBound)
    }
    return query
  }
}
