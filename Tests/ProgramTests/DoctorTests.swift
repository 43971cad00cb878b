import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of `tutti doctor` and `tutti-receiver doctor`, beside an Avahi daemon of the test's own.
@Suite struct DoctorTests {
  private struct Finding: Decodable {
    let check: String
    let verdict: String
    let fact: String
    let cure: String?
  }

  let folder: TemporaryFolder
  let bed: AvahiBed

  init() throws {
    folder = try TemporaryFolder()
    bed = try AvahiBed(directory: folder.file("bed"))
    try bed.startBus()
    try bed.startDaemon()
  }

  private func receiver(_ arguments: String...) throws -> Program {
    let program = try Program(
      "tutti-receiver",
      [
        "--name", "Flur", "--port", "0", "--output", "null", "--access", "open", "--state-dir",
        folder.file("state"),
      ] + arguments, environment: bed.environment)
    try program.line(with: "announced: Flur")
    return program
  }

  private func doctor(
    _ name: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (code: Int32, findings: [Finding]) {
    let program = try Program(
      name, arguments + ["--json"], environment: bed.environment.merging(environment) { $1 })
    let code = try program.exitCode()
    let findings = try program.lines.map {
      try JSONDecoder().decode(Finding.self, from: Data($0.utf8))
    }
    for finding in findings { #expect((finding.cure == nil) == (finding.verdict == "well")) }
    return (code, findings)
  }

  private func tutti(_ arguments: String...) throws -> (code: Int32, findings: [Finding]) {
    try doctor("tutti", ["doctor", "--state-dir", folder.file("sender")] + arguments)
  }

  @Test func `a house in order has nothing wrong, seen from both sides`() throws {
    let receiver = try receiver()
    let (code, findings) = try tutti()
    let room = try #require(findings.first { $0.check == "Flur" })
    #expect(room.verdict == "well", "\(findings)")
    #expect(room.fact.contains("round trip") && room.fact.contains("packets lost"))
    #expect(findings.first?.fact == "answers; 1 receiver is announced")
    #expect(code == (findings.contains { $0.verdict == "wrong" } ? 1 : 0))
    let there = try doctor(
      "tutti-receiver", ["--state-dir", folder.file("state"), "doctor"])
    let own = try #require(there.findings.first { $0.check == "receiver" })
    #expect(own.verdict == "well" && own.fact.hasSuffix("and is announced"), "\(there.findings)")
    #expect(own.fact.hasPrefix("Flur runs on port "))
    #expect(there.findings.contains { $0.fact == "none is needed: --output null" })
    #expect(there.findings.contains { $0.check == "pairing" && $0.verdict == "well" })
    #expect(try receiver.stop() == 0)
    let after = try doctor(
      "tutti-receiver", ["--state-dir", folder.file("state"), "doctor"])
    #expect(after.code == 1)
    #expect(after.findings.contains { $0.check == "receiver" && $0.fact == "does not run" })
  }

  @Test func `an Avahi that hangs is named, and rooms with an address are looked at`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let silent = try TestPeer { _ = $0.receiveAll() }
    try bed.freeze(.daemon)
    let begun = ContinuousClock.now
    let (code, findings) = try tutti("--at", receiver.address, "--at", silent.address)
    // A D-Bus call gives up after 25 s.
    #expect(ContinuousClock.now - begun < .seconds(24))
    #expect(code == 1)
    #expect(findings.first?.fact == "is there, and does not answer")
    #expect(findings.first { $0.check == receiver.address }?.verdict == "well", "\(findings)")
    let mute = findings.first { $0.check == silent.address }
    #expect(mute?.fact.hasSuffix("says nothing") == true, "\(findings)")
    try bed.thaw(.daemon)
  }

  @Test func `a card that is busy or hangs is named, and nothing waits for it`() throws {
    let obstacles = try Obstacles(in: folder)
    func card() throws -> [Finding] {
      let found = try doctor(
        "tutti-receiver", ["--device", "null", "--state-dir", folder.file("none"), "doctor"],
        environment: obstacles.environment)
      #expect(found.code == 1)
      return found.findings.filter { $0.check == "sound card" }
    }
    #expect(try card().map(\.fact) == ["null can be opened"])
    try obstacles.put(.busy)
    #expect(try card().map(\.fact) == ["null is in use by another program"])
    try obstacles.put(.open)
    #expect(try card().map(\.fact) == ["null hangs as it is opened"])
  }

  @Test func `a room that plays is not disturbed, and known as this machine's`() throws {
    let receiver = try receiver()
    let tone = try folder.write(Tone.wave(rate: 8000, seconds: 300, channels: 1), to: "tone.wav")
    let player = try Program(
      "tutti", ["play", tone, "--on", "Flur", "--state-dir", folder.file("sender")],
      environment: bed.environment)
    try receiver.line(with: "playing")
    let own = try tutti().findings
    #expect(own.first { $0.check == "Flur" }?.fact.contains("plays for this machine") == true)
    #expect(own.contains { $0.check == "player" && $0.fact == "playing, rooms: 1" }, "\(own)")
    let other = try doctor("tutti", ["doctor", "--state-dir", folder.file("other")]).findings
    let room = try #require(other.first { $0.check == "Flur" })
    #expect(room.verdict == "well" && room.fact.contains("play"), "\(room)")
    #expect(receiver.lines(with: "finished").isEmpty)
    #expect(try player.stop() == 0)
  }

  @Test func `on a terminal each line fits, and says what is wrong in the end`() throws {
    let screen = try Screen(
      "tutti", ["doctor", "--state-dir", folder.file("sender")], columns: 80,
      environment: bed.environment)
    var lines: [String] = []
    try screen.line {
      lines.append(String($0))
      return $0.contains(" wrong") && $0.hasSuffix(".")
    }
    #expect(
      lines.contains { $0.contains("! Avahi            answers, and no receiver is announced") })
    #expect(lines.contains { $0.contains("→ start tutti-receiver;") })
    // A path is never broken.
    let wide = lines.filter { $0.count > 80 && !$0.contains(folder.path) && !$0.contains("… ") }
    #expect(wide.isEmpty, "\(wide)")
  }
}
