import Foundation
import OpenSSLSecurity
import TestSupport
import Testing

/// Tests of a receiver whose disk, sound card or system makes it wait.
@Suite struct ObstacleTests {
  let folder: TemporaryFolder
  let obstacles: Obstacles

  init() throws {
    folder = try TemporaryFolder()
    obstacles = try Obstacles(in: folder)
  }

  private func receiver(_ arguments: String...) throws -> (program: Program, port: UInt16) {
    let program = try Program(
      "tutti-receiver",
      ["--name", "a", "--port", "0", "--no-mdns", "--state-dir", folder.file("state")] + arguments,
      environment: obstacles.environment)
    let line = try program.line(with: "listening: a on port ")
    return (program, try #require(UInt16(line.split(separator: " ").last ?? "")))
  }

  private func expectAnswer(at port: UInt16) throws {
    let key = try IdentityKey.generate()
    let sender = try #require(TestConnection.sender(to: port, key))
    sender.send(try greeting(of: key))
    #expect(!sender.receive(within: 20).isEmpty, "no welcome")
    sender.send(try Specification.example("control.goodbye"))
  }

  @Test func `a disk that hangs holds up nobody`() throws {
    let (program, port) = try receiver("--output", "null")
    try obstacles.put(.fsync)
    let key = try IdentityKey.generate()
    let sender = try #require(TestConnection.sender(to: port, key))
    sender.send(try greeting(of: key))
    #expect(!sender.receive(within: 20).isEmpty)
    sender.send(try Specification.example("control.settings"))
    let begun = ContinuousClock.now
    // Settings are written at most a second after the last time.
    while ContinuousClock.now - begun < .seconds(3) { try expectAnswer(at: port) }
    try obstacles.remove(.fsync)
    #expect(try program.stop() == 0)
  }

  @Test func `a sound card that hangs as it is opened holds up nobody`() throws {
    let (program, port) = try receiver("--device", "null", "--idle", "1")
    try obstacles.put(.open)
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 30), to: "tone.wav")
    let player = try player([tone], at: ["127.0.0.1:\(port)"], in: folder)
    try program.line(with: "sender connected")
    _ = try player.stop()
    let begun = ContinuousClock.now
    // The card is released after a second without music.
    while ContinuousClock.now - begun < .seconds(4) { try expectAnswer(at: port) }
    #expect(try program.stop() == 0)
    try obstacles.remove(.open)
  }

  @Test func `a system without a thread to spare is asked for one again`() throws {
    let (program, port) = try receiver("--output", "wav:\(folder.file("a.wav"))")
    try obstacles.put(.noThread)
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 2), to: "tone.wav")
    let player = try player([tone], at: ["127.0.0.1:\(port)"], in: folder)
    try program.line(with: "no sound device: thread output: Resource temporarily unavailable")
    try obstacles.remove(.noThread)
    try program.line(with: "playing")
    #expect(try player.exitCode() == 0)
    #expect(try program.stop() == 0)
  }
}
