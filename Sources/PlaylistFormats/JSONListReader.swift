/// Reads a list from JSON: strings, or objects with `location`, `url`, `uri`, `path` or `file`, in an array that
/// stands by itself or in an object. Strings in the arrays of an entry, such as its tags, are not entries.
struct JSONListReader {
  /// A list nested deeper than this is refused.
  private static let depthLimit = 16
  /// Depth of the strings of an array in an object. Deeper arrays belong to an entry.
  private static let listDepth = 2
  private static let keys: Set<String> = ["location", "url", "uri", "path", "file"]

  private var tokens: JSONTokens
  private var entries: [String] = []

  init(_ text: String) { tokens = JSONTokens(Array(text.utf8)) }

  mutating func read() throws(PlaylistFile.ParseError) -> [String] {
    try value(key: nil, depth: 0)
    guard tokens.peek() == nil else { throw tokens.expected("the end") }
    return entries
  }

  private mutating func value(key: String?, depth: Int) throws(PlaylistFile.ParseError) {
    guard depth < Self.depthLimit else { throw tokens.expected("less nesting") }
    switch tokens.peek() {
    case UInt8(ascii: "["): try members(until: "]", key: key, depth: depth)
    case UInt8(ascii: "{"): try members(until: "}", key: nil, depth: depth)
    case UInt8(ascii: "\""):
      let text = try tokens.string()
      let isListed = depth > 0 && (key.map(Self.keys.contains) ?? (depth <= Self.listDepth))
      if isListed, !text.isEmpty { entries.append(text) }
      guard entries.count <= PlaylistFile.entryLimit else { throw .tooManyEntries }
    default: _ = try tokens.word()
    }
  }

  private mutating func members(
    until end: Unicode.Scalar, key: String?, depth: Int
  ) throws(PlaylistFile.ParseError) {
    tokens.skip()
    let close = UInt8(ascii: end)
    if tokens.peek() == close {
      tokens.skip()
      return
    }
    while true {
      if end == "}" {
        guard tokens.peek() == UInt8(ascii: "\"") else { throw tokens.expected("a name") }
        let name = try tokens.string()
        guard tokens.peek() == UInt8(ascii: ":") else { throw tokens.expected(":") }
        tokens.skip()
        try value(key: name, depth: depth + 1)
      } else {
        try value(key: nil, depth: depth + 1)
      }
      let next = tokens.peek()
      guard next == UInt8(ascii: ",") || next == close else { throw tokens.expected(", or \(end)") }
      tokens.skip()
      if next == close { return }
    }
  }
}
