import Foundation
import TestSupport
import Testing

/// The C interface, by its example: a program in C that plays a file and a tone of its own in a room.
@Suite struct CInterfaceTests {
  @Test(.timeLimit(.minutes(2)))
  func `a program in C plays a file from a place on, and samples of its own`() throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let noise = SoftNoise(rate: 48_000, seconds: 6)
    let path = try noise.recording.write(to: "a.flac", [], in: folder)
    let example = try Program(
      "c-example", [path, "4", "127.0.0.1", "\(receiver.port)"],
      environment: ["XDG_STATE_HOME": folder.file("state")])
    #expect(try example.exitCode() == 0, "\(example.lines)")
    #expect(example.lines.contains { $0.hasPrefix("at 4.0 s, ") }, "\(example.lines)")
    // The item starts, and everything has sounded; then the tone.
    #expect(example.lines.contains { $0.hasPrefix("4 1 ") }, "\(example.lines)")
    #expect(example.lines.filter { $0.hasPrefix("7 0 ") }.count == 2, "\(example.lines)")
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    #expect(heard.rate == 48_000)
    // The file before the seek, the file from there on, and the tone, in this order.
    let crossings = zip(heard.sounding.suffix(48_000), heard.sounding.suffix(47_999)).count {
      $0 < 0 && $1 >= 0
    }
    #expect(abs(crossings - 440) < 5)
    #expect(heard.sounding.suffix(40_000).max().map { abs($0 - 0.25) < 0.01 } ?? false)
    // Silence between, and before it the file's last two seconds.
    let silence = heard.sounding.endIndex - 2 * 48_000 - 2_400
    let end = try #require(heard.left[..<silence].lastIndex { abs($0) > 1e-6 })
    let lag = noise.lag(in: heard.left, at: end - 48_000, from: 5 * 48_000)
    // The last samples may be as quiet as none.
    #expect(lag.map { abs($0) <= 5 } ?? false, "\(String(describing: lag))")
  }
}
