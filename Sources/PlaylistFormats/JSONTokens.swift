/// Reads the parts of a text in JSON, one after the other.
struct JSONTokens {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Goes on after the byte that `peek` has returned.
  mutating func skip() { place += 1 }

  /// Reads a number, `true`, `false` or `null`.
  mutating func word() throws(PlaylistFile.ParseError) -> String {
    let start = place
    while place < bytes.count, bytes[place].isWordByte { place += 1 }
    guard place > start else { throw expected("a value") }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  /// Reads a string, of which the next byte is the first quotation mark.
  mutating func string() throws(PlaylistFile.ParseError) -> String {
    var text: [UInt8] = []
    place += 1
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      try escape(&text)
    }
    throw expected("\"")
  }

  private mutating func escape(_ text: inout [UInt8]) throws(PlaylistFile.ParseError) {
    guard place < bytes.count else { throw expected("a character") }
    let byte = bytes[place]
    place += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "u"): text += String(try scalar()).utf8
    default: text.append(byte)
    }
  }

  private mutating func scalar() throws(PlaylistFile.ParseError) -> Character {
    let high = try unit()
    guard (0xD800..<0xDC00).contains(high), bytes[place...].starts(with: "\\u".utf8) else {
      return Character(Unicode.Scalar(high) ?? "\u{FFFD}")
    }
    place += 2
    let low = try unit()
    guard (0xDC00..<0xE000).contains(low) else { return "\u{FFFD}" }
    let code = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
    return Character(Unicode.Scalar(code) ?? "\u{FFFD}")
  }

  private mutating func unit() throws(PlaylistFile.ParseError) -> UInt32 {
    guard place + 4 <= bytes.count,
      let unit = UInt32(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    else { throw expected("four hexadecimal digits") }
    place += 4
    return unit
  }

  /// Skips spaces, and returns the next byte.
  mutating func peek() -> UInt8? {
    while place < bytes.count, bytes[place] <= UInt8(ascii: " ") { place += 1 }
    return place < bytes.count ? bytes[place] : nil
  }

  func expected(_ what: String) -> PlaylistFile.ParseError {
    .malformed(line: 1 + bytes[..<place].count { $0 == 10 }, expected: what)
  }
}

extension UInt8 {
  /// True for the bytes of a number, `true`, `false` or `null`.
  fileprivate var isWordByte: Bool {
    Unicode.Scalar(self).properties.isAlphabetic || (48...57).contains(self)
      || self == UInt8(ascii: "-") || self == UInt8(ascii: "+") || self == UInt8(ascii: ".")
  }
}
