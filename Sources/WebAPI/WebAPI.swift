import ProgramJSON
package import Service
package import WebServer

/// The HTTP interface of a household, for browsers and programs.
package struct WebAPI: Sendable {
  let house: any HouseControl
  let library: any LibraryControl
  let pairing: any PairingControl
  let access: HouseAccess
  let figures: WebFigures
  let page: WebPage
  let feed: EventFeed

  package init(
    house: any HouseControl, library: any LibraryControl, pairing: any PairingControl,
    access: HouseAccess, figures: WebFigures, rhythm: EventFeed.Rhythm = EventFeed.Rhythm()
  ) {
    (self.house, self.library, self.pairing) = (house, library, pairing)
    (self.access, self.figures) = (access, figures)
    page = WebPage()
    feed = EventFeed(house, rhythm)
  }

  /// Tried in this order.
  static let routes =
    pageRoutes + browserRoutes + groupRoutes + queueRoutes + roomRoutes + announceRoutes
    + alarmRoutes + nightRoutes + sceneRoutes + stereoRoutes + setUpRoutes + libraryRoutes
    + playlistRoutes + podcastRoutes
    + keepsakeRoutes
    + browsingRoutes
    + fileRoutes

  /// Methods and patterns with the permission that each needs. Tests compare them with the API's
  /// document.
  package static var permissions: [String: Permission] {
    Dictionary(uniqueKeysWithValues: routes.map { ("\($0.method) \($0.pattern)", $0.permission) })
  }

  package func answer(_ request: WebRequest) async -> WebResponse {
    let candidates = Self.routes.compactMap { route in
      route.parameters(of: request.path).map { (route, $0) }
    }
    // A fixed word in a pattern wins over a name: `queue/undo` is not the entry "undo".
    let fewest = candidates.map(\.1.count).min()
    let fitting = candidates.filter { $0.1.count == fewest }
    guard let (route, parameters) = fitting.first(where: { $0.0.method == request.method }) else {
      return Self.stranger(request, known: fitting.map(\.0.method))
    }
    var response: WebResponse
    do {
      let asker = try await asker(request, for: route.permission)
      guard asker.may(route.permission) else { throw Self.refusal(of: asker) }
      let call = RouteCall(request: request, asker: asker, parameters: parameters)
      response = try await route.answer(self, call)
      response.mayGoOn = { access.isStill(asker, allowed: route.permission) }
    } catch {
      response = APIProblem(error).response
    }
    response.route = route.pattern
    return response
  }

  private static func stranger(_ request: WebRequest, known: [String]) -> WebResponse {
    if known.isEmpty {
      return .problem(404, "There is nothing here; what there is stands in /api/v1/openapi.json.")
    }
    let allowed = (known + (known.contains("GET") ? ["HEAD"] : [])).joined(separator: ", ")
    return .problem(
      405, "\(allowed) can be done here, but not \(request.method).", headers: [("Allow", allowed)])
  }

  // MARK: - Answers

  /// Answers with a value and the revision that contains the change, so that a page knows from which
  /// event on it sees the change.
  static func done(
    _ value: some Encodable, at revision: UInt64, status: Int = 200
  ) throws -> WebResponse {
    var response = try json(value, status: status)
    response.headers.append(("Tutti-Revision", "\(revision)"))
    return response
  }

  static func done(at revision: UInt64) -> WebResponse {
    WebResponse(status: 204, headers: [("Tutti-Revision", "\(revision)")])
  }

  static func json(_ value: some Encodable, status: Int = 200) throws -> WebResponse {
    WebResponse(status: status, .bytes(try JSON.encode(value), type: "application/json"))
  }
}
