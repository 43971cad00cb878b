import Clock
import Glibc
import House
import LinuxIO

/// The terminal of a running player, if there is one: it reads keys without Return, and writes one line over and
/// over. Writing never waits and never fails: see `OutputWriter`. While another program has the terminal, as after
/// `tutti play … &`, it reads no keys and does not show that line.
final class Terminal {
  private let writer: OutputWriter
  private let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
  private let isColoured = Style.isWanted(on: STDOUT_FILENO)
  private let canMove = TerminalText.canMove(on: STDOUT_FILENO)
  /// The terminal's settings before the keys were taken; nil while they are not taken.
  private var original: termios?
  /// Width in columns of the line that is written over; nil if there is none.
  private var openLine: Int?
  /// The first bytes of a key whose other bytes have not arrived yet.
  private var partialKey: ArraySlice<UInt8> = []
  /// False once standard input has ended.
  private(set) var hasKeys: Bool

  init(_ writer: OutputWriter) {
    self.writer = writer
    hasKeys = isTerminal
    // Without this, the kernel would stop a program in the background that reads or sets its terminal.
    for number in [SIGTTIN, SIGTTOU, SIGPIPE] { signal(number, SIG_IGN) }
  }

  /// True if a line can be written over: the terminal can move the cursor, and this program has the terminal.
  var isInteractive: Bool { isTerminal && canMove && isForeground }

  /// True if another program has the terminal. Lines that are written over and over would only disturb it.
  var isInBackground: Bool { isTerminal && !isForeground }

  /// True if this program has the terminal, and not the shell that started it.
  private var isForeground: Bool {
    guard isTerminal else { return false }
    // A terminal without a session is shared with nobody.
    let group = tcgetpgrp(STDIN_FILENO)
    return group < 0 || group == getpgrp()
  }

  /// Takes the keys if this program has the terminal, and forgets the saved settings if it has lost it. Returns true
  /// while the keys are taken.
  func takeKeys() -> Bool {
    guard hasKeys, isForeground else {
      // The shell has already set its terminal itself.
      original = nil
      return false
    }
    guard original == nil else { return true }
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return false }
    original = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    return tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0
  }

  /// Gives the terminal back while the program stops, as after Ctrl-Z. Returns when the program goes on.
  func suspend() {
    closeLine()
    writer.waitUntilIdle(within: .milliseconds(300))
    giveBack()
    ProcessSignal.suspend.takeEffect()
  }

  /// Takes the keys again after the program was stopped: the shell has used the terminal meanwhile, with its own settings.
  func resume() {
    var settings = termios()
    guard original != nil, tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
    if settings.c_lflag & tcflag_t(ICANON) != 0 { original = nil }
  }

  /// Restores the terminal's settings, after waiting briefly for pending output.
  func restore() {
    closeLine()
    writer.finish(within: .milliseconds(300))
    giveBack()
  }

  private func giveBack() {
    guard var original, isForeground else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &original)
  }

  var columns: Int { TerminalText.columns(of: STDOUT_FILENO) ?? 80 }

  /// Replaces the line that is written over. Does nothing while earlier output is still pending.
  func show(_ line: StyledText) {
    guard isInteractive, writer.isIdle else { return }
    let cut = line.cut(to: columns - 1)
    post(erasure + cut.text(isColoured: isColoured))
    openLine = cut.width
  }

  /// Prints a line that stays.
  func print(_ line: StyledText) {
    let shown = isInteractive ? line.cut(to: max(columns - 1, 1)) : line
    post(erasure + shown.text(isColoured: isColoured) + "\n")
    openLine = nil
  }

  func print(_ line: String, _ style: Style = .plain) { print(StyledText(line, style)) }

  /// The escape codes that erase the open line. If the window has become narrower, that line covers several rows.
  private var erasure: String {
    guard let openLine, canMove else { return "" }
    let above = max(0, openLine - 1) / max(columns, 1)
    return above > 0 ? "\r\u{1B}[\(above)A\u{1B}[J" : "\r\u{1B}[K"
  }

  private func closeLine() {
    if openLine != nil { post("\n") }
    openLine = nil
  }

  private func post(_ text: String) { writer.post(Array(text.utf8)) }

  /// Returns the keys pressed since the last call.
  func keys() -> [Key] {
    guard isForeground else { return [] }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else {
      if count == 0 || (errno != EINTR && errno != EAGAIN) { hasKeys = false }
      return []
    }
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

  /// Takes complete keys from the front of `bytes`. Skips escape sequences of keys that have no function here.
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
      // Parameters, such as those of keys held with shift, followed by one byte that identifies the key.
      let rest = bytes.dropFirst(2)
      guard let end = rest.firstIndex(where: { (0x40...0x7E).contains($0) }) else {
        // No key has a sequence that long.
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
