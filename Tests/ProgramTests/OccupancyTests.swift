import Clock
import Driver
import Foundation
import OpenSSLSecurity
import Sender
import TestSupport
import Testing
import WireProtocol

/// Tests of who has a room, between real programs.
@Suite struct OccupancyTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func silence(_ receiver: ReceiverProgram) throws -> [RoomSilencer.Report] {
    let security = try TLSContext(try IdentityKey.generate())
    let silencer = try RoomSilencer(security: security, senderName: "stopper", remembered: [])
    return try silencer.run(.init(addresses: [("127.0.0.1", receiver.port)]))
  }

  @Test func `a room whose player was killed can be silenced by anybody`() throws {
    let long = try folder.write(Tone.wave(rate: 8000, seconds: 60), to: "long.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player([long], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    kill(player.process.processIdentifier, SIGKILL)
    _ = try player.exitCode()
    let report = try #require(try silence(receiver).first)
    #expect(report.name == "a")
    guard case .silenced(let unheard, _) = report.outcome else {
      Issue.record("\(report)")
      return
    }
    #expect(unheard > .seconds(1))
    try receiver.program.line(with: "finished")
    #expect(try silence(receiver).first?.outcome == .wasSilent)
  }

  @Test func `a room that cannot be reached is reported`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    _ = try receiver.program.stop()
    guard case .unreachable? = try silence(receiver).first?.outcome else {
      Issue.record("it is not there")
      return
    }
  }

  @Test func `a receiver that is named twice plays once`() throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 1.2), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player(
      [tone], at: [receiver.address, "localhost:\(receiver.port)"], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(player.lines(with: "named twice").count == 1, "\(player.lines)")
    _ = try receiver.program.stop()
    try expectUnbroken(seconds: 1.2)
  }

  @Test func `two machines with one identity do not fight for a room`() throws {
    let long = try folder.write(Tone.wave(rate: 8000, seconds: 60), to: "long.wav")
    let key = try IdentityKey.generate().pem()
    for state in ["player", "copy"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(state), withIntermediateDirectories: true)
      _ = try folder.write(key, to: "\(state)/sender-key.pem")
    }
    let receiver = try ReceiverProgram("a", in: folder)
    let first = try player([long], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let second = try player([long], at: [receiver.address], in: folder, state: "copy")
    let line = try first.line(with: "another program of this machine has taken it over")
    #expect(line.hasPrefix("a: "))
    try second.line(with: "connected")
    #expect(try first.stop() == 0)
    #expect(second.lines(with: "gone").isEmpty, "\(second.lines)")
    #expect(try second.stop() == 0)
    #expect(first.lines(with: "connected").count == 1, "\(first.lines)")
  }

  @Test func `a player that stood still is back, and nothing of it was heard`() throws {
    let tone = try folder.write(Tone.wave(rate: 8000, seconds: 16), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player(
      [tone], at: [receiver.address], in: folder, "--json", "--position-every", "0.5")
    // The room has received all of it by then.
    try player.line(with: "\"positionS\":3")
    kill(player.process.processIdentifier, SIGSTOP)
    try receiver.program.line(with: "nothing heard for 10 s")
    kill(player.process.processIdentifier, SIGCONT)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    _ = try receiver.program.stop()
    try expectUnbroken(seconds: 16)
  }

  /// Expects sound from the beginning to the end; the steering does not matter.
  private func expectUnbroken(seconds: Double) throws {
    let recording = try ToneRecording(folder.file("a.wav"))
    #expect((seconds - 0.5...seconds + 0.001).contains(recording.seconds))
    for (index, block) in recording.blocks().enumerated() {
      #expect(abs(block.amplitude - Tone.amplitude) < 0.02, "block \(index)")
    }
  }
}
