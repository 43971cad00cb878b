import TestSupport
import Testing

/// The example of the documentation, as a program of its own that decodes in a process.
@Suite struct StreamerExampleTests {
  @Test(.timeLimit(.minutes(2)), arguments: ["a.flac", "a.mp3"])
  func `the player of sixty lines plays a file from a place on, to its end`(
    name: String
  ) throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let noise = SoftNoise(rate: 44_100, seconds: 7)
    let path = try noise.recording.write(
      to: name, name == "a.mp3" ? ["-b:a", "256k"] : [], in: folder)
    let streamer = try Program(
      "streamer-example", [path, "127.0.0.1", "\(receiver.port)", "5"],
      environment: ["XDG_STATE_HOME": folder.file("state")])
    #expect(try streamer.exitCode() == 0, "\(streamer.lines)")
    #expect(streamer.lines.first?.contains("7.0 seconds") ?? false, "\(streamer.lines)")
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    #expect(heard.rate == 44_100)
    let first = heard.sounding.startIndex
    #expect(abs(Double(heard.sounding.count) / 44_100 - 2) < 0.02)
    // The first sample may be as quiet as none.
    for later in [4_410, 60_000] {
      let lag = noise.lag(in: heard.left, at: first + later, from: 5 * 44_100 + later)
      #expect(lag.map { abs($0) <= 3 } ?? false, "\(later): \(String(describing: lag))")
    }
  }
}
