internal import Glibc

/// The address under which others on the network reach this machine.
package enum OwnAddress {
  /// Numeric; nil without a network.
  package static var towardsNetwork: String? { routed ?? configured }

  /// The address from which this machine would send to other networks. Sends nothing.
  private static var routed: String? {
    let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return nil }
    let file = FileDescriptor(number)
    var address = sockaddr_in()
    // The target is in TEST-NET-1, which belongs to nobody.
    (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(9).bigEndian)
    address.sin_addr.s_addr = UInt32(0xc000_0201).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isFound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file.number, $0, size) == 0 && getsockname(file.number, $0, &size) == 0
      }
    }
    return isFound ? text(address) : nil
  }

  private static var configured: String? { all.lazy.compactMap(text).first }

  /// Most interfaces whose networks are asked something.
  static let interfaceLimit = 16

  /// To bind sockets to: what such a socket sends to a group leaves by its own interface, whatever the routes are.
  package static var ofInterfaces: [SocketAddress] {
    all.prefix(interfaceLimit).map {
      .ipv4(address: UInt32(bigEndian: $0.sin_addr.s_addr), port: 0)
    }
  }

  /// The IPv4 addresses of interfaces that are up and not the loopback.
  private static var all: [sockaddr_in] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    let entries = sequence(first: list) { $0?.pointee.ifa_next }.compactMap { $0?.pointee }
    return entries.compactMap { entry in
      guard entry.ifa_flags & UInt32(IFF_UP | IFF_LOOPBACK) == UInt32(IFF_UP),
        let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET)
      else { return nil }
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
    }
  }

  private static func text(_ address: sockaddr_in) -> String? {
    var host = address.sin_addr
    var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
    guard inet_ntop(AF_INET, &host, &text, socklen_t(text.count)) != nil else { return nil }
    let found = String(
      decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return found == "0.0.0.0" || found.hasPrefix("127.") ? nil : found
  }
}
