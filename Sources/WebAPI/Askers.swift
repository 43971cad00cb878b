import House
import Pairing
import Service
import WebServer

extension WebAPI {
  /// Returns who sent a request: this machine, a paired browser, the holder of the token, a guest
  /// or a stranger.
  ///
  /// - Throws: if the request carries a token that cannot be checked yet, because too many wrong
  ///   ones came before.
  func asker(_ request: WebRequest, for permission: Permission) async throws(Refusal)
    -> Asker
  {
    for key in request.cookies(BrowserKey.cookie).prefix(Self.offerLimit) {
      if let browser = access.browser(key: key) { return .browser(browser.id) }
    }
    // If a token is configured, programs on this machine need it too.
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

  /// Maximum number of keys, and of tokens, that are tried for one request.
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

/// The cookie in which a browser keeps the key of its pairing.
enum BrowserKey {
  static let cookie = "tutti-browser"

  static func header(_ key: String) -> (name: String, value: String) {
    ("Set-Cookie", "\(cookie)=\(key); Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict")
  }
}

extension RouteCall {
  /// Headers that set the browser's own key again, for another year.
  var keyCookies: [(name: String, value: String)] {
    request.cookies(BrowserKey.cookie).prefix(1).filter { $0.allSatisfy(\.isHexDigit) }
      .map(BrowserKey.header)
  }
}

extension Asker {
  /// The asker's name in the page and in answers.
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
