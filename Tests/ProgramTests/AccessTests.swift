import Foundation
import TestSupport
import Testing

/// Tests of who may play in a receiver that is paired with nobody, between real programs.
@Suite struct AccessTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Returns an environment with its own directory for tokens, as each user has one.
  private func home(_ user: String) throws -> [String: String] {
    let path = folder.file(user)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return ["XDG_RUNTIME_DIR": path]
  }

  private func receiver(of user: String) throws -> (program: Program, address: String) {
    let program = try Program(
      "tutti-receiver",
      [
        "--name", "a", "--port", "0", "--no-mdns", "--state-dir", folder.file("state"),
        "--access", "paired", "--output", "wav:\(folder.file("a.wav"))",
      ], environment: try home(user))
    let line = try program.line(with: "listening: a on port ")
    return (program, "127.0.0.1:\(line.split(separator: " ").last ?? "")")
  }

  private func player(of user: String, at address: String) throws -> Program {
    let tone = try folder.write(Tone.wave(rate: 8000, seconds: 2), to: "tone.wav")
    return try Program(
      "tutti", ["play", tone, "--at", address, "--state-dir", folder.file("player-\(user)")],
      environment: try home(user))
  }

  @Test func `a player of the receiver's own user plays without pairing`() throws {
    let receiver = try receiver(of: "ann")
    let player = try player(of: "ann", at: receiver.address)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("ann/tutti"))
    #expect(left.isEmpty, "\(left)")
  }

  @Test func `another user's player is told what to do`() throws {
    let receiver = try receiver(of: "ann")
    let player = try player(of: "bob", at: receiver.address)
    try player.line(with: "it is not paired with this machine: tutti pair")
    try receiver.program.line(with: "it is not paired with this receiver")
    _ = try player.stop()
  }
}
