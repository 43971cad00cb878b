import Foundation
import TestSupport
import Testing

/// Tests of the sound that a room keeps, from the command to the samples.
@Suite struct RoomSoundTests {
  private struct Room: Decodable {
    struct Sound: Decodable, Equatable {
      struct Band: Decodable, Equatable {
        let kind: String
        let frequency: Double
        let gain: Double
        let q: Double
      }
      let isOn: Bool
      let bands: [Band]
      let bass: Double
      let distanceM: Double
      let usesFIR: Bool
      let hasFIR: Bool
    }
    let sound: Sound?
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ receiver: ReceiverProgram, _ arguments: [String]) throws -> Program {
    try Program(
      "tutti",
      ["sound", "--at", receiver.address, "--state-dir", folder.file("sender"), "--json"]
        + arguments)
  }

  private func set(_ receiver: ReceiverProgram, _ arguments: String...) throws -> Room.Sound? {
    let program = try run(receiver, arguments)
    try #require(try program.exitCode() == 0, "\(program.lines)")
    return try JSONDecoder().decode(Room.self, from: Data(program.lines.joined().utf8)).sound
  }

  @Test func `a sound outlives the receiver, and what is left out stays`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let bands = [
      Room.Sound.Band(kind: "peak", frequency: 1_000, gain: -3, q: 1.4),
      Room.Sound.Band(kind: "highpass", frequency: 30, gain: 0, q: 0.5),
    ]
    let first = try set(receiver, "--band", "peak:1000:-3:1.4", "--band", "highpass:30:0.5")
    #expect(first?.bands == bands)
    #expect(try set(receiver, "--bass", "-2.5", "--distance", "10ms")?.distanceM == 3.43)
    #expect(try receiver.program.stop() == 0)
    let again = try ReceiverProgram("a", in: folder)
    let kept = try set(again)
    #expect(kept?.bands == bands)
    #expect(kept?.bass == -2.5)
    #expect(kept?.isOn == true)
    #expect(try set(again, "--off", "--no-bands")?.isOn == false)
    let refused = try run(again, ["--fir"])
    #expect(try refused.exitCode() != 0)
    #expect(refused.lines.contains { $0.contains("has no FIR filter") }, "\(refused.lines)")
  }

  @Test(arguments: [
    (["--band", "dip:1000:-3"], "is no band"), (["--band", "peak"], "is no band"),
    (["--band", "peak:1000:-3:1:1"], "is no band"),
    (["--band", "peak:19:-3"], "the frequency of a band is 20 to 20000 Hz"),
    (["--band", "peak:100:13"], "the gain of a band is -12 to 12 dB"),
    (["--band", "highpass:100:1:2"], "has no gain"),
    (["--bass", "11"], "bass is -10 to 10 dB"), (["--distance", "31m"], "a distance is 0 to 30"),
    (["--distance", "3"], "is no distance"), (["--crossover", "80"], "is no crossover"),
    (["--on", "--off"], "one of --on and --off"),
  ])
  func `a wrong value is refused with what is allowed`(arguments: [String], line: String) throws {
    let program = try Program(
      "tutti",
      ["sound", "Nowhere", "--state-dir", folder.file("sender")] + arguments)
    #expect(try program.exitCode() == 64)
    #expect(program.lines.contains { $0.contains(line) }, "\(program.lines)")
  }
}
