import OpenSSLSecurity
import TestSupport
import Testing

/// A receiver beside an Avahi daemon of the test's own.
@Suite struct DiscoveryTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

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
    // Each turns the room from free to busy and back, which is announced at most once a second.
    while ContinuousClock.now - begun < .seconds(3) {
      let sender = try #require(TestConnection.sender(to: port, key))
      sender.send(hello)
      #expect(!sender.receive().isEmpty)
      sender.send(goodbye)
      _ = sender.receiveAll()
    }
    // D-Bus waits 25 s for an answer.
    #expect(ContinuousClock.now - begun < .seconds(20))
    #expect(try receiver.stop() == 0)
    #expect(ContinuousClock.now - begun < .seconds(20))
  }
}
