/// The answer to a request.
package struct WebResponse: Sendable {
  package enum Body: Sendable {
    case none
    case bytes([UInt8], type: String)
    /// A file on the disk, or a range of it if the request has one. The server does not check if the client may
    /// read it.
    case file(path: String, type: String)
    /// A stream of events, until the closure returns nil; called again only once the earlier bytes are on their
    /// way.
    case events(@Sendable () async -> [UInt8]?)
  }

  package enum Caching: Sendable {
    case never
    /// The client asks again each time, and gets the content only if it has changed.
    case revalidated(tag: String)
    /// Cached for good: other content has another address.
    case immutable(tag: String)
  }

  package var status: Int
  package var headers: [(name: String, value: String)] = []
  package var body: Body
  package var caching = Caching.never
  /// The pattern of the path, by which requests are counted; never text of the request.
  package var route = "none"
  /// True while the client may get the rest of a file or a stream of events: it may lose that right meanwhile.
  package var mayGoOn: @Sendable () -> Bool = { true }

  package init(
    status: Int = 200, _ body: Body = .none, headers: [(name: String, value: String)] = []
  ) {
    (self.status, self.body, self.headers) = (status, body, headers)
  }

  /// Makes an error in the form of RFC 9457.
  ///
  /// - Parameters:
  ///   - detail: one sentence for people that says what to do.
  ///   - code: a word for programs, if the status alone says too little.
  package static func problem(
    _ status: Int, _ detail: String, code: String? = nil,
    headers: [(name: String, value: String)] = []
  ) -> WebResponse {
    let code = code.map { #","code":"\#(escaped($0))""# } ?? ""
    let text =
      #"{"type":"about:blank","title":"\#(title(status))","status":\#(status),"detail":"\#(escaped(detail))"\#(code)}"#
    return WebResponse(
      status: status, .bytes([UInt8](text.utf8), type: "application/problem+json"), headers: headers
    )
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\0"..<" ", "\u{7f}": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func title(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 503: "Service Unavailable"
    case 507: "Insufficient Storage"
    default: "Internal Server Error"
    }
  }
}
