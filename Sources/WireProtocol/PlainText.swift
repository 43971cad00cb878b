// The characters that text fields of messages and service records may contain, and those that are safe on a
// terminal.

extension Unicode.Scalar {
  /// True if it moves the cursor or worse: C0, DEL and C1.
  fileprivate var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }

  /// True if it breaks the line or changes the direction of the text around it: line and paragraph separators, and
  /// the embeddings, overrides and isolates of bidirectional text.
  fileprivate var isDisruptive: Bool {
    isControl || (0x2028...0x202e).contains(value) || (0x2066...0x2069).contains(value)
  }
}

extension String {
  /// True if there are no control characters.
  package var isPlain: Bool { !unicodeScalars.contains { $0.isControl } }

  /// A form that is safe on a terminal: characters that control it, break the line or turn the text around become
  /// spaces.
  package var shownPlainly: String {
    guard unicodeScalars.contains(where: \.isDisruptive) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.isDisruptive ? " " : $0 }))
  }

  /// Returns a form for the wire: control characters become spaces, and text beyond `limit` bytes of UTF-8 is cut
  /// off between two characters.
  package func plain(atMost limit: Int) -> String {
    guard !isPlain || utf8.count > limit else { return self }
    var result = ""
    var byteCount = 0
    for character in self {
      let clean = String(
        String.UnicodeScalarView(character.unicodeScalars.map { $0.isControl ? " " : $0 }))
      byteCount += clean.utf8.count
      guard byteCount <= limit else { break }
      result += clean
    }
    return result
  }
}
