import TestSupport
import Testing

/// Tests of programs of the same user that ask too much of a player.
@Suite struct ControlSocketTests {
  @Test func `too many clients displace the first, and a request without an end is cut off`() throws
  {
    let folder = try TemporaryFolder()
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player([tone], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let path = folder.file("player") + "/control.sock"
    let clients = try (0..<33).map { _ in try #require(TestConnection(path: path)) }
    // The first client sees the end of the stream.
    #expect(clients.first?.receiveAll() == [])
    let last = try #require(clients.last)
    last.send([UInt8](repeating: 0x20, count: 2 << 20))
    #expect(last.receiveAll() == [])
    let status = try Program("tutti", ["status", "--state-dir", folder.file("player")])
    #expect(try status.exitCode() == 0, "\(status.lines)")
    #expect(try player.stop() == 0)
    withExtendedLifetime(clients) {}
  }
}
