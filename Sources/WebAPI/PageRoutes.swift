import Service
import WebServer

extension WebAPI {
  static let pageRoutes: [Route] = [
    Route("GET", "/", isOpen: true) { api, call in
      let state = call.request.isAuthorized ? try JSONText.encode(await api.house.state()) : []
      return WebResponse(.bytes(api.page.index(state: state), type: "text/html; charset=utf-8"))
    },
    Route("GET", "/assets/{name}", isOpen: true) { api, call in
      guard let asset = api.page.assets[call["name"]] else {
        throw APIProblem.noSuch("There is no such part of the page.")
      }
      var response = WebResponse(.bytes(asset.bytes, type: asset.type))
      response.caching = .revalidated(tag: asset.tag)
      return response
    },
    Route("GET", "/api/v1/openapi.json", isOpen: true) { api, _ in
      var response = WebResponse(.bytes(api.page.document.bytes, type: "application/json"))
      response.caching = .revalidated(tag: api.page.document.tag)
      return response
    },
    Route("POST", "/api/v1/login", isOpen: true) { api, call in
      var fields = try call.fields()
      let token = try fields.string("token")
      try fields.end()
      guard let token else { throw APIProblem.missing("token") }
      return try api.login(token)
    },
    Route("GET", "/metrics") { api, _ in
      let text = Metrics.text(try await api.house.state(), api.figures)
      return WebResponse(
        .bytes([UInt8](text.utf8), type: "text/plain; version=0.0.4; charset=utf-8"))
    },
  ]

  private func login(_ offered: String) throws(APIProblem) -> WebResponse {
    guard let token else { return WebResponse(status: 204) }
    guard WebToken.isEqual(offered, token) else {
      throw APIProblem(
        status: 401, detail: "The token is wrong; it stands in the server's configuration.")
    }
    let cookie = "\(WebToken.cookie)=\(token); Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict"
    return WebResponse(status: 204, headers: [("Set-Cookie", cookie)])
  }
}
