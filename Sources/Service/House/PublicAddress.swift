import Sender

/// Addresses that lead out of the household's network, as far as their text tells: a name can lead anywhere.
enum PublicAddress {
  /// - Parameter uri: one that `WebAddress` has let through.
  static func isOne(_ uri: String) -> Bool {
    guard let scheme = uri.place(of: "://") else { return false }
    let host = uri[scheme.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
    if host.hasPrefix("[") { return isPublicIPv6(host.dropFirst().prefix { $0 != "]" }) }
    let name = host.prefix { $0 != ":" }
    let parts = name.split(separator: ".")
    guard let last = parts.last, name.utf8.count <= 253 else { return false }
    // Names that end with a number are addresses in one of the many ways of writing them.
    guard last.first?.isNumber == true else { return isPublicName(parts) }
    let bytes = name.split(separator: ".", omittingEmptySubsequences: false).map(Self.byte)
    return bytes.count == 4 && isPublicIPv4(bytes.compactMap { $0 })
  }

  /// Nil for what is no number, or one with zeros before it, which some take for octal.
  private static func byte(_ text: Substring) -> UInt8? {
    text.count > 1 && text.hasPrefix("0") ? nil : UInt8(text)
  }

  private static func isPublicName(_ parts: [Substring]) -> Bool {
    let suffix = parts.suffix(2).joined(separator: ".")
    return parts.count > 1 && !localEnds.contains(String(parts[parts.count - 1]))
      && suffix != "home.arpa"
  }

  /// The ends of names that routers and computers at home give each other: RFC 6761, RFC 6762, RFC 8375, and habits.
  private static let localEnds: Set<String> = [
    "local", "localhost", "localdomain", "internal", "intranet", "lan", "home", "corp", "private",
    "box", "fritz", "test", "invalid", "example", "onion",
  ]

  /// Returns true if RFC 6890 does not set the address aside.
  private static func isPublicIPv4(_ bytes: [UInt8]) -> Bool {
    guard bytes.count == 4 else { return false }
    return switch (bytes[0], bytes[1], bytes[2]) {
    case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
    case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _): false
    case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _): false
    case (198, 51, 100), (203, 0, 113): false
    default: true
    }
  }

  /// Only 2000::/3 is given out; its parts that carry an address of IPv4, and those for documents, are left out.
  private static func isPublicIPv6(_ text: Substring) -> Bool {
    let groups = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let first = groups.first.flatMap({ UInt16($0, radix: 16) }) else { return false }
    let second = groups.dropFirst().first.flatMap { UInt16($0, radix: 16) } ?? 0
    return (0x2000...0x3fff).contains(first) && first != 0x2002
      && !(first == 0x2001 && (second < 0x200 || second == 0xdb8))
  }
}
