/// A line of a script as it is served: without spaces that separate nothing. Strings, templates and regular expressions
/// stay as they are.
///
/// It relies on rules that a test checks in the files of `Sources/Page/web`: none of the three goes over the end of a line,
/// and no regular expression follows a word.
struct ScriptText {
  /// A mark ends a word and begins the next, and so does a string.
  private static let marks = Set("{}()[];,=<>?:&|!*%\"'`".utf8)
  private static let signs = Set("+-".utf8)
  /// A slash after one of these begins a regular expression; after anything else it divides.
  private static let openings = Set("(,=:[!&|?{};".utf8)

  private let line: ArraySlice<UInt8>
  private var place: Int
  private var text: [UInt8] = []

  private init(_ line: ArraySlice<UInt8>) { (self.line, place) = (line, line.startIndex) }

  static func served(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var script = ScriptText(line)
    while script.place < line.endIndex {
      script.code(untilBrace: false)
      // A brace without its other is another line's.
      script.take()
    }
    return script.text
  }

  private var next: UInt8? { place < line.endIndex ? line[place] : nil }

  private mutating func take() {
    guard let byte = next else { return }
    text.append(byte)
    place += 1
  }

  /// Stops at a brace that closes none of the code's own, or at the end.
  private mutating func code(untilBrace stops: Bool) {
    var depth = 0
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quoted(byte)
      case UInt8(ascii: "`"): template()
      case UInt8(ascii: "/") where line[place...].starts(with: "//".utf8):
        while next != nil { take() }
      case UInt8(ascii: "/") where text.last.map(Self.openings.contains) ?? true: expression()
      case UInt8(ascii: " "): spaces()
      case UInt8(ascii: "}") where stops && depth == 0: return
      default:
        depth += byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0
        take()
      }
    }
  }

  private mutating func quoted(_ quote: UInt8) {
    take()
    while let byte = next, byte != quote {
      if byte == UInt8(ascii: "\\") { take() }
      take()
    }
    take()
  }

  private mutating func template() {
    take()
    while let byte = next, byte != UInt8(ascii: "`") {
      if line[place...].starts(with: "${".utf8) {
        take()
        take()
        code(untilBrace: true)
      } else if byte == UInt8(ascii: "\\") {
        take()
      }
      take()
    }
    take()
  }

  /// A slash within brackets does not end it.
  private mutating func expression() {
    take()
    var isClass = false
    while let byte = next, byte != UInt8(ascii: "/") || isClass {
      if byte == UInt8(ascii: "\\") { take() }
      if byte == UInt8(ascii: "[") { isClass = true }
      if byte == UInt8(ascii: "]") { isClass = false }
      take()
    }
    take()
  }

  private mutating func spaces() {
    while next == UInt8(ascii: " ") { place += 1 }
    guard let before = text.last, let after = next else { return }
    let isBetweenMarks =
      Self.marks.contains(before) || Self.marks.contains(after) || after == UInt8(ascii: "/")
    // Two signs would be another one together.
    let isBySign = Self.signs.contains(before) != Self.signs.contains(after)
    if !isBetweenMarks, !isBySign { text.append(UInt8(ascii: " ")) }
  }
}
