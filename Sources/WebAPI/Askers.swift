import Pairing
import Service
import WebServer

extension WebAPI {
  /// Who has sent a request.
  ///
  /// - Throws: where it carries a token that is not looked at now.
  func asker(_ request: WebRequest, for permission: Permission) async throws(Refusal)
    -> Asker
  {
    for key in request.cookies(BrowserKey.cookie).prefix(Self.offerLimit) {
      if let browser = access.browser(key: key) { return .browser(browser.id) }
    }
    // Whoever has set a token wants it of programs on this machine too.
    if request.isLocal, access.token == nil { return .machine }
    for token in (request.cookies(WebToken.cookie) + request.bearers).prefix(Self.offerLimit) {
      do throws(Refusal) {
        if try await access.isToken(token, from: request.address) { return .token }
      } catch {
        if permission != .anyone { throw error }
      }
    }
    return access.isOpen ? .guest : .stranger
  }

  /// Keys and tokens of one request.
  private static let offerLimit = 4

  static func refusal(of asker: Asker) -> APIProblem {
    if asker == .guest { return APIProblem(Refusal.forGuests("do this")) }
    var problem = APIProblem(
      status: 401,
      detail:
        "Pair this browser with the household first: open the page, or type the PIN that is shown by: tutti pin"
    )
    (problem.code, problem.headers) = ("unpaired", [("WWW-Authenticate", "Bearer")])
    return problem
  }
}

/// What a browser keeps of its pairing.
enum BrowserKey {
  static let cookie = "tutti-browser"

  static func header(_ key: String) -> (name: String, value: String) {
    ("Set-Cookie", "\(cookie)=\(key); Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict")
  }
}

extension RouteCall {
  /// The browser's own key again, for another year.
  var keyCookies: [(name: String, value: String)] {
    request.cookies(BrowserKey.cookie).prefix(1).filter { $0.allSatisfy(\.isHexDigit) }
      .map(BrowserKey.header)
  }
}

extension Asker {
  /// In the page and in answers.
  var name: String {
    switch self {
    case .machine: "machine"
    case .browser: "browser"
    case .token: "token"
    case .guest: "guest"
    case .stranger: "stranger"
    }
  }
}
