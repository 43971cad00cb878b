import House
import Service
import WebServer

extension WebAPI {
  private static let folders = "/api/v1/folders"
  private static let servers = "/api/v1/servers"

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
    Route("GET", servers, .household) { api, call in
      try json(["servers": await api.library.libraryServers()])
    },
    Route("GET", "\(servers)/found", .household) { api, call in
      try json(["servers": await api.house.foundServers()])
    },
    Route("POST", servers, .household) { api, call in
      let server = try chosenServer(call)
      return done(at: try await api.house.perform(.setUp(.addServer(server))).revision)
    },
    Route("DELETE", servers, .household) { api, call in
      try call.noFields()
      guard let name = call.request.query("name") else { throw APIProblem.missing("name") }
      return done(at: try await api.house.perform(.setUp(.removeServer(name))).revision)
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

  /// The fields have the names of the configuration's keys.
  private static func chosenServer(_ call: RouteCall) throws -> ChosenServer {
    var fields = try call.fields()
    let name = try fields.string("name", lengths: 1...MediaServer.nameLimit)
    let subsonic = try fields.string("subsonic", lengths: 1...ListenAddress.limit)
    let upnp = try fields.string("upnp", lengths: 1...ListenAddress.limit)
    let user = try fields.string("user", lengths: 1...ChosenServer.userLimit)
    let secret = try fields.string("password", lengths: 1...ChosenServer.secretLimit)
    let login = try fields.choice("login", of: MediaServer.Login.allCases.map(\.rawValue))
    try fields.end()
    guard let name else { throw APIProblem.missing("name") }
    guard let address = subsonic ?? upnp, subsonic == nil || upnp == nil else {
      throw APIProblem.invalid("A library needs either subsonic or upnp, with its address.")
    }
    var server = ChosenServer(
      name: name, kind: subsonic == nil ? .upnp : .subsonic, address: address)
    (server.user, server.secret) = (user ?? "", secret ?? "")
    server.login = login.flatMap(MediaServer.Login.init) ?? .token
    server.reach = call.asker.reach
    return server
  }
}
