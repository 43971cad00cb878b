/// A line of a client, taken apart: the name of a command, and its arguments without quotes.
package struct CommandWords: Hashable, Sendable {
  /// More than any client sends, also when it lists all tags.
  package static let argumentLimit = 64

  package let name: String
  package let arguments: [String]

  package init(_ name: String, _ arguments: [String] = []) {
    (self.name, self.arguments) = (name, arguments)
  }

  /// Takes a line without its end. Bytes that are no UTF-8 are replaced.
  package init(line: [UInt8]) throws(Ack) {
    var rest = line[...]
    let word = rest.prefix { Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "_") }
    guard let first = word.first, Self.isLetter(first) else {
      throw Ack(.unknown, "Letter expected")
    }
    rest = rest.dropFirst(word.count)
    if let next = rest.first, !Self.isSpace(next) { throw Ack(.unknown, "Invalid word character") }
    name = String(decoding: word, as: UTF8.self)
    var found: [String] = []
    while let argument = try Self.next(&rest) {
      guard found.count < Self.argumentLimit else { throw Ack(.argument, "Too many arguments") }
      found.append(argument)
    }
    arguments = found
  }

  private static func next(_ rest: inout ArraySlice<UInt8>) throws(Ack) -> String? {
    rest = rest.drop(while: isSpace)
    guard let first = rest.first else { return nil }
    if first == UInt8(ascii: "\"") { return try quoted(&rest) }
    let word = rest.prefix { !isSpace($0) }
    guard word.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") })
    else { throw Ack(.unknown, "Invalid unquoted character") }
    rest = rest.dropFirst(word.count)
    return String(decoding: word, as: UTF8.self)
  }

  private static func quoted(_ rest: inout ArraySlice<UInt8>) throws(Ack) -> String {
    rest = rest.dropFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") {
        if let next = rest.first, !isSpace(next) {
          throw Ack(.unknown, "Space expected after closing '\"'")
        }
        return String(decoding: bytes, as: UTF8.self)
      }
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard let escaped = rest.popFirst() else { break }
      bytes.append(escaped)
    }
    throw Ack(.unknown, "Missing closing '\"'")
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
  }
}
