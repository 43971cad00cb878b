internal import NIOCore
internal import NIOHTTP1

/// Writes one answer, with the headers that all answers have.
struct Reply {
  private let response: WebResponse
  private let request: HTTPRequestHead?
  private let isLast: Bool
  private let figures: WebFigures
  private let output: WebConnection.Output

  init(
    _ response: WebResponse, to request: HTTPRequestHead?, isLast: Bool, figures: WebFigures,
    output: WebConnection.Output
  ) {
    (self.response, self.request, self.isLast) = (response, request, isLast)
    (self.figures, self.output) = (figures, output)
  }

  /// Allow scripts, pictures and requests only from and to this server, whatever gets into a page.
  private static let always = [
    ("Content-Security-Policy", "default-src 'self'; base-uri 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  func send(_ bytes: [UInt8], type: String? = nil) async throws {
    if isUnchanged(tag) { return try await sendHead(304, type: nil, length: nil, tag: tag) }
    let length = type == nil ? nil : bytes.count
    try await sendHead(response.status, type: type, length: length, tag: tag, isEnd: bytes.isEmpty)
    guard !bytes.isEmpty else { return }
    if !isHead { try await output.write(.body(ByteBuffer(bytes: bytes))) }
    try await output.write(.end(nil))
  }

  func send(_ file: ServedFile, type: String) async throws {
    if isUnchanged(file.tag) {
      return try await sendHead(304, type: nil, length: nil, tag: file.tag)
    }
    switch ByteRange(rangeHeader(file), size: file.size) {
    case .unsatisfiable:
      let problem = WebResponse.problem(
        416, "The file has only \(file.size) bytes.",
        headers: [("Content-Range", "bytes */\(file.size)")])
      guard case .bytes(let bytes, let type) = problem.body else { return }
      var reply = problem
      reply.route = response.route
      try await Reply(reply, to: request, isLast: isLast, figures: figures, output: output)
        .send(bytes, type: type)
    case .whole: try await send(file, 0..<file.size, status: response.status, type: type)
    case .part(let range): try await send(file, range, status: 206, type: type)
    }
  }

  private func send(_ file: ServedFile, _ range: Range<Int>, status: Int, type: String) async throws
  {
    var extra = [("Accept-Ranges", "bytes")]
    if status == 206 {
      extra.append(
        ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"))
    }
    try await sendHead(
      status, type: type, length: range.count, tag: file.tag, extra: extra, isEnd: false)
    var place = range.lowerBound
    while !isHead, place < range.upperBound {
      let bytes = await file.read(
        from: place, count: min(ServedFile.chunk, range.upperBound - place))
      // The file has become shorter, or this client may not read it any more: only the end of the connection can tell
      // that something is missing.
      guard !bytes.isEmpty, response.mayGoOn() else { throw Shortened() }
      place += bytes.count
      try await output.write(.body(ByteBuffer(bytes: bytes)))
    }
    try await output.write(.end(nil))
  }

  private struct Shortened: Error {}

  func send(_ next: @Sendable () async -> [UInt8]?) async throws {
    try await sendHead(
      response.status, type: "text/event-stream", length: nil, tag: nil, isEnd: false)
    while !isHead, response.mayGoOn(), let bytes = await next() {
      try await output.write(.body(ByteBuffer(bytes: bytes)))
    }
    try await output.write(.end(nil))
  }

  private func sendHead(
    _ status: Int, type: String?, length: Int?, tag: String?, extra: [(String, String)] = [],
    isEnd: Bool = true
  ) async throws {
    figures.count(response.route, status)
    var headers = HTTPHeaders(Self.always + extra + response.headers.map { ($0.name, $0.value) })
    headers.add(name: "Cache-Control", value: caching(tag))
    if let tag { headers.add(name: "ETag", value: "\"\(tag)\"") }
    if let type { headers.add(name: "Content-Type", value: type) }
    if let length { headers.add(name: "Content-Length", value: "\(length)") }
    if isLast { headers.add(name: "Connection", value: "close") }
    let head = HTTPResponseHead(
      version: request?.version ?? .http1_1, status: .init(statusCode: status), headers: headers)
    try await output.write(.head(head))
    if isEnd { try await output.write(.end(nil)) }
  }

  // MARK: - The request

  private var isHead: Bool { request?.method == .HEAD }

  private var tag: String? {
    switch response.caching {
    case .never: nil
    case .revalidated(let tag), .immutable(let tag): tag
    }
  }

  private func caching(_ tag: String?) -> String {
    switch response.caching {
    case .immutable: "public, max-age=31536000, immutable"
    case .revalidated: "no-cache"
    case .never: tag == nil ? "no-store" : "no-cache"
    }
  }

  private func isUnchanged(_ tag: String?) -> Bool {
    guard let tag, response.status == 200, let known = request?.headers["if-none-match"] else {
      return false
    }
    return known.flatMap { $0.split(separator: ",") }.contains {
      let text = $0.filter { $0 != " " }
      return text == "*" || text == "\"\(tag)\"" || text == "W/\"\(tag)\""
    }
  }

  /// Returns nil if the client has a part of other content.
  private func rangeHeader(_ file: ServedFile) -> String? {
    let condition = request?.headers.first(name: "if-range")
    guard condition == nil || condition == "\"\(file.tag)\"" else { return nil }
    return request?.headers.first(name: "range")
  }
}
