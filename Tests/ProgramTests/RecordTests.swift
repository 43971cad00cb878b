import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon records what happens to it, and the simulation plays that.
@Suite struct RecordTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var lines: [String] {
    get throws {
      try String(contentsOfFile: folder.file("house.txt"), encoding: .utf8).split(separator: "\n")
        .map(String.init)
    }
  }

  @Test func `a house is recorded over a pause, a dead receiver and a dead daemon, and replayed`()
    throws
  {
    let record = ["--record", folder.file("house.txt")]
    var receiver = try ReceiverProgram("Bath", in: folder, "--output", "null")
    let (port, address) = ("\(receiver.port)", receiver.address)
    let daemon = try Daemon(in: folder, arguments: record)
    _ = try daemon.run("play", try tone("one"), try tone("other"), "--at", address)
    try receiver.program.line(with: "playing")
    _ = try daemon.run("pause")
    _ = try daemon.run("resume")
    kill(receiver.program.process.processIdentifier, SIGKILL)
    receiver.program.process.waitUntilExit()
    try daemon.program.line(with: "gone")
    receiver = try ReceiverProgram("Bath", in: folder, "--output", "null", "--port", port)
    try receiver.program.line(with: "playing")
    try daemon.wait { _ in try lines.contains { $0.contains("receiver of room 0 is killed") } }
    daemon.kill()
    let again = try Daemon(in: folder, arguments: record)
    try again.wait { try $0.status()["state"] as? String == "playing" }
    _ = try again.run("seek", "5")
    #expect(try again.stop() == 0)

    let kept = try lines
    let said = kept.filter { $0.contains(" s: ") }
      .map { String($0.drop { $0 != ":" }.dropFirst(2)).replacing(/[0-9.]+ s$/, with: "T s") }
    let expected = [
      "somebody stops", "room 0 joins", "somebody goes to another item", "somebody pauses",
      "somebody resumes", "the receiver of room 0 is killed, and starts again after T s",
      "the sender is killed, and starts again after T s", "somebody seeks to T s", "running",
    ]
    #expect(expected.filter { !said.contains($0) }.isEmpty, "\(kept)")
    #expect(kept.filter { $0.hasPrefix("room ") }.allSatisfy { $0.hasPrefix("room 0 is ") })

    let replay = try Program(
      "tutti-simulate", ["--replay", folder.file("house.txt"), "--hours", "0.004"])
    #expect(try replay.exitCode() == 0, "\(replay.lines) \(kept)")
    #expect(!replay.lines(with: "all promises kept").isEmpty)
  }

  @Test func `a run of the simulation is written and replayed to the same digest`() throws {
    let file = folder.file("run.txt")
    let run = try Program(
      "tutti-simulate",
      [
        "--scenario", "seek", "--seed", "5", "--rooms", "1", "--hours", "0.004", "--record",
        file,
      ])
    #expect(try run.exitCode() == 0, "\(run.lines)")
    let digest = try run.line(with: "scenario seek seed 5 rooms 1 digest")
    let replay = try Program("tutti-simulate", ["--replay", file])
    #expect(try replay.exitCode() == 0)
    #expect(replay.lines(with: "digest") == [digest])
  }

  @Test(arguments: [
    (
      "tutti record 1\n\n5 s: somebody sleeps\n",
      "line 3: nobody knows this line: 5 s: somebody sleeps"
    ),
    ("what else\n", "it is no record"), ("tutti record 1\n", "no room is in that group"),
    ("tutti record 1\nscenario none\n1 s: room 0 joins\n", "there is no scenario none"),
  ])
  func `a file that cannot be played is refused with its line`(text: String, reason: String) throws
  {
    let file = try folder.write(Array(text.utf8), to: "wrong.txt")
    let program = try Program("tutti-simulate", ["--replay", file])
    #expect(try program.exitCode() == 64)
    #expect(!program.lines(with: reason).isEmpty, "\(program.lines)")
  }

  private func tone(_ name: String) throws -> String {
    try folder.write(Tone.wave(rate: 8_000, seconds: 90, channels: 1), to: "\(name).wav")
  }
}
