/// Limits where the address of an item may lead. Whoever names an address makes this machine connect to it, from behind
/// every firewall that protects it.
package enum SourceReach: String, Codable, CaseIterable, Hashable, Sendable {
  /// Anywhere: for addresses that the user of this machine names.
  case all
  /// Neither to this machine itself nor to addresses that belong to no host: for addresses that people of the household
  /// name.
  case network
  /// To public addresses only: for addresses that guests name.
  case internet

  /// True if the address may be used; the first of its four bytes is on top.
  package func allows(ipv4 address: UInt32) -> Bool { allows(Self.place(ipv4: address)) }

  /// True if the address may be used; the first of its sixteen bytes is on top.
  package func allows(ipv6 high: UInt64, _ low: UInt64) -> Bool {
    allows(Self.place(ipv6: high, low))
  }

  private func allows(_ place: Place) -> Bool {
    switch self {
    case .all: true
    case .network: place != .own
    case .internet: place == .outside
    }
  }

  private enum Place {
    /// This machine, its link, or no single host.
    case own
    case inside
    case outside
  }

  // RFC 6890 and its registries, RFC 6598.
  private static let own4: [(UInt32, Int)] = [
    (0, 8), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xe000_0000, 4), (0xf000_0000, 4),
  ]
  private static let inside4: [(UInt32, Int)] = [
    (0x0a00_0000, 8), (0x6440_0000, 10), (0xac10_0000, 12), (0xc000_0000, 24), (0xc000_0200, 24),
    (0xc0a8_0000, 16), (0xc612_0000, 15), (0xc633_6400, 24), (0xcb00_7100, 24),
  ]

  private static func place(ipv4 address: UInt32) -> Place {
    func isIn(_ network: (UInt32, Int)) -> Bool { (address ^ network.0) >> (32 - network.1) == 0 }
    return own4.contains(where: isIn) ? .own : inside4.contains(where: isIn) ? .inside : .outside
  }

  private static func place(ipv6 high: UInt64, _ low: UInt64) -> Place {
    // Mapped and compatible addresses (`::` and `::1` look like the latter), and both kinds of NAT64.
    if high == 0, low >> 32 == 0xffff || low >> 32 == 0 {
      return place(ipv4: UInt32(low & 0xffff_ffff))
    }
    if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return place(ipv4: UInt32(low)) }
    if high >> 16 == 0x0064_ff9b_0001 { return inner(UInt32(low & 0xffff_ffff)) }
    // 6to4, and Teredo, which writes the client's address inverted.
    if high >> 48 == 0x2002 { return place(ipv4: UInt32(high >> 16 & 0xffff_ffff)) }
    if high >> 32 == 0x2001_0000 { return place(ipv4: ~UInt32(low & 0xffff_ffff)) }
    if high >> 57 == 0xfc >> 1 || high >> 54 == 0xfec0 >> 6 || high >> 32 == 0x2001_0db8 {
      return .inside
    }
    return high >> 61 == 1 ? .outside : .own
  }

  /// Places an address behind a translator of the network's own.
  private static func inner(_ address: UInt32) -> Place {
    place(ipv4: address) == .own ? .own : .inside
  }
}
