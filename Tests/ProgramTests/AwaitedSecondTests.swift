import Foundation
import LinuxIO
import TestSupport
import Testing

/// A household that is to have a second daemon, and whose second machine has not joined.
@Suite struct AwaitedSecondTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func freePort() throws -> UInt16 {
    let reactor = try Reactor()
    let listener = try reactor.listen(on: .loopback(port: 0))
    defer { reactor.close(listener) }
    return try #require(reactor.localAddress(of: listener)?.port)
  }

  @Test func `the page, terminals and doctor say that nobody has joined, and what to do`() throws {
    let daemon = try Daemon(in: folder, "--second", "\(freePort())", "--listen", "127.0.0.1")
    try daemon.wait { try $0.run("groups").last?.contains("say tutti join-household") == true }
    #expect(try daemon.run("groups").last?.hasPrefix("no second machine has joined yet") == true)
    let doctor = try Program("tutti", ["doctor", "--state-dir", folder.file("daemon")])
    #expect(try doctor.exitCode() == 1)
    #expect(!doctor.lines(with: "no second machine has joined yet").isEmpty, "\(doctor.lines)")
    #expect(try daemon.stop() == 0)
  }

  @Test func `a machine that has not joined is told how`() throws {
    let none = try folder.write([], to: "empty.conf")
    let program = try Program(
      "tutti",
      [
        "serve", "--config", none, "--with", "music.local", "--state-dir", folder.file("daemon"),
      ])
    #expect(try program.exitCode() == 64)
    #expect(!program.lines(with: "first: tutti join-household music.local").isEmpty)
  }
}
