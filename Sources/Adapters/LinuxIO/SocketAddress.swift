internal import CSys

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
    var address = csys_address()
    guard csys_address_parse(String(text), &address) == 0 else { return nil }
    address.port = port
    self.init(address)
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
    if case .inProcess = self { return "this program" }
    var address = system
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 80) { text in
      guard let start = text.baseAddress, csys_address_format(&address, start, text.count) == 0
      else { return "?" }
      return String(cString: start)
    }
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
      if address.high == 0, address.low >> 32 == 0xFFFF {
        self = .ipv4(address: UInt32(truncatingIfNeeded: address.low), port: address.port)
      } else {
        self = .ipv6(
          high: address.high, low: address.low, port: address.port, scope: address.scope)
      }
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
