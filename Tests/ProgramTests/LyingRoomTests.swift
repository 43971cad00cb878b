import Foundation
import TestSupport
import Testing

/// Tests of rooms that lie to the sender or break the protocol, beside an honest one:
/// Tests/Support/lying-receiver.py.
@Suite struct LyingRoomTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Several receivers in one program.
  private struct Liars {
    let program: Program
    let addresses: [String]

    init(_ faults: [String]) throws {
      let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Support/lying-receiver.py").standardized
      program = try Program("/usr/bin/python3", [script.path] + faults)
      try program.line(with: "all listen")
      addresses = program.lines(with: " listens on port ").compactMap {
        $0.split(separator: " ").last.map { "127.0.0.1:\($0)" }
      }
      try #require(addresses.count == faults.count)
    }
  }

  /// Plays to the liars and to an honest room, which must not notice.
  private func play(toRoomsThat faults: [String]) throws -> (liars: Program, player: Program) {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 4), to: "tone.wav")
    let liars = try Liars(faults)
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player(
      [tone], at: [receiver.address] + liars.addresses, in: folder, "--codec", "pcm")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 4)
    return (liars.program, player)
  }

  @Test func `a room that breaks the protocol is told how, and disturbs nobody`() throws {
    let faults = [
      "unknown-state", "short-status", "endless-horizon", "negative-bytes", "endless-credit",
      "no-generation", "an-anchor", "no-length", "long-length",
    ]
    let (liars, player) = try play(toRoomsThat: faults)
    for fault in faults {
      let told = liars.lines(with: "\(fault) was told goodbye 3: ")
      #expect(!told.isEmpty, "\(fault)")
      #expect(told.allSatisfy { !$0.hasSuffix(": ") }, "\(told)")
      // The player retries, each time after a longer pause.
      #expect(told.count < 12, "\(told)")
      #expect(
        !player.lines(with: "\(fault): gone (it broke the protocol: ").isEmpty, "\(player.lines)")
    }
  }

  @Test func `a room that does not say the truth disturbs nobody`() throws {
    let faults = [
      "generous", "stingy", "late-horizon", "flapping", "wrong-cuts", "unknown-types",
    ]
    let (liars, _) = try play(toRoomsThat: faults)
    #expect(liars.lines(with: "goodbye 3").isEmpty, "\(liars.lines)")
  }
}
