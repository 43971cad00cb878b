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
    try screen.line { $0.hasPrefix("▶") && $0.contains("buffered  vol 100  ? for keys") }
    screen.resize(columns: columns)
    let line = try screen.line { $0.hasPrefix("▶") && !$0.contains("? for keys") }
    #expect(line.count < Int(columns))
    #expect(line.contains("3 rooms"))
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }
}
