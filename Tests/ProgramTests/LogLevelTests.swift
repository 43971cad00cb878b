import TestSupport
import Testing

/// A receiver writes as much into its log as it was asked to.
@Suite struct LogLevelTests {
  @Test func `a receiver logs no line for each packet, and more where it is asked to`() throws {
    let folder = try TemporaryFolder()
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 3), to: "tone.wav")
    let usual = try ReceiverProgram("usual", in: folder, "--output", "null")
    let talkative = try ReceiverProgram(
      "talkative", in: folder, "--output", "null", "--log-level", "info")
    let player = try player(
      [tone], at: [usual.address, talkative.address], in: folder, "--codec", "opus")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    for receiver in [usual, talkative] { #expect(try receiver.program.stop() == 0) }
    #expect(!talkative.program.lines(with: "device opened").isEmpty)
    #expect(usual.program.lines(with: "device opened").isEmpty)
    #expect(!usual.program.lines(with: "playing").isEmpty)
    // Each has got 150 packets.
    #expect(usual.program.lines.count < 40, "\(usual.program.lines)")
  }
}
