/// A key and a value of a service's announcement.
package struct TextPair: Hashable, Sendable {
  package var key: String
  package var value: String

  package init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

/// A service on the network, joined from all its announcements. All its values come from the network.
package struct DiscoveredService: Hashable, Sendable {
  package var name: String
  package var hostName: String
  /// Numeric addresses: IPv4 first, then IPv6, and last those valid on one link only, with the interface:
  /// `fe80::1%eth0`.
  package var addresses: [String]
  package var port: UInt16
  package var text: [TextPair]
  /// Names of this host's interfaces on which the service was seen.
  package var interfaces: [String]
  /// True if a program on this host announces it.
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

  /// Returns the value of `key`, ignoring the key's case.
  package subscript(key: String) -> String? {
    text.first { $0.key.lowercased() == key.lowercased() }?.value
  }
}

/// A refusal of the discovery daemon or its library, in one line for the user.
package struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
}
