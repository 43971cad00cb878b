import House
import Service
import WebServer

/// One kind of request that the server answers.
struct Route: Sendable {
  typealias Answer = @Sendable (WebAPI, RouteCall) async throws -> WebResponse

  let method: String
  /// The path, such as `/api/v1/groups/{id}`.
  let pattern: String
  let permission: Permission
  let answer: Answer
  private let parts: [String]

  init(
    _ method: String, _ pattern: String, _ permission: Permission, _ answer: @escaping Answer
  ) {
    (self.method, self.pattern, self.permission) = (method, pattern, permission)
    self.answer = answer
    parts = pattern.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
      String.init)
  }

  /// Returns the values for the names in braces, or nil if the path does not match.
  func parameters(of path: [String]) -> [String: String]? {
    guard path.count == parts.count else { return nil }
    var found: [String: String] = [:]
    for (part, text) in zip(parts, path) {
      if part.hasPrefix("{") {
        guard !text.isEmpty else { return nil }
        found[String(part.dropFirst().dropLast())] = text
      } else if part != text {
        return nil
      }
    }
    return found
  }
}

/// A request with the values in its path, and who sent it.
struct RouteCall: Sendable {
  let request: WebRequest
  let asker: Asker
  let parameters: [String: String]

  /// The value of a name in the route's pattern. The route has matched, so the value exists.
  subscript(name: String) -> String { parameters[name] ?? "" }

  func need(_ permission: Permission, to what: String) throws(Refusal) {
    try asker.need(permission, to: what)
  }

  func fields() throws(APIProblem) -> JSONFields {
    guard !request.body.isEmpty else { throw .invalid("The body is missing; it is a JSON object.") }
    return try JSONFields(request.body)
  }

  /// Refuses a body, except an empty object, for requests that need none.
  func noFields() throws(APIProblem) { try JSONFields(request.body).end() }

  func integer(_ name: String, in range: ClosedRange<Int>, default standard: Int) throws(APIProblem)
    -> Int
  {
    guard let text = request.query(name) else { return standard }
    guard let number = Int(text), range.contains(number) else {
      throw .invalid(
        "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// The first entry of the list that is wanted.
  var offset: Int {
    get throws(APIProblem) { try integer("offset", in: 0...1_000_000, default: 0) }
  }

  func entryID() throws(APIProblem) -> Int {
    guard let id = Int(self["entryId"]) else {
      throw .noSuch("There is no entry \(self["entryId"]) in this queue.")
    }
    return id
  }

  /// The queue's revision that an edit was made for. Accepts it without quotes too, which some
  /// clients forget.
  func expectedRevision() throws(APIProblem) -> UInt64? {
    guard let text = request.header("if-match"), text != "*" else { return nil }
    guard let revision = UInt64(text.filter { $0 != "\"" }) else {
      throw .invalid("If-Match must be a queue's revision in quotes, such as \"44\".")
    }
    return revision
  }
}
