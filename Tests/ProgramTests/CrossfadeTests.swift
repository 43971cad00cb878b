import Foundation
import TestSupport
import Testing

/// Tests that songs fade into each other in a real receiver.
@Suite struct CrossfadeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Plays a tone of one and a half seconds and one of two, and returns the recording.
  private func record(_ arguments: String...) throws -> ToneRecording {
    let files = [
      try folder.write(Tone.wave(rate: 48_000, seconds: 1.5), to: "1.wav"),
      try folder.write(Tone.wave(rate: 48_000, seconds: 2), to: "2.wav"),
    ]
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try Program(
      "tutti",
      ["play"] + files + ["--at", receiver.address, "--state-dir", folder.file("player")]
        + arguments)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    return try ToneRecording(folder.file("a.wav"))
  }

  /// Both tones have the same phase, so that their amplitudes add up.
  @Test func `a song fades into the next over the time that was asked for`() throws {
    let recording = try record("--crossfade", "0.5", "--codec", "flac")
    #expect(abs(recording.seconds - 3) < 0.5)
    let blocks = recording.blocks()
    // A recording that begins late lacks some blocks at its beginning.
    let end = recording.seconds
    for (index, block) in blocks.enumerated() {
      let middle = 3 - end + 0.15 + 0.1 * Double(index)
      let progress = min(max((middle - 1) / 0.5, 0), 1)
      let angle = progress * .pi / 2
      let ideal = Tone.amplitude * (cos(angle) + sin(angle))
      #expect(abs(block.amplitude - ideal) < 0.02, "block \(index) at \(middle) s")
      #expect(abs(block.phase - blocks[0].phase) < 0.008, "block \(index)")
    }
    #expect(blocks.count > 20)
  }

  @Test func `without it songs follow each other without a gap`() throws {
    expectOneTone(try record("--crossfade", "0", "--codec", "flac"), seconds: 3.5)
  }

  @Test func `a crossfade is a number of seconds, and shown`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let player = try Program(
      "tutti",
      [
        "play", try folder.write(Tone.wave(rate: 48_000, seconds: 60), to: "long.wav"), "--at",
        receiver.address, "--state-dir", folder.file("player"),
      ])
    try receiver.program.line(with: "playing")
    func effects(_ words: String...) throws -> (Int32, [String]) {
      let program = try Program(
        "tutti", ["effects"] + words + ["--state-dir", folder.file("player")])
      return (try program.exitCode(), program.lines)
    }
    #expect(try effects("--crossfade", "6") == (0, ["crossfade 6 s"]))
    #expect(try effects() == (0, ["crossfade 6 s"]))
    for wrong in ["13", "-1", "nan", "six"] {
      #expect(try effects("--crossfade=\(wrong)").0 == 64)
    }
    #expect(try effects("--crossfade", "0") == (0, ["no effects"]))
    #expect(try player.stop() == 0)
  }
}
