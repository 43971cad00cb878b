import Foundation
import LinuxIO
import TestSupport
import Testing

/// Tests of commands that turn text into sound.
@Suite struct SpokenCommandTests {
  private func run(
    _ command: [String], limit: Int = 1_000, within milliseconds: Int64 = 20_000
  ) throws(SpokenCommand.Failure) -> [UInt8] {
    try SpokenCommand.run(command, text: "Dinner\n", limit: limit, within: milliseconds)
  }

  @Test func `a command reads the text and its end, and what it writes comes back`() throws {
    #expect(try run(["cat"]) == Array("Dinner\n".utf8))
    #expect(try run(["/bin/echo", "$HOME; `id`"]) == Array("$HOME; `id`\n".utf8))
    #expect(try run(["true"]).isEmpty)
    // One that reads nothing holds nobody up.
    #expect(try run(["/bin/echo", "x"], within: 20_000) == Array("x\n".utf8))
  }

  @Test func `a voice that hangs, floods or is not there costs its announcement`() throws {
    #expect(throws: SpokenCommand.Failure.tooSlow) { try run(["sleep", "1000"], within: 50) }
    #expect(throws: SpokenCommand.Failure.tooLong) { try run(["yes"]) }
    #expect { try run(["/nowhere/voice"]) } throws: {
      if case SpokenCommand.Failure.notStarted = $0 { true } else { false }
    }
  }

  @Test func `a beginning may say that less is taken`() throws {
    let endless = ["sh", "-c", "echo 100; yes"]
    #expect(throws: SpokenCommand.Failure.tooLong) {
      try SpokenCommand.run(
        endless, text: "", limit: .max, within: 20_000,
        narrowed: { $0.starts(with: "100".utf8) ? 100 : nil })
    }
  }

  @Test func `nothing that it has started is left`() throws {
    let folder = try TemporaryFolder()
    let number = folder.file("number")
    let script = try folder.write(
      Array("#!/bin/sh\nsleep 1000 &\necho $! > \(number)\necho done\n".utf8), to: "voice")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
    // Its child keeps the pipe open.
    #expect(throws: SpokenCommand.Failure.tooSlow) { try run([script], within: 1_000) }
    let child = try #require(
      pid_t(String(contentsOfFile: number, encoding: .utf8).dropLast()))
    let deadline = ContinuousClock.now + .seconds(20)
    while kill(child, 0) == 0, ContinuousClock.now < deadline { sched_yield() }
    #expect(kill(child, 0) != 0)
  }
}
