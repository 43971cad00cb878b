import Glibc
import House
import Sender
import WireProtocol

/// The look of a part of a line on a terminal with colours. Raw values are SGR codes.
enum Style: String {
  case plain = ""
  case strong = "1"
  case faint = "2"
  case good = "32"
  case warning = "33"
  case bad = "31"

  /// True if the terminal shows colours and the user has not switched them off: https://no-color.org.
  static func isWanted(on descriptor: Int32) -> Bool {
    let refusal = getenv("NO_COLOR").map { String(cString: $0) } ?? ""
    return refusal.isEmpty && isatty(descriptor) == 1 && TerminalText.canMove(on: descriptor)
  }
}

/// A line for people, made of parts that look different. All text for people is printed through this type, which
/// makes text from strangers, such as titles, file names and reasons, harmless.
struct StyledText {
  private(set) var parts: [(text: String, style: Style)]

  init(_ text: String = "", _ style: Style = .plain) {
    parts = [(FileName.shown(text).shownPlainly, style)]
  }

  static func + (left: StyledText, right: StyledText) -> StyledText {
    var sum = left
    sum.parts += right.parts
    return sum
  }

  var isEmpty: Bool { parts.allSatisfy(\.text.isEmpty) }

  /// Width in columns of a terminal.
  var width: Int { parts.reduce(0) { $0 + TerminalText.width(of: $1.text) } }

  func text(isColoured: Bool) -> String {
    parts.map { text, style in
      !isColoured || style == .plain || text.isEmpty
        ? text : "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }.joined()
  }

  /// Cuts the line to this width. A line that was cut ends in an ellipsis.
  func cut(to columns: Int) -> StyledText {
    guard width > columns else { return self }
    var result = StyledText()
    var left = columns - 1
    for (text, style) in parts where left > 0 {
      let piece = TerminalText.prefix(of: text, columns: left)
      left -= TerminalText.width(of: piece)
      result.parts.append((piece, style))
      if piece.count < text.count { break }
    }
    return columns > 0 ? result + StyledText("…") : StyledText()
  }

  /// Fills the line up with spaces.
  func padded(to columns: Int, isRight: Bool = false) -> StyledText {
    let space = StyledText(String(repeating: " ", count: max(0, columns - width)))
    return isRight ? space + self : self + space
  }
}

/// Properties of terminals, and the width of text on them.
enum TerminalText {
  /// Width of the terminal in columns; nil if the descriptor is no terminal.
  static func columns(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// True if the terminal can move the cursor back.
  static func canMove(on descriptor: Int32) -> Bool {
    let kind = getenv("TERM").map { String(cString: $0) } ?? ""
    return isatty(descriptor) == 1 && !kind.isEmpty && kind != "dumb"
  }

  static func width(of text: String) -> Int { text.reduce(0) { $0 + width(of: $1) } }

  static func prefix(of text: String, columns: Int) -> String {
    var left = columns
    return String(
      text.prefix { character in
        left -= width(of: character)
        return left >= 0
      })
  }

  /// Columns of a character: two for East Asian characters and emoji, none for combining marks.
  private static func width(of character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    let isPicture =
      scalar.properties.isEmojiPresentation
      || character.unicodeScalars.contains { $0.value == 0xFE0F }
    return isPicture || wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// Approximate ranges of Unicode's East Asian Width classes W and F.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
    0x20000...0x3FFFD,
  ]
}
