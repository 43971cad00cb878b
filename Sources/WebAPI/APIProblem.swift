import House
import Service
import WebServer

/// A request that is answered with an error: HTTP status, code and text for people.
struct APIProblem: Error {
  let status: Int
  let detail: String
  var code: String?
  var headers: [(name: String, value: String)] = []

  /// A request that does not follow the API's document.
  static func invalid(_ detail: String) -> APIProblem { APIProblem(status: 400, detail: detail) }

  static func missing(_ key: String) -> APIProblem { .invalid("The key \(key) is missing.") }

  /// - Parameter text: as somebody has typed it.
  static func noAddress(_ text: String) -> APIProblem {
    .invalid("\(text.prefix(100)) is no address of the web, such as http://host/path.")
  }

  static func noSuch(_ detail: String) -> APIProblem { APIProblem(status: 404, detail: detail) }

  init(status: Int, detail: String) { (self.status, self.detail) = (status, detail) }

  init(_ refusal: Refusal) {
    let status =
      switch refusal {
      case .wrong: 401
      case .forbidden: 403
      case .noSuch: 404
      case .unavailable, .nothingPlayable, .damaged: 409
      case .outdated: 412
      case .invalid: 422
      case .tooMany: 429
      case .notYet: 503
      case .notKept: 507
      }
    self.init(status: status, detail: refusal.description)
    switch refusal {
    case .wrong: code = "wrong"
    case .forbidden: code = "guests-may-not"
    case .tooMany(_, let seconds): headers = [("Retry-After", "\(seconds)")]
    case .notYet: headers = [("Retry-After", "1")]
    case .outdated(let revision): headers = [("ETag", "\"\(revision)\"")]
    case .noSuch, .unavailable, .nothingPlayable, .damaged, .invalid, .notKept: break
    }
  }

  init(_ error: any Error) {
    switch error {
    case let problem as APIProblem: self = problem
    case let refusal as Refusal: self.init(refusal)
    default: self.init(status: 500, detail: "The server has made a mistake: \(error)")
    }
  }

  var response: WebResponse {
    .problem(status, detail, code: code, headers: headers)
  }
}
