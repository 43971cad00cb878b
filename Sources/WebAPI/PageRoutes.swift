import ProgramJSON
import Service
import WebServer

extension WebAPI {
  static let pageRoutes: [Route] = [
    Route("GET", "/", .anyone) { api, call in
      let isToldState = call.asker.may(.guest)
      let state = isToldState ? try JSON.encode(await api.house.state()) : []
      var response = WebResponse(
        .bytes(
          api.page.index(asker: call.asker.name, state: state), type: "text/html; charset=utf-8"))
      // Renew the key's cookie: a browser keeps it for a year from its last visit.
      if case .browser = call.asker { response.headers = call.keyCookies }
      return response
    },
    Route("GET", "/assets/{name}", .anyone) { api, call in
      guard let asset = api.page.assets[call["name"]] else {
        throw APIProblem.noSuch("There is no such part of the page.")
      }
      var response = WebResponse(.bytes(asset.bytes, type: asset.type))
      response.caching = .revalidated(tag: asset.tag)
      return response
    },
    Route("GET", "/api/v1/openapi.json", .anyone) { api, _ in
      var response = WebResponse(.bytes(api.page.document.bytes, type: "application/json"))
      response.caching = .revalidated(tag: api.page.document.tag)
      return response
    },
    Route("POST", "/api/v1/login", .anyone) { api, call in
      var fields = try call.fields()
      let token = try fields.string("token")
      try fields.end()
      guard let token else { throw APIProblem.missing("token") }
      return try await api.login(token, call)
    },
    Route("GET", "/metrics", .household) { api, _ in
      let text = Metrics.text(try await api.house.state(), api.figures)
      return WebResponse(
        .bytes([UInt8](text.utf8), type: "text/plain; version=0.0.4; charset=utf-8"))
    },
  ]

  private func login(_ offered: String, _ call: RouteCall) async throws -> WebResponse {
    guard access.token != nil else {
      // Without a token, a login makes sense only for those who have access anyway.
      guard call.asker.may(.household) else { throw Self.wrongToken }
      return WebResponse(status: 204)
    }
    guard try await access.isToken(offered, from: call.request.address) else {
      throw Self.wrongToken
    }
    let cookie =
      "\(WebToken.cookie)=\(offered); Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict"
    return WebResponse(status: 204, headers: [("Set-Cookie", cookie)])
  }

  private static let wrongToken = APIProblem(
    status: 401, detail: "The token is wrong; it stands in the server's configuration.")
}
