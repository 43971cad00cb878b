import Foundation
import Glibc

/// One line to standard error.
func printError(_ line: String) {
  FileHandle.standardError.write(Data((line + "\n").utf8))
}

/// One line to standard output, at once.
func printLine(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func printJSON(_ value: some Encodable) {
  FileHandle.standardOutput.write(Data(JSONLine.encode(value)))
}

/// The terminal, where there is one: keys without Return, and one line that is written over and over.
final class Terminal {
  private let original: termios?
  private var lineIsOpen = false

  /// Whether keys can be read and lines written over.
  let isInteractive: Bool

  init() {
    isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    var settings = termios()
    guard isInteractive, tcgetattr(STDIN_FILENO, &settings) == 0 else {
      original = nil
      return
    }
    original = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  /// Puts the terminal back as it was.
  func restore() {
    closeLine()
    guard var original else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &original)
  }

  var columns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Replaces the line that is written over.
  func show(_ line: String) {
    let cut = String(line.prefix(columns - 1))
    FileHandle.standardOutput.write(Data(("\r\u{1B}[K" + cut).utf8))
    lineIsOpen = true
  }

  /// Prints a line that stays.
  func print(_ line: String) {
    if lineIsOpen { FileHandle.standardOutput.write(Data("\r\u{1B}[K".utf8)) }
    lineIsOpen = false
    printLine(line)
  }

  private func closeLine() {
    if lineIsOpen { printLine("") }
    lineIsOpen = false
  }

  /// Keys pressed since the last call.
  func keys() -> [Key] {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    return count > 0 ? Key.parse(buffer.prefix(count)) : []
  }
}

enum Key: Hashable {
  case character(Character)
  case left
  case right
  case up
  case down

  static func parse(_ bytes: ArraySlice<UInt8>) -> [Key] {
    var keys: [Key] = []
    var rest = bytes
    while let first = rest.popFirst() {
      if first == 0x1B, rest.first == UInt8(ascii: "[") {
        rest = rest.dropFirst()
        switch rest.popFirst() {
        case UInt8(ascii: "A"): keys.append(.up)
        case UInt8(ascii: "B"): keys.append(.down)
        case UInt8(ascii: "C"): keys.append(.right)
        case UInt8(ascii: "D"): keys.append(.left)
        default: break
        }
      } else {
        keys.append(.character(Character(UnicodeScalar(first))))
      }
    }
    return keys
  }
}
