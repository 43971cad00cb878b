/// A text of the page as it is served: without indentation, empty lines, and lines that hold only a comment; a style sheet
/// also without spaces and ends of lines beside its marks.
///
/// `ScriptText` has the rules of a script. This is no parser. It relies on rules that a test checks in the files of `Sources/Page/web`: a comment that begins a line
/// ends with it, no string goes over the end of a line, and no string of a style sheet has a mark and a space.
enum PageText {
  static func served(style bytes: [UInt8]) -> [UInt8] {
    let text = served(bytes)
    return text.indices.compactMap { index in
      let isSpace = text[index] == space || text[index] == newline
      guard isSpace, index > 0, index + 1 < text.count else { return text[index] }
      // A space before a colon has a meaning: it is between an element and one within it.
      let isIdle =
        "{};:,>/".utf8.contains(text[index - 1]) || "{}>!/".utf8.contains(text[index + 1])
      return isIdle ? nil : text[index]
    }
  }

  /// Also without idle spaces between the marks and words of a script, and without ends of lines that end nothing.
  static func served(script bytes: [UInt8]) -> [UInt8] {
    let lines = served(bytes).split(separator: newline)
    return zip(lines, lines.dropFirst() + [[]]).reduce(into: []) { text, pair in
      text += ScriptText.served(pair.0)
      if !isOpen(pair.0, before: pair.1) { text.append(newline) }
    }
  }

  /// True if `next` may follow at once: nothing ends behind a mark that opens, and a mark that closes ends what stands before it.
  /// Nothing may follow a comment.
  private static func isOpen(_ line: ArraySlice<UInt8>, before next: ArraySlice<UInt8>) -> Bool {
    guard line.firstRange(of: "//".utf8) == nil, let last = line.last, let first = next.first
    else { return false }
    return "{([,".utf8.contains(last) || "})]".utf8.contains(first)
  }

  static func served(_ bytes: [UInt8]) -> [UInt8] {
    let lines = bytes.split(separator: UInt8(ascii: "\n")).map { $0.drop { tab == $0 } }
    return Array(lines.filter { !$0.isEmpty && !isComment($0) }.joined(separator: [newline]))
      + [newline]
  }

  private static let tab = UInt8(ascii: "\t")
  private static let space = UInt8(ascii: " ")
  private static let newline = UInt8(ascii: "\n")

  private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
    line.starts(with: "//".utf8)
      || line.starts(with: "/*".utf8) && line.suffix(2).elementsEqual("*/".utf8)
  }
}
