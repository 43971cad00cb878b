/// A key and a value that a service is announced with.
package struct TextPair: Hashable, Sendable {
  package var key: String
  package var value: String

  package init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

/// A service on the network, as all its announcements together tell. Everything in it comes from the network.
package struct DiscoveredService: Hashable, Sendable {
  package var name: String
  package var hostName: String
  /// Numeric: IPv4 first, then IPv6, and last what is valid on one link only, with its interface: `fe80::1%eth0`.
  package var addresses: [String]
  package var port: UInt16
  package var text: [TextPair]
  /// Names of this host's interfaces that the service was seen on.
  package var interfaces: [String]
  /// A program on this host announces it.
  package var isLocal: Bool

  package init(
    name: String, hostName: String, addresses: [String], port: UInt16, text: [TextPair],
    interfaces: [String], isLocal: Bool = false
  ) {
    self.name = name
    self.hostName = hostName
    self.addresses = addresses
    self.port = port
    self.text = text
    self.interfaces = interfaces
    self.isLocal = isLocal
  }

  /// The value of `key`, in whatever case the key is spelled.
  package subscript(key: String) -> String? {
    text.first { $0.key.lowercased() == key.lowercased() }?.value
  }
}

/// What the discovery daemon or its library refused, in a line fit for the user.
package struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
}
