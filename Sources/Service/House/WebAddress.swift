internal import LinuxIO

/// The addresses that can be played: of http and https, in visible ASCII, and without a password.
package struct WebAddress: Hashable, Sendable {
  package let text: String

  /// Nil for what is none.
  package init?(_ text: String) {
    guard Self.isOne(text) else { return nil }
    self.text = text
  }

  /// Completes an address that somebody has typed: where it says no scheme, `http://` is meant, as in browsers.
  package static func typed(_ text: String) -> String {
    guard !text.contains("://"), text.contains(where: { ".:".contains($0) }),
      let whole = WebAddress("http://" + text)
    else { return text }
    return whole.text
  }

  private static func isOne(_ text: String) -> Bool {
    let small = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { small.hasPrefix($0) }),
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return false }
    let host = small.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return false }
      return isIPv6(host[..<end].dropFirst()) && isPort(host[end...].dropFirst())
    }
    let name = host.prefix { $0 != ":" }
    return !name.isEmpty && name.utf8.allSatisfy { letters.contains($0) }
      && isPort(host.dropFirst(name.count))
  }

  private static let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-._".utf8)

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || (text.hasPrefix(":") && UInt16(text.dropFirst()) != nil)
  }

  private static func isIPv6(_ text: Substring) -> Bool {
    text.contains(":") && !text.contains("%") && SocketAddress(host: String(text), port: 0) != nil
  }
}
