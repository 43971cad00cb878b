import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// `tutti play` on a terminal: what the line of progress shows, and what keys do.
@Suite struct KeysTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Seconds at the front of a line of progress.
  private static func position(_ line: Substring) -> Int? {
    let parts = line.dropFirst(2).prefix { $0.isNumber || $0 == ":" }.split(separator: ":")
    let numbers = parts.compactMap { Int($0) }
    return numbers.count == 2 ? numbers[0] * 60 + numbers[1] : nil
  }

  @Test func `keys change speed and pitch, and seeks that follow each other add up`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let tone = try folder.write(Tone.wave(rate: 32_000, seconds: 200, channels: 1), to: "tone.wav")
    let screen = try Screen(
      "tutti",
      ["play", tone, "--at", receiver.address, "--state-dir", folder.file("player")])
    try screen.line { $0.hasPrefix("▶ ") && $0.contains(" / 3:20  a ") }
    screen.press("]")
    try screen.line { $0.contains("×1.05  a ") }
    screen.press("[[}}{")
    try screen.line { $0.contains("×0.95 pitch +1  a ") }
    screen.press("0")
    try screen.line { $0.hasPrefix("▶ ") && $0.contains(" / 3:20  a ") }
    // A key that is held; the terminal may cut its bytes anywhere.
    for _ in 0..<12 { for part in ["\u{1B}", "[C"] { screen.press(part) } }
    try screen.line { (120...150).contains(Self.position($0) ?? 0) }
    for _ in 0..<6 { screen.press("\u{1B}[D") }
    try screen.line { (60...100).contains(Self.position($0) ?? 0) }
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }
}

/// A program on a terminal of its own.
private final class Screen {
  struct Silence: Error, CustomStringConvertible {
    let description: String
  }

  private let process = Process()
  private let terminal: Int32
  private var text = ""

  init(_ name: String, _ arguments: [String]) throws {
    var (terminal, side): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 24, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&terminal, &side, nil, nil, &size) == 0)
    for descriptor in [terminal, side] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    self.terminal = terminal
    let handle = FileHandle(fileDescriptor: side, closeOnDealloc: true)
    let name = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: name)
    process.executableURL = name
    process.arguments = arguments
    (process.standardInput, process.standardOutput) = (handle, handle)
    process.standardError = handle
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    close(terminal)
  }

  func press(_ keys: String) {
    var bytes = Array(keys.utf8)
    _ = write(terminal, &bytes, bytes.count)
  }

  /// Waits for a line that is shown from now on, for as long as anything is.
  func line(_ isIt: (Substring) -> Bool) throws {
    var seen: [Substring] = []
    while let more = read() {
      text += more
      let lines = text.split { $0.isNewline || $0 == "\r" }
      for line in lines.dropLast() {
        let shown = line.hasPrefix("\u{1B}[K") ? line.dropFirst(3) : line
        seen.append(shown)
        if isIt(shown) {
          text = ""
          return
        }
      }
      text = String(lines.last ?? "")
    }
    throw Silence(description: "never shown, but: \(seen.suffix(30))")
  }

  func exitCode() throws -> Int32 {
    while read() != nil {}
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Nil once nothing has come for a minute, and at the end.
  private func read() -> String? {
    var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 60_000) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(terminal, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }
}
