import Foundation
import LinuxIO
import OpenSSLSecurity
import TestSupport
import Testing

/// Both daemons of a household, and what terminals are told of it. There are no rooms, so nobody takes over.
@Suite struct TwoDaemonsTests {
  private struct Finding: Decodable {
    let check: String
    let verdict: String
    let fact: String
  }

  private let folder: TemporaryFolder
  private let obstacles: Obstacles
  private let leader: Daemon
  private let follower: Program

  /// Returns once one of them follows the other.
  init() throws {
    folder = try TemporaryFolder()
    obstacles = try Obstacles(in: folder)
    let reactor = try Reactor()
    let listener = try reactor.listen(on: .loopback(port: 0))
    let port = try #require(reactor.localAddress(of: listener)?.port)
    reactor.close(listener)
    let key = try IdentityKey.generate().pem()
    for (name, record) in [
      ("daemon", "first yes\nterm 1\nleads yes\naddress 127.0.0.1\n"),
      ("follower", "first no\nterm 1\nleads no\naddress 127.0.0.1:\(port)\n"),
    ] {
      try folder.write(key, to: "\(name)/sender-key.pem")
      try folder.write(Array(record.utf8), to: "\(name)/second")
    }
    leader = try Daemon(
      in: folder, "--second", "\(port)", "--listen", "127.0.0.1", "--name", "home")
    follower = try Program(
      "tutti",
      [
        "serve", "--config", folder.file("empty.conf"), "--port", "0", "--state-dir",
        folder.file("follower"),
      ], environment: obstacles.environment)
    try follower.line(with: "the household's other daemon leads;")
  }

  private func doctor(_ name: String) throws -> (code: Int32, second: Finding?) {
    let program = try Program("tutti", ["doctor", "--json", "--state-dir", folder.file(name)])
    let code = try program.exitCode()
    let findings = try program.lines.map {
      try JSONDecoder().decode(Finding.self, from: Data($0.utf8))
    }
    return (code, findings.first { $0.check == "second machine" })
  }

  private func problem() throws -> String? { try leader.status()["secondProblem"] as? String }

  @Test func `terminals are told of the other machine, and once it is missing`() throws {
    let line = "127.0.0.1 goes on with the music if this machine fails"
    #expect(try leader.run("groups").last == line)
    _ = try leader.run("play", "--stay", "--at", "127.0.0.1:1", "--group", "kept")
    #expect(try leader.run("status").last == line)
    let status = try leader.status()
    #expect(status["second"] as? String == "127.0.0.1" && status["secondProblem"] == nil)
    #expect(status["state"] != nil)
    let there = try doctor("daemon").second
    #expect(there?.verdict == "well" && there?.fact == line)
    let here = try doctor("follower").second
    #expect(here?.verdict == "well", "\(String(describing: here))")
    #expect(here?.fact.hasPrefix("this machine follows 127.0.0.1, and goes on") == true)
    let command = try Program("tutti", ["status", "--state-dir", folder.file("follower")])
    #expect(try command.exitCode() == 69)
    #expect(!command.lines(with: "other daemon leads at 127.0.0.1").isEmpty, "\(command.lines)")
    #expect(try follower.stop() == 0)
    let missing =
      "the household's other daemon at 127.0.0.1 does not answer: nobody goes on with the music if this machine fails"
    try leader.program.line(with: missing)
    try leader.wait { try $0.status()["secondProblem"] as? String == missing }
    #expect(try leader.run("groups").last == missing)
    #expect(try leader.run("status").last == missing)
    let (code, finding) = try doctor("daemon")
    #expect(code == 1 && finding?.verdict == "wrong" && finding?.fact == missing)
    #expect(try leader.stop() == 0)
  }

  @Test func `a follower whose leader is gone says so`() throws {
    leader.kill()
    try follower.line(with: "nor a room answers")
    let (code, finding) = try doctor("follower")
    #expect(code == 1 && finding?.verdict == "wrong")
    #expect(finding?.fact.hasSuffix("is this machine cut off from the network?") == true)
    #expect(try follower.stop() == 0)
  }

  /// Takes as long as a disk may take until it counts as one that hangs.
  @Test func `a follower whose disk hangs is heard, and says that it keeps nothing`() throws {
    _ = try leader.run("play", "--stay", "--at", "127.0.0.1:1", "--group", "kept")
    // It may have said so before the follower was there.
    let lost = ["the household's other daemon cannot be reached", "does not answer: nobody"]
    let before = lost.map { leader.program.lines(with: $0).count }
    try obstacles.put(.rename)
    _ = try leader.run("night", "--from", "22:00", "--to", "7:00", "--limit", "25")
    try leader.wait { try $0.status()["secondProblem"] != nil }
    #expect(try problem()?.contains("cannot keep what it is sent") == true)
    #expect(try leader.status()["second"] as? String == "127.0.0.1")
    #expect(!follower.lines(with: "cannot be kept here").isEmpty)
    let here = try doctor("follower").second
    #expect(here?.verdict == "wrong" && here?.fact.hasSuffix("the disk does not answer") == true)
    try obstacles.remove(.rename)
    try leader.wait { try $0.status()["secondProblem"] == nil }
    // The link was never lost.
    #expect(lost.map { leader.program.lines(with: $0).count } == before)
    #expect(try follower.stop() == 0)
    #expect(try leader.stop() == 0)
  }
}
