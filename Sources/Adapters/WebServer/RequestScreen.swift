internal import NIOHTTP1

/// Decides which requests are admitted. A page of another site, shown by a browser of the household, must reach
/// nothing: neither under a name that it has made point here, nor by a form or script.
struct RequestScreen {
  private let hostNames: Set<String>
  /// The names of this machine itself.
  private let ownNames: Set<String>

  init(_ configuration: WebServerConfiguration) {
    let own = [configuration.ownName].compactMap { $0?.lowercased() }
    let names = configuration.hostNames.map { $0.lowercased() }
    ownNames = Set(["localhost"] + own + own.map { "\($0).local" })
    hostNames = ownNames.union(names + names.map { "\($0).local" })
  }

  /// Returns the request without its body, or the reason for its refusal.
  ///
  /// - Parameter address: the client's numeric address.
  func admit(_ head: HTTPRequestHead, from address: String) -> Result<WebRequest, Refusal> {
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
      isLocal: isLocal(head, host, from: address), address: address, headers: head.headers)
    return refusal(of: head, host: hosts[0]).map { .failure($0) } ?? .success(request)
  }

  /// Refuses requests that change something, unless they come from pages of this server or from programs, and as JSON.
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

  /// Compares an origin with the host. It has `https` if a proxy stands in front.
  private static func isSame(origin: String, host: String) -> Bool {
    let (origin, host) = (origin.lowercased(), host.lowercased())
    return origin == "http://\(host)" || origin == "https://\(host)"
  }

  // MARK: - This machine

  /// True if the request comes from this machine. A proxy on this machine is no reason to trust its clients. Proxies
  /// that add no header of their own use a name of the network, or speak HTTP/1.0, as nginx does unless told otherwise.
  private func isLocal(_ head: HTTPRequestHead, _ host: HostName, from address: String) -> Bool {
    LoopbackAddress.isOne(address) && head.version == .http1_1
      && (ownNames.contains(host.name) || host.isAddress && LoopbackAddress.isOne(host.name))
      && !Self.proxyHeaders.contains { head.headers.contains(name: $0) }
  }

  private static let proxyHeaders = [
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
  ]
}

/// The addresses by which a machine calls itself.
enum LoopbackAddress {
  /// - Parameter text: a numeric address; one of IPv6 may have brackets.
  static func isOne(_ text: String) -> Bool {
    let bare = text.lowercased().filter { !"[]".contains($0) }
    let mapped = bare.hasPrefix("::ffff:") ? bare.dropFirst(7) : bare[...]
    let parts = mapped.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    return bare == "::1" || isIPv4 && parts[0] == "127"
  }
}

struct Refusal: Error {
  let status: Int
  let detail: String

  init(_ status: Int, _ detail: String) { (self.status, self.detail) = (status, detail) }
}

/// The name in a Host header, without the port.
struct HostName {
  /// In lower case, without a dot at the end.
  let name: String
  /// True for a numeric address. Nobody can make a name of another site lead to one.
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
