/// Which rooms are meant: those named with `--on`, and those whose addresses are given with `--at`.
struct RoomWish {
  private static let defaultPort: UInt16 = 7770

  /// As given.
  var names: [String]
  var addresses: [(host: String, port: UInt16)]

  init(on names: String?, at addresses: [String]) throws {
    self.names = Self.names(names)
    self.addresses = try addresses.map(Self.address)
  }

  /// The parts of a list with commas.
  static func names(_ list: String?) -> [String] {
    (list ?? "").split(separator: ",").map(trimmed).filter { !$0.isEmpty }
  }

  private static func trimmed(_ text: Substring) -> String {
    let front = text.drop { $0.isWhitespace }
    guard let last = front.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(front[...last])
  }

  /// `host`, `host:port`, or `[IPv6]:port`.
  static func address(_ text: String) throws -> (host: String, port: UInt16) {
    if text.filter({ $0 == ":" }).count > 1, !text.hasPrefix("[") { return (text, defaultPort) }
    guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
      return (bare(text[...]), defaultPort)
    }
    guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      throw Failure(.usage, "--at \(text): write host:port, such as 192.168.1.20:7770")
    }
    return (bare(text[..<colon]), port)
  }

  private static func bare(_ host: Substring) -> String {
    String(host.filter { $0 != "[" && $0 != "]" })
  }
}
