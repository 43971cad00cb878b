/// A service to which a household tells what it hears.
package struct ListenService: Hashable, Sendable {
  package enum Kind: String, Sendable {
    case listenBrainz = "listenbrainz"
    case lastFM = "lastfm"
    /// The server of a library, which hears of its own songs alone.
    case subsonic

    /// Those that a section of the configuration may name.
    package static let named = [Self.listenBrainz, .lastFM]

    /// Most listens of one request.
    package var batchLimit: Int { self == .subsonic ? 1 : ListenPacing.batchLimit }
  }

  /// As its user calls it.
  package var name: String
  package var kind: Kind
  package var address: ListenAddress
  /// The path of the file with its secrets.
  package var tokenFile: String
  /// Names of the groups and rooms whose music counts; none is all.
  package var groups: [String] = []
  /// Nil for services of all music.
  package private(set) var server: MediaServer?

  package init(_ server: MediaServer) {
    self.init(
      name: server.location, kind: .subsonic, address: server.address, tokenFile: server.secretFile)
    self.server = server
  }

  package init(name: String, kind: Kind, address: ListenAddress, tokenFile: String) {
    (self.name, self.kind, self.address, self.tokenFile) = (name, kind, address, tokenFile)
  }

  /// The address of requests.
  package var target: ListenAddress {
    switch kind {
    case .listenBrainz: address.appending("1/submit-listens")
    case .lastFM, .subsonic: address
    }
  }

  /// True if a listen is for this service.
  package func takes(_ listen: Listen) -> Bool { server == nil || server?.name == listen.library }

  /// True if this service is told what a group hears.
  package func hears(_ group: HouseState.Group, _ rooms: [HouseState.Room]) -> Bool {
    guard !groups.isEmpty else { return true }
    let wanted = groups.map { $0.lowercased() }
    let names = rooms.filter { group.roomIds.contains($0.id) }.map(\.name) + [group.name]
    return names.contains { wanted.contains($0.lowercased()) }
  }
}

/// An address of http or https in its parts, none of which can be read as more than it is.
package struct ListenAddress: Hashable, Sendable {
  package let isSecure: Bool
  /// A name or an address; that of IPv6 without brackets.
  package let host: String
  package let port: UInt16
  /// From the first slash on.
  package let path: String
  /// Longest address, in bytes.
  package static let limit = 512

  package static let listenBrainz = Self(host: "api.listenbrainz.org", path: "/")
  package static let lastFM = Self(host: "ws.audioscrobbler.com", path: "/2.0/")

  private init(host: String, path: String) {
    (isSecure, self.host, port, self.path) = (true, host, 443, path)
  }

  private static let letters = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._".utf8)
  private static let pathLetters = letters.union("/~%".utf8)

  /// Returns nil for what is no such address, or has a password, a question or a fragment.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.limit, let mark = text.firstRange(of: "://") else { return nil }
    switch text[..<mark.lowerBound].lowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: return nil
    }
    let rest = text[mark.upperBound...]
    var authority = rest.prefix { $0 != "/" }
    let path = rest.dropFirst(authority.count)
    guard path.utf8.allSatisfy(Self.pathLetters.contains) else { return nil }
    self.path = path.isEmpty ? "/" : String(path)
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      let host = authority[authority.index(after: authority.startIndex)..<end]
      guard host.contains(":"),
        host.utf8.allSatisfy("0123456789abcdefABCDEF:.".utf8.contains)
      else { return nil }
      self.host = String(host)
      authority = authority[authority.index(after: end)...]
    } else {
      let host = authority.prefix { $0 != ":" }
      guard !host.isEmpty, !host.hasPrefix("-"), host.utf8.allSatisfy(Self.letters.contains)
      else { return nil }
      self.host = String(host)
      authority = authority.dropFirst(host.count)
    }
    guard !authority.isEmpty else {
      port = isSecure ? 443 : 80
      return
    }
    let digits = authority.dropFirst()
    guard authority.hasPrefix(":"), digits.utf8.allSatisfy("0123456789".utf8.contains),
      let port = UInt16(digits), port > 0
    else { return nil }
    self.port = port
  }

  private init(_ other: Self, path: String) {
    (isSecure, host, port) = (other.isSecure, other.host, other.port)
    self.path = path
  }

  func appending(_ name: String) -> Self {
    Self(self, path: path + (path.hasSuffix("/") ? "" : "/") + name)
  }

  /// The host and its port, as a header names them.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  package var text: String { "\(isSecure ? "https" : "http")://\(authority)\(path)" }
}
