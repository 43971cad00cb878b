internal import NIOCore
internal import NIOHTTP1

/// A complete request that `RequestScreen` has admitted.
package struct WebRequest: Sendable {
  /// In capitals; `HEAD` is answered as `GET` without its body.
  package var method: String
  /// The parts between the slashes, decoded. `/` is one empty part.
  package var path: [String]
  /// Decoded, in order of arrival.
  package var query: [(name: String, value: String)]
  package var body: [UInt8] = []
  /// True if the request comes from this machine itself, and not through a proxy.
  package var isLocal: Bool
  /// Numeric address of the client, or of the proxy in front of it.
  package var address: String
  let headers: HTTPHeaders

  /// Returns the last value of that name.
  package func query(_ name: String) -> String? { query.last { $0.name == name }?.value }

  /// Returns the values of all headers of that name, joined with commas.
  package func header(_ name: String) -> String? {
    let values = headers[name]
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Returns the values of all cookies of that name: those of another path may come first.
  package func cookies(_ name: String) -> [String] {
    let start = "\(name)="
    let pairs: [Substring] = headers["cookie"].flatMap { $0.split(separator: ";") }
    return pairs.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(start) }
      .map { String($0.dropFirst(start.utf8.count)) }
  }

  /// The tokens of `Authorization: Bearer` headers.
  package var bearers: [String] {
    headers["authorization"].filter { $0.lowercased().hasPrefix("bearer ") }
      .map { String($0.dropFirst(7)) }
  }
}

/// The request target, which follows the method in a request's first line, in its parts.
struct RequestTarget {
  let path: [String]
  let query: [(name: String, value: String)]

  /// Returns nil if the text is no path of this server, or is wrongly encoded.
  init?(_ text: String) {
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path: [String] = []
    for part in halves[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let part = Self.decode(part) else { return nil }
      path.append(part)
    }
    var query: [(name: String, value: String)] = []
    for pair in halves.dropFirst().flatMap({ $0.split(separator: "&") }) {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(sides[0], isQuery: true),
        let value = Self.decode(sides.count > 1 ? sides[1] : "", isQuery: true)
      else { return nil }
      query.append((name, value))
    }
    (self.path, self.query) = (path, query)
  }

  /// Decodes percent signs. Returns nil if no hexadecimal number follows a `%`, or if the result is
  /// not UTF-8 or contains a NUL.
  private static func decode(_ text: Substring, isQuery: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where isQuery: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
