/// Reads a list from JSON: strings, or objects with `location`, `url`, `uri`, `path` or `file`, in an array that
/// stands by itself or in an object. Strings in the arrays of an entry, such as its tags, are not entries.
struct JSONListReader {
  /// A list nested deeper than this is refused.
  private static let depthLimit = 16
  /// Depth of the strings of an array in an object. Deeper arrays belong to an entry.
  private static let listDepth = 2
  private static let keys: Set<String> = ["location", "url", "uri", "path", "file"]

  private let bytes: [UInt8]
  private var place = 0
  private var entries: [String] = []

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func read() throws(PlaylistFile.ParseError) -> [String] {
    try value(key: nil, depth: 0)
    guard peek() == nil else { throw expected("the end") }
    return entries
  }

  private mutating func value(key: String?, depth: Int) throws(PlaylistFile.ParseError) {
    guard depth < Self.depthLimit else { throw expected("less nesting") }
    switch peek() {
    case UInt8(ascii: "["): try members(until: "]", key: key, depth: depth)
    case UInt8(ascii: "{"): try members(until: "}", key: nil, depth: depth)
    case UInt8(ascii: "\""):
      let text = try string()
      let isListed = depth > 0 && (key.map(Self.keys.contains) ?? (depth <= Self.listDepth))
      if isListed, !text.isEmpty { entries.append(text) }
      guard entries.count <= PlaylistFile.entryLimit else { throw .tooManyEntries }
    default: try word()
    }
  }

  private mutating func members(
    until end: Unicode.Scalar, key: String?, depth: Int
  ) throws(PlaylistFile.ParseError) {
    place += 1
    let close = UInt8(ascii: end)
    if peek() == close {
      place += 1
      return
    }
    while true {
      if end == "}" {
        guard peek() == UInt8(ascii: "\"") else { throw expected("a name") }
        let name = try string()
        guard peek() == UInt8(ascii: ":") else { throw expected(":") }
        place += 1
        try value(key: name, depth: depth + 1)
      } else {
        try value(key: nil, depth: depth + 1)
      }
      let next = peek()
      guard next == UInt8(ascii: ",") || next == close else { throw expected(", or \(end)") }
      place += 1
      if next == close { return }
    }
  }

  private mutating func word() throws(PlaylistFile.ParseError) {
    let start = place
    while place < bytes.count, bytes[place].isWordByte { place += 1 }
    guard place > start else { throw expected("a value") }
  }

  private mutating func string() throws(PlaylistFile.ParseError) -> String {
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
  private mutating func peek() -> UInt8? {
    while place < bytes.count, bytes[place] <= UInt8(ascii: " ") { place += 1 }
    return place < bytes.count ? bytes[place] : nil
  }

  private func expected(_ what: String) -> PlaylistFile.ParseError {
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
