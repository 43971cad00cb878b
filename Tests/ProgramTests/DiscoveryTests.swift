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

  @Test func `other programs find a household that the network can reach`() throws {
    let bed = try AvahiBed(directory: folder.file("bed"))
    try bed.startBus()
    try bed.startDaemon()
    let empty = try folder.write([], to: "empty.conf")
    func daemon(_ name: String, _ options: String...) throws -> Program {
      let daemon = try Program(
        "tutti",
        [
          "serve", "--config", empty, "--port", "0", "--name", name, "--state-dir",
          folder.file(name),
        ]
          + options, environment: bed.environment)
      try daemon.line(with: "ready")
      return daemon
    }
    let daemons = try [daemon("Cellar", "--listen", "127.0.0.1"), daemon("Attic")]
    let found = try resolved("Attic", within: 30_000, in: bed)
    #expect(found.contains("\"_tutti-house._tcp\"") && found.contains("\"Attic\""), "\(found)")
    // Avahi answers about services of its own machine at once.
    #expect(try resolved("Cellar", within: 1_000, in: bed) == "")
    for daemon in daemons { #expect(try daemon.stop() == 0) }
  }

  /// Returns what Avahi says of a household; nothing if it does not find it in time.
  private func resolved(_ name: String, within milliseconds: Int, in bed: AvahiBed) throws -> String
  {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    var said = ""
    repeat {
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-send")
      process.arguments =
        [
          "--system", "--print-reply", "--reply-timeout=\(milliseconds)",
          "--dest=org.freedesktop.Avahi", "/", "org.freedesktop.Avahi.Server.ResolveService",
        ] + ["int32:-1", "int32:-1", "string:\(name)", "string:_tutti-house._tcp", "string:local"]
        + ["int32:-1", "uint32:0"]
      process.environment = bed.environment
      (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
      try process.run()
      said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
    } while said.isEmpty && ContinuousClock.now < deadline
    return said
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
