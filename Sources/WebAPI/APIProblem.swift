import Service
import WebServer

/// Why a request is answered with an error.
struct APIProblem: Error {
  let status: Int
  let detail: String
  var code: String?
  var headers: [(name: String, value: String)] = []

  /// Not as the document says.
  static func invalid(_ detail: String) -> APIProblem { APIProblem(status: 400, detail: detail) }

  static func missing(_ key: String) -> APIProblem { .invalid("The key \(key) is missing.") }

  static func noSuch(_ detail: String) -> APIProblem { APIProblem(status: 404, detail: detail) }

  static func notForGuests(_ what: String) -> APIProblem {
    var problem = APIProblem(
      status: 403, detail: "Guests may not \(what); pair this browser with the household first.")
    problem.code = "guests-may-not"
    return problem
  }

  init(status: Int, detail: String) { (self.status, self.detail) = (status, detail) }

  init(_ problem: HouseProblem) {
    switch problem {
    case .noSuch(let detail): self.init(status: 404, detail: detail)
    case .invalid(let detail): self.init(status: 422, detail: detail)
    case .unavailable(let detail): self.init(status: 409, detail: detail)
    case .notKept(let detail): self.init(status: 507, detail: detail)
    case .notYet(let detail):
      self.init(status: 503, detail: detail)
      headers = [("Retry-After", "1")]
    case .outdated(let revision):
      self.init(
        status: 412,
        detail: "The queue has changed meanwhile, to revision \(revision); fetch it, and try again."
      )
      headers = [("ETag", "\"\(revision)\"")]
    }
  }

  init(_ problem: PairingProblem) {
    switch problem {
    case .wrongPIN(let detail): self.init(status: 422, detail: detail)
    case .noSuch(let detail): self.init(status: 404, detail: detail)
    case .unavailable(let detail): self.init(status: 409, detail: detail)
    case .tooMany(let detail, let seconds):
      self.init(status: 429, detail: detail)
      headers = [("Retry-After", "\(seconds)")]
    }
  }

  init(_ problem: AccessProblem) {
    switch problem {
    case .wrong(let detail):
      self.init(status: 401, detail: detail)
      code = "wrong"
    case .invalid(let detail): self.init(status: 422, detail: detail)
    case .noSuch(let detail): self.init(status: 404, detail: detail)
    case .unavailable(let detail): self.init(status: 409, detail: detail)
    case .tooMany(let detail, let seconds):
      self.init(status: 429, detail: detail)
      headers = [("Retry-After", "\(seconds)")]
    }
  }

  init(_ error: any Error) {
    switch error {
    case let problem as APIProblem: self = problem
    case let problem as HouseProblem: self.init(problem)
    case let problem as PairingProblem: self.init(problem)
    case let problem as AccessProblem: self.init(problem)
    default: self.init(status: 500, detail: "The server has made a mistake: \(error)")
    }
  }

  var response: WebResponse {
    .problem(status, detail, code: code, headers: headers)
  }
}
