import Foundation
import TestSupport
import Testing

/// Tests of the player's message and exit code when it cannot play.
@Suite struct FailureTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func play(_ files: [String], _ arguments: String...) throws -> Program {
    try Program(
      "tutti", ["play"] + files + arguments + ["--state-dir", folder.file("player")])
  }

  @Test func `a file that cannot be played ends with its reason and 66`() throws {
    let empty = try folder.write([], to: "empty.flac")
    let text = try folder.write("This is no music.\n".utf8, to: "text.mp3")
    let music = folder.file("music")
    try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
    let receiver = try ReceiverProgram("a", in: folder)
    for file in ["/no/such/song.flac", empty, text, music] {
      let player = try play([file], "--at", receiver.address)
      #expect(try player.exitCode() == 66, "\(file)")
      let said = player.lines(with: "tutti: ")
      #expect(said.count == 1, "\(player.lines)")
      // The message comes once, and not a second time as that of a list whose only item was
      // skipped.
      #expect(player.lines(with: file).count == 1, "\(player.lines)")
      #expect(said.first?.contains(file) == true, "\(player.lines)")
    }
    #expect(receiver.program.process.isRunning)
  }

  @Test func `a file that cannot be read is left out, and the others play`() throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 1), to: "tone.wav")
    let text = try folder.write("This is no music.\n".utf8, to: "text.mp3")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try play([text, tone], "--at", receiver.address)
    #expect(try player.exitCode() == 0)
    #expect(player.lines(with: "skipped: ").count == 1)
    _ = try receiver.program.stop()
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 1)
  }

  @Test func `a file that is cut short says so, and nothing is called slow`() throws {
    let tone = try folder.write(Tone.wave(rate: 44_100, seconds: 20), to: "tone.wav")
    let whole = folder.file("whole.flac")
    try run("ffmpeg", ["-v", "error", "-y", "-i", tone, whole])
    let bytes = try Data(contentsOf: URL(filePath: whole))
    let cut = try folder.write(bytes.prefix(bytes.count / 10), to: "cut.flac")
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let player = try play([cut], "--at", receiver.address)
    #expect(try player.exitCode() == 65, "\(player.lines)")
    let said = player.lines(with: "incomplete: played to where the file ends, at 0:0")
    #expect(said.count == 1 && said[0].hasSuffix(" of 0:20"), "\(player.lines)")
    #expect(player.lines(with: "slow").isEmpty, "\(player.lines)")
  }

  @Test func `a cut file that is sought beyond its end says so, and nothing is called slow`() throws
  {
    let tone = try folder.write(Tone.wave(rate: 44_100, seconds: 60), to: "tone.wav")
    let whole = folder.file("whole.flac")
    try run("ffmpeg", ["-v", "error", "-y", "-i", tone, whole])
    let bytes = try Data(contentsOf: URL(filePath: whole))
    let cut = try folder.write(bytes.prefix(bytes.count / 2), to: "cut.flac")
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let player = try play([cut], "--at", receiver.address)
    try receiver.program.line(with: "playing")
    let seek = try Program("tutti", ["seek", "50", "--state-dir", folder.file("player")])
    #expect(try seek.exitCode() == 0, "\(seek.lines)")
    #expect(try player.exitCode() == 65, "\(player.lines)")
    let said = player.lines(with: "incomplete: played to where the file ends, at 0:")
    // The player also read to that end ahead of the seek.
    #expect(!said.isEmpty && Set(said).count == 1, "\(player.lines)")
    #expect(said[0].hasSuffix(" of 1:00") && !said[0].contains("0:50"), "\(player.lines)")
    for word in ["slow", "fast"] {
      #expect(player.lines(with: word).isEmpty, "\(player.lines)")
    }
  }

  @Test func `a busy room is named with who plays there`() throws {
    let long = try folder.write(Tone.wave(rate: 8000, seconds: 60), to: "long.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let first = try player([long], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let second = try player([long], at: [receiver.address], in: folder, state: "other")
    #expect(try second.exitCode() == 69)
    #expect(second.lines(with: "busy: ").count == 2)
    #expect(second.lines.last?.hasPrefix("tutti: no room could be reached: ") == true)
    #expect(try first.stop() == 0)
  }

  @Test func `a second player of one state directory is refused`() throws {
    let long = try folder.write(Tone.wave(rate: 8000, seconds: 60), to: "long.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let first = try player([long], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let second = try player([long], at: [receiver.address], in: folder)
    #expect(try second.exitCode() == 69)
    #expect(
      second.lines == [
        "tutti: another player is running with this state directory; stop it with: tutti stop"
      ])
    #expect(try first.stop() == 0)
  }
}
