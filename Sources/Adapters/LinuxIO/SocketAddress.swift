internal import CSys
internal import Glibc

/// An IP address with a port, or a room in this process. An IPv4 address mapped into IPv6 does not occur.
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// `address` holds the four bytes, the first one in the highest bits.
  case ipv4(address: UInt32, port: UInt16)
  /// `high` and `low` hold the sixteen bytes, the first one in the highest bits. `scope` is the number of a
  /// link-local address's interface, or zero.
  case ipv6(high: UInt64, low: UInt64, port: UInt16, scope: UInt32)
  /// The number of a `HostedRoom`. No text and no packet is read as one.
  case inProcess(UInt64)

  package static func loopback(port: UInt16) -> SocketAddress {
    .ipv4(address: 0x7F00_0001, port: port)
  }
  package static func loopback6(port: UInt16) -> SocketAddress {
    .ipv6(high: 0, low: 1, port: port, scope: 0)
  }
  /// Every address of this host, IPv4 and IPv6.
  package static func any(port: UInt16) -> SocketAddress {
    .ipv6(high: 0, low: 0, port: port, scope: 0)
  }
  static func any4(port: UInt16) -> SocketAddress { .ipv4(address: 0, port: port) }

  /// Reads a numeric address: `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`; IPv6 may stand in brackets. The interface
  /// must exist. `nil` for anything else, host names included.
  package init?(host: String, port: UInt16) {
    var text = host[...]
    if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
    guard !text.utf8.contains(0) else { return nil }
    var v4 = in_addr()
    if inet_pton(AF_INET, String(text), &v4) == 1 {
      self = .ipv4(address: UInt32(bigEndian: v4.s_addr), port: port)
      return
    }
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    var v6 = [UInt8](repeating: 0, count: 16)
    guard inet_pton(AF_INET6, String(parts[0]), &v6) == 1,
      let scope = parts.count > 1 ? Self.interface(String(parts[1])) : 0
    else { return nil }
    self.init(high: Self.number(v6[..<8]), low: Self.number(v6[8...]), port: port, scope: scope)
  }

  /// An IPv4 address that is mapped into IPv6 is an IPv4 address.
  private init(high: UInt64, low: UInt64, port: UInt16, scope: UInt32) {
    self =
      high == 0 && low >> 32 == 0xFFFF
      ? .ipv4(address: UInt32(truncatingIfNeeded: low), port: port)
      : .ipv6(high: high, low: low, port: port, scope: scope)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the number of an interface that has this name, or the number that the text is; nil for 0.
  private static func interface(_ name: String) -> UInt32? {
    let known = if_nametoindex(name)
    guard known == 0 else { return known }
    guard name.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt32(name).flatMap { $0 > 0 ? $0 : nil }
  }

  package var port: UInt16 {
    switch self {
    case .ipv4(_, let port), .ipv6(_, _, let port, _): port
    case .inProcess: 0
    }
  }

  package func with(port: UInt16) -> SocketAddress {
    switch self {
    case .ipv4(let address, _): .ipv4(address: address, port: port)
    case .ipv6(let high, let low, _, let scope):
      .ipv6(high: high, low: low, port: port, scope: scope)
    case .inProcess: self
    }
  }

  /// The key by which a host's requests are counted: its address for IPv4, its network of 64 bits for IPv6, all of
  /// whose addresses a host has.
  package var network: SocketAddress {
    switch self {
    case .ipv4: with(port: 0)
    case .ipv6(let high, _, _, let scope): .ipv6(high: high, low: 0, port: 0, scope: scope)
    case .inProcess: self
    }
  }

  package var isLoopback: Bool {
    switch self {
    case .ipv4(let address, _): address >> 24 == 127
    case .ipv6(let high, let low, _, _): high == 0 && low == 1
    case .inProcess: false
    }
  }

  /// The address without its port, with the name of the interface of its scope.
  package var host: String {
    switch self {
    case .inProcess: "this program"
    case .ipv4(let address, _):
      [24, 16, 8, 0].map { "\(address >> $0 & 0xFF)" }.joined(separator: ".")
    case .ipv6(let high, let low, _, let scope): Self.text(high, low) + Self.suffix(scope)
    }
  }

  private static func text(_ high: UInt64, _ low: UInt64) -> String {
    var words = (high.bigEndian, low.bigEndian)
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(AF_INET6, &words, &text, socklen_t(text.count))
    return string(text)
  }

  private static func suffix(_ scope: UInt32) -> String {
    guard scope > 0 else { return "" }
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    return if_indextoname(scope, &name) == nil ? "%\(scope)" : "%\(string(name))"
  }

  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package var description: String {
    switch self {
    case .ipv4: "\(host):\(port)"
    case .ipv6: "[\(host)]:\(port)"
    case .inProcess: host
    }
  }
}

extension SocketAddress {
  /// Returns `nil` for anything but an IP address, such as the peer of a Unix-domain socket.
  init?(_ address: csys_address) {
    switch Int(address.family) {
    case CSYS_IPV4:
      self = .ipv4(address: UInt32(truncatingIfNeeded: address.low), port: address.port)
    case CSYS_IPV6:
      self.init(
        high: address.high, low: address.low, port: address.port, scope: address.scope)
    default: return nil
    }
  }

  var system: csys_address {
    switch self {
    case .ipv4(let address, let port):
      csys_address(
        high: 0, low: UInt64(address), scope: 0, port: port, family: UInt16(CSYS_IPV4))
    case .ipv6(let high, let low, let port, let scope):
      csys_address(high: high, low: low, scope: scope, port: port, family: UInt16(CSYS_IPV6))
    // Has no family, so every system call refuses it.
    case .inProcess: csys_address()
    }
  }

  var family: Int32 { Int32(system.family) }
}
