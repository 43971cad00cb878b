import House
import Service
import WebServer

/// Favourites, the history, and ways into a large library.
extension WebAPI {
  static let keepsakeRoutes: [Route] = [
    Route("GET", "\(library)/favourites", .guest) { api, _ in
      try json(["favourites": await api.library.favourites()])
    },
    Route("PUT", "\(library)/favourites/{kind}/{id}", .household) { api, call in
      let (kind, id) = try thing(call)
      if kind == .input {
        guard try await api.house.state().inputs.contains(where: { $0.name == id }) else {
          throw APIProblem.noSuch("There is no input \(id); see the list of inputs.")
        }
      }
      try await api.library.setFavourite(kind, id, to: true)
      return WebResponse(status: 204)
    },
    Route("DELETE", "\(library)/favourites/{kind}/{id}", .household) { api, call in
      let (kind, id) = try thing(call)
      try await api.library.setFavourite(kind, id, to: false)
      return WebResponse(status: 204)
    },
    Route("GET", "\(library)/recent", .household) { api, call in
      let limit = try call.integer("limit", in: 1...100, default: 20)
      return try json(["recent": await api.library.recent(limit: limit)])
    },
    Route("GET", "\(library)/history", .household) { api, call in
      try json(await api.library.history(offset: call.offset, limit: pageSize(call)))
    },
    Route("DELETE", "\(library)/history", .household) { api, call in
      try call.noFields()
      try await api.library.clearHistory()
      return WebResponse(status: 204)
    },
  ]

  static let browsingRoutes: [Route] = [
    Route("GET", "\(library)/artists/{id}", .guest) { api, call in
      try json(await api.library.artist(call["id"]))
    },
    Route("GET", "\(library)/tracks", .guest) { api, call in
      let name = call.request.query("sort") ?? "title"
      guard let order = TrackQuery.Order(rawValue: name) else {
        throw APIProblem.invalid("sort must be title or added.")
      }
      return try json(
        await api.library.tracks(
          TrackQuery(
            order: order, artistId: call.request.query("artistId"),
            tagId: call.request.query("tagId"), offset: call.offset, limit: pageSize(call))))
    },
    Route("GET", "\(library)/tracks/{id}/lyrics", .guest) { api, call in
      try json(await api.library.lyrics(ofTrack: call["id"]))
    },
    Route("GET", "\(library)/genres", .guest) { api, call in
      try json(await api.library.tags(.genre, offset: call.offset, limit: pageSize(call)))
    },
    Route("GET", "\(library)/composers", .guest) { api, call in
      try json(await api.library.tags(.composer, offset: call.offset, limit: pageSize(call)))
    },
    Route("GET", "\(library)/years", .guest) { api, _ in
      try json(["years": await api.library.years()])
    },
    Route("GET", "\(library)/letters", .guest) { api, call in
      try json(["letters": await api.library.letters(lettered(call))])
    },
  ]

  private static func pageSize(_ call: RouteCall) throws(APIProblem) -> Int {
    try call.integer("limit", in: 1...libraryPageLimit, default: 200)
  }

  /// Maximum length of an id, which may be an input's name, in characters.
  private static let idLimit = 200

  private static func thing(_ call: RouteCall) throws -> (LibraryThing.Kind, String) {
    try call.noFields()
    guard let kind = LibraryThing.Kind(rawValue: call["kind"]) else {
      let all = LibraryThing.Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw APIProblem.noSuch("A favourite is one of these: \(all).")
    }
    guard call["id"].unicodeScalars.count <= idLimit, !call["id"].unicodeScalars.contains("\0")
    else { throw APIProblem.noSuch("There is no such thing in the library.") }
    return (kind, call["id"])
  }

  private static func lettered(_ call: RouteCall) throws(APIProblem) -> LetteredList {
    switch call.request.query("of") {
    case "albums":
      guard let order = AlbumQuery.Order(rawValue: call.request.query("sort") ?? "artist") else {
        throw .invalid("sort must be artist, title, added or year.")
      }
      return .albums(order)
    case "artists": return .artists
    case "tracks": return .tracks
    default: throw .invalid("of must be albums, artists or tracks.")
    }
  }
}
