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
  /// The beginning of a key of several bytes, of which the rest has not come yet.
  private var partialKey: ArraySlice<UInt8> = []

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
    guard count > 0 else { return [] }
    partialKey += buffer.prefix(count)
    return Key.parse(&partialKey)
  }
}

enum Key: Hashable {
  case character(Character)
  case left
  case right
  case up
  case down

  /// Takes whole keys from the front of `bytes`. What terminals send for keys that mean nothing here is passed over.
  static func parse(_ bytes: inout ArraySlice<UInt8>) -> [Key] {
    var keys: [Key] = []
    while let first = bytes.first {
      guard first == 0x1B else {
        keys.append(.character(Character(UnicodeScalar(first))))
        bytes = bytes.dropFirst()
        continue
      }
      guard let introducer = bytes.dropFirst().first else { break }
      guard introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
        bytes = bytes.dropFirst()
        continue
      }
      // Parameters, such as those of keys that are held with shift, then one byte that says which key.
      let rest = bytes.dropFirst(2)
      guard let end = rest.firstIndex(where: { (0x40...0x7E).contains($0) }) else {
        // No key is that long.
        if rest.count > 16 { bytes = [] }
        break
      }
      if let key = arrow(rest[end]) { keys.append(key) }
      bytes = rest[(end + 1)...]
    }
    return keys
  }

  private static func arrow(_ byte: UInt8) -> Key? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    default: nil
    }
  }
}
