import Foundation
import TestSupport
import Testing

/// Tests that audio arrives complete, in each codec and from each kind of source.
@Suite struct PlayTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Plays to a receiver, and returns its recording.
  private func record(
    _ files: [String], _ arguments: String..., input: String = "/dev/null"
  ) throws -> ToneRecording {
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try Program(
      "tutti",
      ["play"] + files + ["--at", receiver.address, "--state-dir", folder.file("player")]
        + arguments, input: input)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    return try ToneRecording(folder.file("a.wav"))
  }

  @Test(arguments: [44_100, 96_000, 192_000], ["pcm", "flac"])
  func `what is lossless arrives as it was`(rate: Int, codec: String) throws {
    let tone = try folder.write(Tone.wave(rate: rate, seconds: 1.2), to: "tone.wav")
    let recording = try record([tone], "--codec", codec)
    #expect(recording.rate == rate)
    expectOneTone(recording, seconds: 1.2)
  }

  @Test(arguments: ["2.5", "10", "60"])
  func `Opus arrives whole, whatever the length of its packets`(milliseconds: String) throws {
    let tone = try folder.write(Tone.wave(rate: 44_100, seconds: 1.2), to: "tone.wav")
    let recording = try record([tone], "--codec", "opus", "--packet-length", milliseconds)
    #expect(recording.rate == 48_000)
    expectOneTone(recording, seconds: 1.2, flaw: 1e-2, tolerance: 0.05)
  }

  @Test func `files of several rates and channels follow each other without a gap`() throws {
    let files = [
      try folder.write(Tone.wave(rate: 44_100, seconds: 1), to: "1.wav"),
      try folder.write(Tone.wave(rate: 96_000, seconds: 0.5, channels: 1), to: "2.wav"),
      try folder.write(Tone.wave(rate: 48_000, seconds: 0.5), to: "3.wav"),
    ]
    let recording = try record(files, "--codec", "flac")
    #expect(recording.rate == 44_100)
    expectOneTone(recording, seconds: 2, flaw: 1e-3)
  }

  @Test func `standard input is played as WAV and as raw samples`() throws {
    let wave = try folder.write(Tone.wave(rate: 48_000, seconds: 1), to: "tone.wav")
    expectOneTone(try record(["-"], input: wave), seconds: 1)
    let raw = try folder.write(Tone.samples(rate: 32_000, frames: 32_000, channels: 1), to: "raw")
    let recording = try record(["-"], "--raw", "32000:16:1", input: raw)
    #expect(recording.rate == 32_000)
    expectOneTone(recording, seconds: 1)
  }

  @Test func `programs are told the position as often as they ask`() throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 2), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let arguments = ["play", tone, "--at", receiver.address, "--state-dir", folder.file("player")]
    let player = try Program("tutti", arguments + ["--json", "--position-every", "0.05"])
    #expect(try player.exitCode() == 0, "\(player.lines)")
    let events = try player.lines.compactMap { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
    let places = events.filter { $0["event"] as? String == "position" }
      .compactMap { $0["positionS"] as? Double }
    #expect(places.count > 2)
    #expect(places == places.sorted())
    #expect(places.allSatisfy { (0...2).contains($0) })
    // The revisions have no gap, so that a reader can notice a missed event.
    let revisions = events.filter { event in
      !["position", "status", "waiting"].contains { $0 == event["event"] as? String }
    }.map { $0["revision"] as? Int }
    #expect(revisions == (1...max(1, revisions.count)).map { $0 })
    let wrong = try Program("tutti", arguments + ["--position-every", "0.05"])
    #expect(try wrong.exitCode() == 64)
    #expect(wrong.lines.count == 1, "\(wrong.lines)")
  }
}
