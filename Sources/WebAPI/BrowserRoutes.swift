import Pairing
import QRCode
import Sender
import Service
import WebServer

extension WebAPI {
  private static let browsers = "/api/v1/browsers"

  static let browserRoutes: [Route] = [
    Route("GET", "/api/v1/access", .guest) { api, call in try json(api.accessState(call)) },
    Route("PATCH", "/api/v1/access", .household) { api, call in
      var fields = try call.fields()
      let isOpen = try fields.bool("open")
      try fields.end()
      guard let isOpen else { throw APIProblem.missing("open") }
      try await api.access.setOpen(isOpen)
      return try json(api.accessState(call))
    },
    Route("POST", "/api/v1/access/pin", .household) { api, call in
      try call.noFields()
      return try json(["pin": await api.access.renewPIN().written])
    },
    Route("GET", browsers, .household) { api, call in
      try json(["browsers": api.access.browsers.map { api.shown($0, call) }])
    },
    Route("POST", browsers, .anyone) { api, call in
      var fields = try call.fields()
      let pin = try fields.string("pin", lengths: 1...40)
      let secret = try fields.string("secret", lengths: 1...100)
      let name = try fields.string("name", lengths: 1...PairedBrowser.nameLimit)
      try fields.end()
      return try await api.pair(pin: pin, secret: secret, name: name, call)
    },
    Route("POST", "\(browsers)/invitations", .household) { api, call in
      try call.noFields()
      let invitation = try api.access.invite(to: call.publicOrigin)
      return try json(ShownInvitation(invitation), status: 201)
    },
    Route("PATCH", "\(browsers)/{id}", .household) { api, call in
      var fields = try call.fields()
      let name = try fields.string("name", lengths: 1...PairedBrowser.nameLimit)
      try fields.end()
      guard let name else { throw APIProblem.missing("name") }
      return try json(api.shown(await api.access.rename(call["id"], to: name), call))
    },
    Route("DELETE", "\(browsers)/{id}", .household) { api, call in
      try call.noFields()
      try await api.access.remove(call["id"])
      return WebResponse(status: 204)
    },
  ]

  private func pair(
    pin: String?, secret: String?, name: String?, _ call: RouteCall
  ) async throws -> WebResponse {
    let name = name ?? BrowserName.of(call.request.header("user-agent") ?? "")
    let key: HouseAccess.Key
    switch (pin, secret) {
    case (let pin?, nil):
      let isSlowed = !call.asker.may(.household)
      key = try await access.pair(pin: pin, name: name, isSlowed: isSlowed)
    case (nil, let secret?): key = try await access.pair(secret: secret, name: name)
    default: throw APIProblem.invalid("Exactly one of pin and secret must be there.")
    }
    var response = try Self.json(shown(key.browser, call), status: 201)
    response.headers.append(BrowserKey.header(key.text))
    return response
  }

  // MARK: - Answers

  private struct AccessState: Encodable {
    let asker: String
    let open: Bool
    let isOpenFixed: Bool
  }

  private func accessState(_ call: RouteCall) -> AccessState {
    AccessState(
      asker: call.asker.name, open: access.isOpen, isOpenFixed: access.isOpenFixed)
  }

  private struct ShownBrowser: Encodable {
    let id: String
    let name: String
    let pairedDaysAgo: Int
    let seenDaysAgo: Int
    /// True if this browser sent the request.
    let isAsker: Bool
  }

  private func shown(_ browser: PairedBrowser, _ call: RouteCall) -> ShownBrowser {
    let today = access.today
    return ShownBrowser(
      id: browser.id, name: browser.name, pairedDaysAgo: max(0, today - browser.pairedDay),
      seenDaysAgo: max(0, today - browser.seenDay), isAsker: call.asker == .browser(browser.id))
  }

  private struct ShownInvitation: Encodable {
    let address: String
    let pin: String
    let lastsS: Int?
    /// The rows of the address's QR code. Each is a text of `1` for dark and `0` for light modules.
    let rows: [String]

    init(_ invitation: Invitation) {
      (address, pin, lastsS) = (invitation.address, invitation.pin, invitation.lastsS)
      rows = QRCode(invitation.address)?.rows ?? []
    }
  }
}

extension RouteCall {
  /// The origin of the page that asks, if phones can reach it too: a proxy's name, or another address of this
  /// machine. Nil for a bare name of this machine, which phones may not resolve.
  var publicOrigin: String? {
    guard let origin = request.header("origin"), origin.utf8.count <= 120,
      let scheme = origin.place(of: "://")
    else { return nil }
    let host = origin[scheme.upperBound...].lowercased()
    let name = host.hasPrefix("[") ? host[...] : host.prefix { $0 != ":" }
    let isOfMachine =
      name.hasPrefix("127.") || name.hasPrefix("[::1]") || name.hasPrefix("[::ffff:")
      || name.hasSuffix(".local") || name.hasSuffix(".localhost")
    return isOfMachine || !name.contains { ".:".contains($0) } ? nil : origin
  }
}

/// Makes up a browser's name from its `User-Agent` header. Used until somebody gives it a name.
enum BrowserName {
  /// - Parameter agent: a `User-Agent` header, which may be anything.
  static func of(_ agent: String) -> String {
    let agent = String(agent.prefix(400))
    let system = systems.first { agent.holds($0.0) }?.1
    let browser = browsers.first { agent.holds($0.0) }?.1 ?? product(agent)
    return [browser, system].compactMap { $0 }.joined(separator: " on ")
  }

  /// The first match counts, because many browsers name others too.
  private static let systems = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("CrOS", "ChromeOS"), ("Macintosh", "Mac"), ("Linux", "Linux"), ("X11", "Linux"),
  ]
  private static let browsers = [
    ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"), ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"),
  ]

  /// The name of a program: the word before the first `/`.
  private static func product(_ agent: String) -> String {
    let word = agent.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    return word.isEmpty ? "Program" : String(word.prefix(24))
  }
}
