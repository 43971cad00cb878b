import Foundation
import TestSupport
import Testing

/// Tests of a receiver whose libavcodec turns out to be useless.
@Suite struct DecoderTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a library that does not load costs nothing but the codec`() throws {
    // The file is at the expected place, but is no library.
    for name in ["libavcodec.so.59", "libavcodec.so.60", "libavcodec.so.61", "libavcodec.so.62"] {
      _ = try folder.write(Array("no library".utf8), to: name)
    }
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 2), to: "tone.wav")
    let lame = Process()
    lame.executableURL = URL(filePath: "/usr/bin/lame")
    lame.arguments = ["--quiet", "-b", "320", tone, folder.file("tone.mp3")]
    try lame.run()
    lame.waitUntilExit()
    let able = try ReceiverProgram("able", in: folder)
    let broken = try Program(
      "tutti-receiver",
      ["--name", "broken", "--port", "0", "--no-mdns", "--state-dir", folder.file("state-broken")]
        + ["--start-volume", "100"]
        + ["--output", "wav:" + folder.file("broken.wav")],
      environment: ["LD_LIBRARY_PATH": folder.path])
    let port = try #require(
      try broken.line(with: "listening: broken on port ").split(separator: " ").last)
    let player = try player(
      [folder.file("tone.mp3")], at: [able.address, "127.0.0.1:\(port)"], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(player.lines(with: "broken does not decode MP3").count == 1, "\(player.lines)")
    let said = try broken.line(with: "a codec cannot be decoded")
    #expect(said.contains("libavcodec"))
    #expect(broken.lines(with: "packet corrupt").isEmpty)
    #expect(try able.program.stop() == 0)
    #expect(try broken.stop() == 0)
    for name in ["able", "broken"] {
      let recording = try ToneRecording(folder.file(name + ".wav"))
      // MP3 and Opus add some silence of their own.
      #expect((1.9...2.1).contains(recording.seconds), "\(name): \(recording.seconds)")
      #expect(recording.blocks().allSatisfy { abs($0.amplitude - Tone.amplitude) < 0.1 }, "\(name)")
    }
  }
}
