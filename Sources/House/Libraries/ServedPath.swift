/// Paths that a server of a library tells of itself. It is asked at its own host and port alone: of an address only the path
/// counts, and one elsewhere is none.
extension ListenAddress {
  /// Bytes of such a path with its query.
  package static let pathLimit = 256

  private static let legal = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?@!$&'()*+,;=%".utf8)

  /// Returns the address of what the server has at a path; nil for what is no path.
  package func origin(at path: String) -> String? {
    guard path.hasPrefix("/"), path.utf8.count <= Self.pathLimit,
      path.utf8.allSatisfy(Self.legal.contains)
    else { return nil }
    return "\(isSecure ? "https" : "http")://\(authority)\(path)"
  }

  /// Returns the path of what a reference of the server leads to; nil if that is elsewhere, or nothing.
  package func path(of reference: String) -> String? {
    let path: String
    if let mark = reference.firstRange(of: "://") {
      let rest = reference[mark.upperBound...]
      let authority = rest.prefix { $0 != "/" && $0 != "?" }
      guard let other = ListenAddress("\(reference[..<mark.upperBound])\(authority)"),
        isSame(other)
      else { return nil }
      path = String(rest.dropFirst(authority.count))
    } else if reference.hasPrefix("/") {
      path = reference.hasPrefix("//") ? "" : reference
    } else {
      let folder = self.path.lastIndex(of: "/").map { self.path[...$0] } ?? "/"
      path = reference.isEmpty ? "" : folder + reference
    }
    guard !path.utf8.contains(where: { $0 < 32 || $0 == 127 }) else { return nil }
    let encoded = path.utf8.reduce(into: "") { text, byte in
      let letter = String(UnicodeScalar(byte))
      text += Self.legal.contains(byte) ? letter : "%" + QueryText.hexadecimal([byte])
    }
    return origin(at: encoded) == nil ? nil : encoded
  }

  /// True for the same host and port. A server knows its number, but seldom the name by which its user calls it.
  private func isSame(_ other: Self) -> Bool {
    func isNumber(_ host: String) -> Bool {
      host.contains(":") || host.utf8.allSatisfy("0123456789.".utf8.contains)
    }
    return isSecure == other.isSecure && port == other.port
      && (host.lowercased() == other.host.lowercased() || !isNumber(host) && isNumber(other.host))
  }
}
