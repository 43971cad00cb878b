import Foundation
import OpenSSLSecurity
import TestSupport
import Testing

/// Tests of a receiver beside an Avahi daemon of the test's own.
@Suite struct DiscoveryTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a daemon tells a room its volume that plays in none of its groups`() throws {
    let bed = try AvahiBed(directory: folder.file("bed"))
    try bed.startBus()
    try bed.startDaemon()
    let receiver = try Program(
      "tutti-receiver",
      [
        "--name", "Bath", "--port", "0", "--output", "null", "--access", "open", "--state-dir",
        folder.file("state"),
      ], environment: bed.environment)
    try receiver.line(with: "announced: Bath")
    let place = ["--state-dir", folder.file("daemon")]
    let daemon = try Program(
      "tutti",
      ["serve", "--config", try folder.write([], to: "empty.conf"), "--port", "0"] + place,
      environment: bed.environment)
    try daemon.line(with: "ready")
    func volume(_ volume: String) throws -> (code: Int32, said: [String]) {
      let command = try Program(
        "tutti", ["volume", volume, "--on", "Bath"] + place, environment: bed.environment)
      return (try command.exitCode(), command.lines)
    }
    // Retry until the daemon has found the room.
    let deadline = ContinuousClock.now + .seconds(30)
    var said = try volume("40")
    while said.code != 0, ContinuousClock.now < deadline { said = try volume("40") }
    #expect(said.said == ["Bath: volume 40"])
    #expect(try volume("+5").said == ["Bath: volume 45"])
    func memory() -> String {
      (try? String(contentsOfFile: folder.file("state/memory"), encoding: .utf8)) ?? ""
    }
    while !memory().contains("volume 450"), ContinuousClock.now < deadline { _ = try volume("45") }
    #expect(memory().contains("volume 450"))
    #expect(try daemon.stop() == 0)
  }

  @Test func `a receiver whose Avahi daemon hangs answers senders at once`() throws {
    let bed = try AvahiBed(directory: folder.file("bed"))
    try bed.startBus()
    try bed.startDaemon()
    let receiver = try Program(
      "tutti-receiver",
      [
        "--name", "Flur", "--port", "0", "--output", "null", "--state-dir", folder.file("state"),
      ], environment: bed.environment)
    let line = try receiver.line(with: "listening: Flur on port ")
    let port = try #require(UInt16(line.split(separator: " ").last ?? ""))
    try receiver.line(with: "announced: Flur")

    try bed.freeze(.daemon)
    let begun = ContinuousClock.now
    let key = try IdentityKey.generate()
    let (hello, goodbye) = (try greeting(of: key), try Specification.example("control.goodbye"))
    // Each visit changes the room from free to busy and back, which is announced at most once a
    // second.
    while ContinuousClock.now - begun < .seconds(3) {
      let sender = try #require(TestConnection.sender(to: port, key))
      sender.send(hello)
      #expect(!sender.receive().isEmpty)
      sender.send(goodbye)
      _ = sender.receiveAll()
    }
    // A D-Bus call gives up after 25 s.
    #expect(ContinuousClock.now - begun < .seconds(20))
    #expect(try receiver.stop() == 0)
    #expect(ContinuousClock.now - begun < .seconds(20))
  }
}
