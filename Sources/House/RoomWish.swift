/// The rooms that a command means, by name and by address.
package struct RoomWish: Sendable {
  private static let defaultPort: UInt16 = 7770

  /// Names as given. If there are no names and no addresses, the wish means every receiver on this
  /// network.
  package var names: [String]
  package var addresses: [(host: String, port: UInt16)]

  package init(names: [String], addresses: [(host: String, port: UInt16)] = []) {
    self.names = names
    self.addresses = addresses
  }

  /// - Parameters:
  ///   - names: separated by commas.
  ///   - addresses: each in the form that `address` parses.
  package init(on names: String?, at addresses: [String]) throws(Refusal) {
    var parsed: [(host: String, port: UInt16)] = []
    for text in addresses { parsed.append(try Self.address(text)) }
    self.init(names: Self.names(names), addresses: parsed)
  }

  package var isForAll: Bool { names.isEmpty && addresses.isEmpty }

  /// Splits a comma-separated list.
  package static func names(_ list: String?) -> [String] {
    (list ?? "").split(separator: ",").map(trimmed).filter { !$0.isEmpty }
  }

  private static func trimmed(_ text: Substring) -> String {
    let front = text.drop { $0.isWhitespace }
    guard let last = front.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(front[...last])
  }

  /// Names of hosts have 253 characters at most.
  private static let addressLimit = 300

  /// Parses `host`, `host:port`, or `[IPv6]:port`.
  package static func address(_ text: String) throws(Refusal) -> (host: String, port: UInt16) {
    let parsed = try parse(text)
    guard text.utf8.count <= addressLimit, !parsed.host.isEmpty,
      parsed.host.unicodeScalars.allSatisfy(isShown)
    else { throw .invalid("this is no address of a room; write host:port") }
    return parsed
  }

  private static func isShown(_ character: Unicode.Scalar) -> Bool {
    switch character.properties.generalCategory {
    case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator, .privateUse,
      .unassigned:
      false
    default: true
    }
  }

  private static func parse(_ text: String) throws(Refusal) -> (host: String, port: UInt16) {
    if text.filter({ $0 == ":" }).count > 1, !text.hasPrefix("[") { return (text, defaultPort) }
    guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
      return (bare(text[...]), defaultPort)
    }
    guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      throw .invalid("--at \(text): write host:port, such as 192.168.1.20:7770")
    }
    return (bare(text[..<colon]), port)
  }

  private static func bare(_ host: Substring) -> String {
    String(host.filter { $0 != "[" && $0 != "]" })
  }

  /// Formats an address in the form that `address` parses.
  package static func text(host: String, port: UInt16) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

/// Rooms of a player that may be killed. With them, another program can find and silence the rooms.
package struct LeftRooms: Codable, Hashable, Sendable {
  package var names: Set<String> = []
  package var addresses: [String] = []

  package init() {}

  package var isEmpty: Bool { names.isEmpty && addresses.isEmpty }
}
