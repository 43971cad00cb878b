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
}
