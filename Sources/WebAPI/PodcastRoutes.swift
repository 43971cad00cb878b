import House
import Service
import WebServer

/// Podcasts that the household has subscribed to.
extension WebAPI {
  private static let podcasts = "\(library)/podcasts"

  /// Guests see no address of a feed, which may hold the key of its subscriber.
  static func shown(_ podcast: Podcast, to call: RouteCall) -> Podcast {
    var podcast = podcast
    if !call.asker.may(.household) { podcast.uri = nil }
    return podcast
  }

  static let podcastRoutes: [Route] = [
    Route("GET", podcasts, .guest) { api, call in
      try json(["podcasts": await api.library.podcasts().map { shown($0, to: call) }])
    },
    Route("POST", podcasts, .household) { api, call in
      var fields = try call.fields()
      let uri = try fields.string("uri", lengths: Podcast.uriLengths).map(WebAddress.typed)
      try fields.end()
      guard let uri else { throw APIProblem.missing("uri") }
      guard Podcast.isAddress(uri) else { throw APIProblem.noAddress(uri) }
      return try json(
        await api.library.subscribe(uri, reach: call.asker.reach), status: 201)
    },
    Route("POST", "\(podcasts)/refresh", .household) { api, call in
      try call.noFields()
      try await api.library.refreshPodcasts()
      return WebResponse(status: 202)
    },
    Route("GET", "\(podcasts)/{id}", .guest) { api, call in
      var contents = try await api.library.podcast(call["id"])
      // The household's subscriptions, and where it has left things, are its own.
      contents.podcast = shown(contents.podcast, to: call)
      if !call.asker.may(.household) {
        for index in contents.episodes.indices { contents.episodes[index].positionS = nil }
      }
      return try json(contents)
    },
    Route("DELETE", "\(podcasts)/{id}", .household) { api, call in
      try call.noFields()
      try await api.library.unsubscribe(call["id"])
      return WebResponse(status: 204)
    },
    Route("PATCH", "\(library)/episodes/{id}", .household) { api, call in
      var fields = try call.fields()
      let isPlayed = try fields.bool("isPlayed")
      try fields.end()
      guard let isPlayed else { throw APIProblem.missing("isPlayed") }
      try await api.library.markEpisode(call["id"], isPlayed: isPlayed)
      return WebResponse(status: 204)
    },
    Route("GET", "\(library)/begun", .household) { api, call in
      let limit = try call.integer("limit", in: 1...100, default: 20)
      return try json(["begun": await api.library.begun(limit: limit)])
    },
  ]
}
