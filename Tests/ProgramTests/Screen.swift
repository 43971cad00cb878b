import Foundation
import Glibc
import TestSupport
import Testing

/// A program on a terminal of its own.
final class Screen {
  struct Silence: Error, CustomStringConvertible {
    let description: String
  }

  /// The programs are built beside the tests.
  static let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  private let process = Process()
  private var terminal: Int32
  private var text = ""

  /// - Parameter hasSession: true to make the terminal that of the program's session, so that it sends signals, and a
  ///   shell on it controls jobs.
  init(
    _ name: String, _ arguments: [String], columns: UInt16 = 200, hasSession: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    var (terminal, side): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&terminal, &side, nil, nil, &size) == 0)
    for descriptor in [terminal, side] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    self.terminal = terminal
    let handle = FileHandle(fileDescriptor: side, closeOnDealloc: true)
    let program = name.hasPrefix("/") ? name : Self.programs.appending(path: name).path
    process.executableURL = URL(filePath: hasSession ? "/usr/bin/setsid" : program)
    process.arguments = (hasSession ? ["--ctty", "--wait", program] : []) + arguments
    process.environment = ProcessInfo.processInfo.environment.merging([
      "TERM": "xterm", "TUTTI": Self.programs.appending(path: "tutti").path,
    ]) { $1 }.merging(environment) { $1 }
    (process.standardInput, process.standardOutput) = (handle, handle)
    process.standardError = handle
    try process.runUnblocked()
    // The program's end closes the terminal only if nobody else has it open.
    try handle.close()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    hangUp()
  }

  func press(_ keys: String) {
    text = ""
    var bytes = Array(keys.utf8)
    _ = write(terminal, &bytes, bytes.count)
  }

  /// Closes the terminal, like somebody who closes the window.
  func hangUp() {
    if terminal >= 0 { close(terminal) }
    terminal = -1
  }

  func resize(columns: UInt16) {
    text = ""
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    // The terminal belongs to no session here, so send the signal ourselves.
    kill(process.processIdentifier, SIGWINCH)
  }

  /// Waits for a line, as long as there is output. Each line is checked once. Lines that came with the matching one are
  /// kept for the next wait, until a key is pressed. Colours are removed.
  @discardableResult
  func line(_ isIt: (Substring) -> Bool) throws -> String {
    var seen: [Substring] = []
    repeat {
      while let end = text.firstIndex(where: { $0.isNewline }) {
        let shown = Self.withoutColours(text[..<end])
        text = String(text[text.index(after: end)...])
        seen.append(shown)
        if isIt(shown) { return String(shown) }
      }
    } while show()
    throw Silence(description: "never shown, but: \(seen.suffix(30))")
  }

  private func show() -> Bool {
    guard let more = read() else { return false }
    text += more
    return true
  }

  private static func withoutColours(_ line: Substring) -> Substring {
    line.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "")
  }

  func exitCode() throws -> Int32 {
    while read() != nil {}
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Returns nil after a minute without output, and at the end.
  private func read() -> String? {
    guard terminal >= 0 else { return nil }
    var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 60_000) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(terminal, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }
}
