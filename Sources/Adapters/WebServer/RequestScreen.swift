internal import NIOHTTP1

/// Who may ask at all. A page of another site that a browser of the household shows must reach nothing: neither under a
/// name that it has made point here, nor by a form or script.
struct RequestScreen {
  private let hostNames: Set<String>
  private let token: String?

  init(_ configuration: WebServerConfiguration) {
    let names = configuration.hostNames.map { $0.lowercased() }
    hostNames = Set(["localhost"] + names + names.map { "\($0).local" })
    token = configuration.token
  }

  /// The request without its body, or the reason why it is refused.
  func admit(_ head: HTTPRequestHead) -> Result<WebRequest, Refusal> {
    guard head.uri.utf8.count <= WebServerConfiguration.Limits.head / 2 else {
      return .failure(Refusal(414, "The address is too long."))
    }
    guard let target = RequestTarget(head.uri) else {
      return .failure(Refusal(400, "The path must begin with / and be encoded correctly."))
    }
    let hosts = head.headers["host"]
    guard hosts.count == 1, let host = HostName(hosts[0]) else {
      return .failure(Refusal(400, "The request needs exactly one Host header with a host in it."))
    }
    guard host.isAddress || hostNames.contains(host.name) else {
      return .failure(
        Refusal(
          421,
          "This server is not called \(host.name); use its address, or add the name to the hosts in its configuration."
        ))
    }
    let request = WebRequest(
      method: head.method.rawValue, path: target.path, query: target.query,
      isAuthorized: isAuthorized(head.headers), headers: head.headers)
    return refusal(of: head, host: hosts[0]).map { .failure($0) } ?? .success(request)
  }

  /// Requests that change something: only from pages of this server and from programs, and only as JSON.
  private func refusal(of head: HTTPRequestHead, host: String) -> Refusal? {
    if head.method == .GET || head.method == .HEAD { return nil }
    let site = head.headers.first(name: "sec-fetch-site") ?? "same-origin"
    guard ["same-origin", "none"].contains(site.lowercased()),
      head.headers["origin"].allSatisfy({ Self.isSame(origin: $0, host: host) })
    else { return Refusal(403, "Pages of other sites cannot steer this player.") }
    let hasBody =
      head.headers.contains(name: "transfer-encoding")
      || head.headers.first(name: "content-length").map { $0 != "0" } ?? false
    let type = head.headers.first(name: "content-type")
    if hasBody || type != nil, !Self.isJSON(type ?? "") {
      return Refusal(415, "The body must be JSON, with Content-Type: application/json.")
    }
    return nil
  }

  private static func isJSON(_ type: String) -> Bool {
    let kind = type.split(separator: ";", omittingEmptySubsequences: false)[0]
    return kind.lowercased().filter { $0 != " " } == "application/json"
  }

  /// `https` where a proxy stands in front.
  private static func isSame(origin: String, host: String) -> Bool {
    let (origin, host) = (origin.lowercased(), host.lowercased())
    return origin == "http://\(host)" || origin == "https://\(host)"
  }

  private func isAuthorized(_ headers: HTTPHeaders) -> Bool {
    guard let token else { return true }
    let cookies = headers["cookie"].flatMap { $0.split(separator: ";") }
      .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("\(WebToken.cookie)=") }
      .map { $0.dropFirst(WebToken.cookie.utf8.count + 1) }
    let bearers = headers["authorization"].filter { $0.lowercased().hasPrefix("bearer ") }
      .map { $0.dropFirst(7) }
    return (cookies + bearers).contains { WebToken.isEqual($0, token) }
  }
}

struct Refusal: Error {
  let status: Int
  let detail: String

  init(_ status: Int, _ detail: String) { (self.status, self.detail) = (status, detail) }
}

/// The name in a Host header, without the port.
struct HostName {
  /// In small letters, without a dot at the end.
  let name: String
  /// Nobody can make a name of another site lead to an address in figures.
  let isAddress: Bool

  init?(_ header: String) {
    guard header.utf8.count <= 255 + 6 else { return nil }
    let text = header.lowercased()
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]"), Self.isPort(text[text.index(after: end)...]) else {
        return nil
      }
      name = String(text[...end])
      let inside = text[..<end].dropFirst().prefix { $0 != "%" }
      isAddress = inside.contains(":") && inside.allSatisfy { $0.isHexDigit || ":.".contains($0) }
      if !isAddress { return nil }
      return
    }
    let end = text.firstIndex(of: ":") ?? text.endIndex
    let host = text[..<end].hasSuffix(".") ? text[..<end].dropLast() : text[..<end]
    guard !host.isEmpty, Self.isPort(text[end...]),
      host.utf8.allSatisfy({ Self.letters.contains($0) })
    else { return nil }
    name = String(host)
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  private static let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-._".utf8)

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || (text.hasPrefix(":") && UInt16(text.dropFirst()) != nil)
  }
}
