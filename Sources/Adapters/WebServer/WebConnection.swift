internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// One client's connection, which serves its requests one after the other. Requests sent ahead wait in the socket.
struct WebConnection: Sendable {
  typealias Parts = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
  typealias Output = NIOAsyncChannelOutboundWriter<ResponsePart>

  let channel: NIOAsyncChannel<HTTPServerRequestPart, ResponsePart>
  let screen: RequestScreen
  let figures: WebFigures
  let pool: NIOThreadPool
  let answer: WebServer.Answer

  /// Returns when the connection is closed.
  func serve() async {
    try? await channel.executeThenClose { input, output in
      var parts = input.makeAsyncIterator()
      do {
        while try await serveOne(&parts, output) {}
        await drain(&parts, output)
      } catch {
        guard let refusal = Self.refusal(error) else { return }
        try await refuse(refusal, nil, output)
      }
    }
  }

  private static func refusal(_ error: any Error) -> Refusal? {
    switch error {
    case is Slowness: Refusal(408, "The request did not arrive in time; try again.")
    case HTTPParserError.headerOverflow:
      Refusal(431, "The headers are too long; delete cookies of this server.")
    case is HTTPParserError: Refusal(400, "This is no correct HTTP request.")
    default: nil
    }
  }

  /// Serves one request. Returns true if the connection continues.
  private func serveOne(_ parts: inout Parts, _ output: Output) async throws -> Bool {
    guard case .head(let head)? = try await parts.next() else { return false }
    do {
      let address = channel.channel.remoteAddress?.ipAddress ?? ""
      var request = try screen.admit(head, from: address).get()
      guard Int(head.headers.first(name: "content-length") ?? "0") ?? .max <= Self.bodyLimit else {
        throw Self.tooLarge
      }
      if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
        try await output.write(.head(HTTPResponseHead(version: head.version, status: .continue)))
      }
      guard let body = try await body(&parts) else { return false }
      request.body = body
      if head.method == .HEAD { request.method = "GET" }
      let response = await answer(request)
      try await send(response, to: head, isLast: !head.isKeepAlive, output)
      return head.isKeepAlive
    } catch let refusal as Refusal {
      try await refuse(refusal, head, output)
      return false
    }
  }

  private static let bodyLimit = WebServerConfiguration.Limits.body
  private static let tooLarge = Refusal(413, "The body is longer than 64 KiB.")

  /// Returns nil if the connection has ended.
  private func body(_ parts: inout Parts) async throws -> [UInt8]? {
    var body: [UInt8] = []
    while let part = try await parts.next() {
      switch part {
      case .head: return nil
      case .body(let buffer):
        guard body.count + buffer.readableBytes <= Self.bodyLimit else { throw Self.tooLarge }
        body += buffer.readableBytesView
      case .end: return body
      }
    }
    return nil
  }

  private func refuse(_ refusal: Refusal, _ head: HTTPRequestHead?, _ output: Output) async throws {
    let response = WebResponse.problem(refusal.status, refusal.detail)
    try await send(response, to: head, isLast: true, output)
  }

  /// Reads some of the client's remaining bytes, so that the end of the connection does not destroy the answer.
  private func drain(_ parts: inout Parts, _ output: Output) async {
    channel.channel.close(mode: .output, promise: nil)
    var count = 0
    while count < Self.drainLimit, let part = try? await parts.next() {
      if case .body(let buffer) = part { count += buffer.readableBytes }
    }
  }

  private static let drainLimit = 1 << 20

  // MARK: - Answers

  private func send(
    _ response: WebResponse, to head: HTTPRequestHead?, isLast: Bool, _ output: Output
  ) async throws {
    let reply = Reply(response, to: head, isLast: isLast, figures: figures, output: output)
    switch response.body {
    case .none: try await reply.send([])
    case .bytes(let bytes, let type): try await reply.send(bytes, type: type)
    case .file(let path, let type):
      guard let file = await ServedFile.open(path, on: pool) else {
        return try await send(
          .problem(404, "The file is not there any more; scan the library again."), to: head,
          isLast: isLast, output)
      }
      defer { file.close() }
      try await reply.send(file, type: type)
    case .events(let next):
      guard figures.openEventStream() else {
        return try await send(
          .problem(
            503, "Too many pages listen to events; close some, and try again.",
            headers: [("Retry-After", "5")]), to: head, isLast: isLast, output)
      }
      defer { figures.closeEventStream() }
      try await reply.send(next)
    }
  }
}
