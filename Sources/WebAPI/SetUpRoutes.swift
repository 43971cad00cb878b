import House
import Service
import WebServer

extension WebAPI {
  private static let folders = "/api/v1/folders"

  /// Sets the household up: what the configuration leaves to its people.
  static let setUpRoutes: [Route] = [
    Route("GET", folders, .household) { api, call in
      try json(["folders": await api.library.libraryFolders()])
    },
    Route("POST", folders, .household) { api, call in
      var fields = try call.fields()
      let path = try fields.string("path", lengths: 1...4_096)
      try fields.end()
      guard let path else { throw APIProblem.missing("path") }
      return done(at: try await api.house.perform(.setUp(.addFolder(path))).revision)
    },
    Route("DELETE", folders, .household) { api, call in
      try call.noFields()
      guard let path = call.request.query("path") else { throw APIProblem.missing("path") }
      return done(at: try await api.house.perform(.setUp(.removeFolder(path))).revision)
    },
    Route("GET", "\(folders)/choices", .household) { api, call in
      try json(await api.house.folderChoices(in: call.request.query("path")))
    },
    Route("PATCH", "/api/v1/settings", .household) { api, call in
      var fields = try call.fields()
      let language = try fields.string("dates", lengths: 0...35)
      try fields.end()
      guard let language else { throw APIProblem.missing("dates") }
      let order = Order.SetUp.dates(language.isEmpty ? nil : language)
      return done(at: try await api.house.perform(.setUp(order)).revision)
    },
  ]
}
