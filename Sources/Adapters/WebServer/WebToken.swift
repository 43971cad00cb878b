/// A secret that each request must contain, if it is set.
package enum WebToken {
  package static let cookie = "tutti-token"

  /// Allowed numbers of characters. They are visible ASCII, because the token stands in a header
  /// and in a cookie.
  package static let lengths = 8...256

  package static func isUsable(_ text: String) -> Bool {
    lengths.contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#"",;\"#.utf8.contains($0) }
  }

  /// Compares in a time that depends only on the length of the offered token.
  package static func isEqual(_ offered: some StringProtocol, _ token: String) -> Bool {
    let (offered, token) = ([UInt8](offered.utf8), [UInt8](token.utf8))
    guard !token.isEmpty else { return false }
    var difference = UInt8(offered.count == token.count ? 0 : 1)
    for (place, byte) in offered.enumerated() { difference |= byte ^ token[place % token.count] }
    return difference == 0
  }
}
