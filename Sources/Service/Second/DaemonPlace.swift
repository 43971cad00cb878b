package import House

/// Where the other daemon of a household is.
package struct DaemonPlace: Hashable, Sendable {
  package static let usualPort: UInt16 = 8771

  package var host: String
  package var port: UInt16

  package init(host: String, port: UInt16 = usualPort) { (self.host, self.port) = (host, port) }

  /// - Parameter text: a host name or an address, and a port if it is not the usual one.
  package init(_ text: String) throws(Refusal) {
    let bracket = text.hasPrefix("[") ? text.firstIndex(of: "]") : nil
    let end = bracket.map { text.index(after: $0) } ?? text.firstIndex(of: ":") ?? text.endIndex
    let host = text[..<end].filter { $0 != "[" && $0 != "]" }
    let isHost = !host.isEmpty && host.utf8.count < 256 && host.utf8.allSatisfy { $0 > 0x20 }
    let rest = text[end...]
    let port = rest.isEmpty ? Self.usualPort : UInt16(rest.dropFirst())
    guard isHost, rest.isEmpty || rest.hasPrefix(":"), let port, port > 0 else {
      throw .invalid("with is a host and perhaps a port, such as music.local or 192.168.1.20:8771")
    }
    self.init(host: host, port: port)
  }

  package var text: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == Self.usualPort ? host : "\(host):\(port)"
  }
}
