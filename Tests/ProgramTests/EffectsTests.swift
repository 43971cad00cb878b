import Foundation
import TestSupport
import Testing

/// Tests of effects on the command line, and of machines without them.
@Suite struct EffectsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func tone(seconds: Double) throws -> String {
    try folder.write(Tone.wave(rate: 48_000, seconds: seconds), to: "tone.wav")
  }

  @Test(arguments: [["--filter", "volume=0.5"], ["--filter=volume=0.5"]])
  func `whoever starts a player may give it a chain of FFmpeg's filters`(option: [String]) throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try Program(
      "tutti",
      [
        "play", try tone(seconds: 1.2), "--at", receiver.address, "--state-dir",
        folder.file("player"),
      ]
        + option)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    let blocks = try ToneRecording(folder.file("a.wav")).blocks()
    #expect(blocks.count > 3)
    #expect(blocks.allSatisfy { abs($0.amplitude - Tone.amplitude / 2) < 0.01 })
  }

  @Test(arguments: [
    ["--filter", "nosuchfilter"], ["--bass", "99"], ["--bass", "nan"], ["--limiter", "-1;2"],
    ["--equalizer", "1000"], ["--equalizer", "1000:3:1:7"], ["--lowpass", "1e400"],
  ])
  func `what there is not is refused before anything plays`(option: [String]) throws {
    let player = try Program(
      "tutti",
      ["play", try tone(seconds: 1), "--at", "127.0.0.1:1", "--state-dir", folder.file("player")]
        + option)
    #expect(try player.exitCode() == 64, "\(player.lines)")
    #expect(player.lines.count == 1)
  }

  @Test func `without libavfilter music plays on without its effects, and a line says so`() throws {
    try folder.write([], to: "lib/libavfilter.so.\(Self.major)")
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let player = try Program(
      "tutti",
      [
        "play", try tone(seconds: 60), "--at", receiver.address, "--state-dir",
        folder.file("player"),
      ], environment: ["LD_LIBRARY_PATH": folder.file("lib")])
    try receiver.program.line(with: "playing")
    let effects = try Program(
      "tutti", ["effects", "--bass", "3", "--state-dir", folder.file("player")])
    #expect(try effects.exitCode() == 0)
    #expect(effects.lines == ["bass 3:100"])
    let line = try player.line(with: "plays without effects")
    #expect(line.contains("apt install libavfilter"))
    let status = try Program("tutti", ["status", "--state-dir", folder.file("player")])
    #expect(try status.exitCode() == 0)
    #expect(status.lines.contains { $0.contains("tone.wav") })
    #expect(try player.stop() == 0)
  }

  /// Major version of the installed library.
  private static let major: String = {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: "/usr/lib")) ?? []
    let found = names.compactMap { $0.firstMatch(of: /libavfilter\.so\.([0-9]+)$/)?.1 }
    return found.first.map(String.init) ?? ""
  }()
}
