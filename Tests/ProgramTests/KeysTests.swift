import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of `tutti play` on a terminal: the progress line, and the keys.
@Suite struct KeysTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The position in seconds at the beginning of a progress line.
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
    try screen.line { $0.hasPrefix("▶ ") && $0.contains(" / 3:20  a in sync") }
    screen.press("]")
    try screen.line { $0.contains("×1.05  a in sync") }
    screen.press("[[}}{")
    try screen.line { $0.contains("×0.95 pitch +1  a in sync") }
    screen.press("0")
    try screen.line { $0.hasPrefix("▶ ") && $0.contains(" / 3:20  a in sync") }
    // Hold a key down; the terminal may cut its bytes anywhere.
    for _ in 0..<12 { for part in ["\u{1B}", "[C"] { screen.press(part) } }
    try screen.line { (120...150).contains(Self.position($0) ?? 0) }
    for _ in 0..<6 { screen.press("\u{1B}[D") }
    try screen.line { (60...100).contains(Self.position($0) ?? 0) }
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }

  @Test func `keys are explained, and what they set is shown`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "tone.wav")
    let screen = try Screen(
      "tutti",
      ["play", tone, "--at", receiver.address, "--state-dir", folder.file("player")])
    try screen.line { $0.contains("a in sync") && $0.contains("vol 100") }
    screen.press("?")
    try screen.line { $0.hasPrefix("space     pauses") }
    try screen.line { $0.hasPrefix("q         stops") }
    screen.press("--")
    try screen.line { $0.contains("volume 90") }
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }

  @Test func `space pauses and plays on, and volumes end at 100 and come back`() throws {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder, "--output", "null") }
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 200, channels: 1), to: "tone.wav")
    let state = ["--state-dir", folder.file("player")]
    let screen = try Screen(
      "tutti", ["play", tone] + rooms.flatMap { ["--at", $0.address] } + state)
    try screen.line { $0.hasPrefix("▶ ") && $0.contains("a, b in sync") }
    screen.press(" ")
    try screen.line { $0.hasPrefix("‖ ") && $0.contains("a, b") }
    screen.press(" ")
    try screen.line { $0.hasPrefix("▶ ") && $0.contains("a, b in sync") }
    screen.press("+")
    try screen.line { $0.contains("volume 100") }
    #expect(try Program("tutti", ["volume", "50", "--on", "b"] + state).exitCode() == 0)
    screen.press("+")
    try screen.line { $0.contains("volume a 100, b 60") }
    screen.press("-")
    try screen.line { $0.contains("volume a 100, b 50") }
    screen.press("\u{1B}[B\u{1B}[A")
    try screen.line { $0.contains("volume a 100, b 50") }
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }

  /// A shell that controls jobs, as in a terminal's window. Its script runs `$TUTTI` with these arguments.
  private func shell(_ script: String, _ arguments: [String]) throws -> Screen {
    try Screen("/bin/bash", ["-mc", script, "bash"] + arguments, hasSession: true)
  }

  @Test func `Ctrl-C stops the music, and leaves the terminal as it was`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "tone.wav")
    let shell = try shell(
      #""$TUTTI" "$@"; printf "ended with %d\n" $?; stty -a; read"#,
      ["play", tone, "--at", receiver.address, "--state-dir", folder.file("player")])
    defer { shell.hangUp() }
    try shell.line { $0.contains("a in sync") }
    shell.press("\u{3}")
    try shell.line { $0.contains("ended with 0") }
    try shell.line { $0.contains(" icanon ") && !$0.contains("-icanon") }
    try receiver.program.line(with: "finished")
  }

  @Test func `a terminal's signals do not reach the processes that decode`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "tone.wav")
    let player = try player([tone], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let decoders = try confinedChildren(of: player.process.processIdentifier)
    #expect(!decoders.isEmpty && decoders.allSatisfy { getpgid($0) == $0 })
    #expect(try player.stop() == 0)
  }

  @Test func `Ctrl-Z pauses the rooms, and in the foreground again music and keys go on`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "tone.wav")
    let shell = try shell(
      #"""
      "$TUTTI" "$@"; printf "left with %d\n" $?; stty -a; stty sane; read
      fg; printf "ended with %d\n" $?; read
      """#, ["play", tone, "--at", receiver.address, "--state-dir", folder.file("player")])
    defer { shell.hangUp() }
    try shell.line { $0.contains("a in sync") }
    shell.press("\u{1A}")
    try shell.line { $0.contains("left with 148") }
    try shell.line { $0.contains(" icanon ") && !$0.contains("-icanon") }
    try receiver.program.line(with: "paused")
    shell.press("\n")
    try shell.line { $0.hasPrefix("▶ ") && $0.contains("a in sync") }
    shell.press("]")
    try shell.line { $0.contains("×1.05") }
    shell.press("q")
    try shell.line { $0.contains("ended with 0") }
    try receiver.program.line(with: "finished")
  }

  @Test(arguments: [30, 40]) func `a line of progress is never wider than the window`(
    columns: UInt16
  ) throws {
    let rooms = try ["Living room with a long name", "Bath", "Kitchen"].map {
      try ReceiverProgram($0, in: folder, "--output", "null")
    }
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "tone.wav")
    let screen = try Screen(
      "tutti",
      ["play", tone] + rooms.flatMap { ["--at", $0.address] }
        + ["--state-dir", folder.file("player")], columns: 200)
    try screen.line {
      $0.hasPrefix("▶ ") && $0.contains("3 rooms in sync")
        && $0.contains("buffered  vol 100  ? for keys")
    }
    screen.resize(columns: columns)
    let line = try screen.line { $0.hasPrefix("▶") && !$0.contains("? for keys") }
    #expect(line.count < Int(columns))
    #expect(line.contains("3 rooms"))
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }
}
