import Foundation
import TestSupport
import Testing

/// Tests of the volume with which a room starts, and of the one that it never passes.
@Suite struct VolumeLimitTests {
  private struct Room: Decodable {
    let volume: Double
    let volumeLimit: Double?
    let isVolumeLimitFixed: Bool?
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func volume(_ receiver: ReceiverProgram, _ arguments: [String]) throws -> Program {
    try Program(
      "tutti",
      ["volume", "--at", receiver.address, "--state-dir", folder.file("sender"), "--json"]
        + arguments)
  }

  private func set(_ receiver: ReceiverProgram, _ arguments: String...) throws -> Room {
    let program = try volume(receiver, arguments)
    try #require(try program.exitCode() == 0, "\(program.lines)")
    return try JSONDecoder().decode(Room.self, from: Data(program.lines.joined().utf8))
  }

  @Test func `a room that nobody has set begins with the start volume, each time`() throws {
    for start in ["30", "20"] {
      let receiver = try ReceiverProgram("a", in: folder, "--start-volume", start)
      let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 1), to: "tone.wav")
      // The receiver keeps what it learns of a session, and that is no volume that somebody has set.
      let player = try player([tone], at: [receiver.address], in: folder)
      #expect(try player.exitCode() == 0, "\(player.lines)")
      #expect(try set(receiver, "--no-mute").volume == Double(start))
      #expect(try receiver.program.stop() == 0)
    }
    let receiver = try ReceiverProgram("a", in: folder, "--start-volume", "20")
    #expect(try set(receiver, "40").volume == 40)
    #expect(try receiver.program.stop() == 0)
    let again = try ReceiverProgram("a", in: folder, "--start-volume", "20")
    #expect(try set(again, "--no-mute").volume == 40)
  }

  @Test func `a limit outlives the receiver, and no sender passes it`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let limited = try set(receiver, "--limit", "50")
    #expect(limited.volumeLimit == 50 && limited.volume == 50)
    #expect(try receiver.program.stop() == 0)

    let again = try ReceiverProgram("a", in: folder)
    #expect(try set(again, "100").volume == 50)
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 1.5), to: "tone.wav")
    let player = try player([tone], at: [again.address], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try again.program.stop() == 0)
    let blocks = try ToneRecording(folder.file("a.wav")).blocks()
    #expect(blocks.count > 3)
    // Half the volume is -15.3 dB.
    #expect(blocks.allSatisfy { abs($0.amplitude - Tone.amplitude * 0.171875) < 0.005 })
  }

  @Test func `a limit that the receiver's own user has fixed is changed by nobody else`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--volume-limit", "40")
    let room = try set(receiver, "90")
    #expect(room.volume == 40 && room.volumeLimit == 40 && room.isVolumeLimitFixed == true)
    let refused = try volume(receiver, ["--limit", "90"])
    #expect(try refused.exitCode() != 0)
    #expect(refused.lines.contains { $0.contains("is fixed by its receiver") })
    #expect(try receiver.program.stop() == 0)
    // Without the option the last limit stays, and can be set.
    let again = try ReceiverProgram("a", in: folder)
    #expect(try set(again, "90").volume == 40)
    #expect(try set(again, "90", "--limit", "100").volume == 90)
  }
}
