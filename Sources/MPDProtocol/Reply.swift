/// The lines of an answer, which end in `OK` or in a refusal.
package struct Reply: Sendable {
  /// More is refused, as a client would wait for it for long, and this machine keep it so long.
  package static let limit = 8 << 20

  package private(set) var bytes: [UInt8] = []
  package private(set) var isFull = false

  package init() {}

  package mutating func pair(_ key: String, _ value: String) {
    add(key)
    add(": ")
    add(Self.plain(value))
    add("\n")
  }

  package mutating func pair(_ key: String, _ value: some BinaryInteger) {
    add("\(key): \(value)\n")
  }

  /// With three decimals.
  package mutating func pair(_ key: String, seconds: Double) {
    pair(key, Self.decimals(seconds))
  }

  package mutating func add(_ text: String) {
    isFull = isFull || bytes.count > Self.limit
    if !isFull { bytes += text.utf8 }
  }

  /// Adds a part of a picture.
  package mutating func add(binary part: [UInt8]) {
    pair("binary", part.count)
    bytes += part
    bytes.append(0x0a)
  }

  package mutating func add(_ other: Reply) {
    isFull = isFull || other.isFull || bytes.count + other.bytes.count > Self.limit
    if !isFull { bytes += other.bytes }
  }

  /// Refuses an answer that is too long.
  package func check() throws(Ack) {
    if isFull { throw Ack(.system, "This is too much for one answer; ask for a part of it.") }
  }

  /// Forgets all after this many bytes, as a command that fails leaves nothing behind.
  package mutating func cut(to count: Int) {
    bytes.removeLast(max(0, bytes.count - count))
    isFull = false
  }

  /// The text in one line: a title must not look like a line of its own.
  static func plain(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { plain.append(scalar.value < 0x20 ? " " : scalar) }
    return String(plain)
  }

  package static func decimals(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 1e12 else { return "0.000" }
    let thousandths = Int((max(0, seconds) * 1000).rounded())
    let rest = String(thousandths % 1000)
    return "\(thousandths / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}
