import Foundation
import TestSupport
import Testing

/// Tests of pairing between real programs: commands, files, terminals. Sender and receiver belong to different
/// users.
@Suite struct PairTests {
  /// Programs end with this owner.
  private final class Running {
    var programs: [Program] = []
  }

  let folder: TemporaryFolder
  private let running = Running()

  init() throws { folder = try TemporaryFolder() }

  /// Returns an environment with its own directory for tokens, as each user has one.
  private func home(_ user: String) throws -> [String: String] {
    let path = folder.file("home-\(user)")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return ["XDG_RUNTIME_DIR": path]
  }

  private func receiver(_ arguments: String...) throws -> (program: Program, address: String) {
    let program = try Program(
      "tutti-receiver",
      ["--name", "a", "--port", "0", "--no-mdns", "--state-dir", folder.file("state")]
        + ["--output", "null"] + arguments, environment: try home("ann"))
    running.programs.append(program)
    let line = try program.line(with: "listening: a on port ")
    return (program, "127.0.0.1:\(line.split(separator: " ").last ?? "")")
  }

  /// Runs a command of the receiver's owner.
  private func box(_ arguments: String...) throws -> (code: Int32, said: [String]) {
    let program = try Program(
      "tutti-receiver", arguments + ["--state-dir", folder.file("state")])
    return (try program.exitCode(), program.lines)
  }

  private func pin() throws -> String { try #require(try box("pin").said.first) }

  private func arguments(_ command: String, _ rest: [String]) -> [String] {
    [command, "--state-dir", folder.file("player")] + rest
  }

  private func tutti(_ command: String, _ rest: String...) throws -> Program {
    try Program("tutti", arguments(command, rest), environment: try home("bob"))
  }

  private func pair(_ address: String, _ pin: String) throws -> (code: Int32, said: [String]) {
    let program = try tutti("pair", "--at", address, "--pin", pin)
    return (try program.exitCode(), program.lines)
  }

  /// Returns another PIN with a correct check digit.
  private func wrong(_ pin: String) -> String { pin == "0000 0000" ? "1111 1114" : "0000 0000" }

  private func tone(seconds: Double) throws -> String {
    try folder.write(Tone.wave(rate: 8000, seconds: seconds), to: "\(seconds).wav")
  }

  @Test func `a new room says its PIN for a sender, and one that is paired does not`() throws {
    let (room, address) = try receiver()
    let program = try tutti("pair", "--at", address, "--say-pin", "--pin", try pin())
    #expect(try program.exitCode() == 0)
    #expect(
      program.lines == ["\(address) says its PIN now, twice.", "a: paired with this machine"])
    try room.line(with: "says its PIN aloud")
    let again = try tutti("pair", "--at", address, "--say-pin")
    #expect(try again.exitCode() == 69)
    #expect(again.lines.first?.contains("only while nobody is paired") == true)
    #expect(try room.stop() == 0)
  }

  @Test
  func `the PIN that a receiver shows pairs a sender, which then plays, also after a restart`()
    throws
  {
    let (first, address) = try receiver()
    let pin = try pin()
    try first.line(with: "nobody is paired yet: PIN \(pin)")
    let stranger = try tutti("play", try tone(seconds: 1), "--at", address)
    try stranger.line(with: "it is not paired with this machine: tutti pair '\(address)'")
    #expect(try stranger.exitCode() == 69)
    let paired = try pair(address, pin.replacing(" ", with: "-"))
    #expect(paired.code == 0)
    #expect(paired.said == ["a: paired with this machine"])
    #expect(try first.stop() == 0)
    let (second, again) = try receiver()
    let friend = try tutti("play", try tone(seconds: 1), "--at", again)
    #expect(try friend.exitCode() == 0, "\(friend.lines)")
    #expect(second.lines(with: "nobody is paired").isEmpty)
    let pairings = try box("pairings").said
    #expect(pairings.count == 1)
    #expect(pairings.first?.hasSuffix(ProcessInfo.processInfo.hostName) == true, "\(pairings)")
    let kept = try FileManager.default.attributesOfItem(atPath: folder.file("state/trust"))
    #expect(kept[.posixPermissions] as? Int == 0o600)
  }

  @Test func `a room whose name has a space says a command that can be copied`() throws {
    let room = try Program(
      "tutti-receiver",
      [
        "--name", "Living room", "--port", "0", "--no-mdns", "--state-dir", folder.file("state"),
        "--output", "null",
      ], environment: try home("ann"))
    try room.line("its command") { $0.hasSuffix("; on a sender: tutti pair 'Living room'") }
    #expect(try room.stop() == 0)
  }

  @Test func `a typo costs no guess, and after three wrong PINs a restart does not help`() throws {
    let (first, address) = try receiver()
    let pin = try pin()
    let typo = try pair(address, "1234 5672")
    #expect(typo.code == 64)
    #expect(
      typo.said == ["tutti: one of the PIN's digits is wrong: the last one checks the others"])
    for _ in 1...3 {
      let guess = try pair(address, wrong(pin))
      #expect(guess.code == 69)
      #expect(guess.said.first?.contains("the PIN is wrong") == true, "\(guess.said)")
    }
    #expect(try first.stop() == 0)
    let (_, again) = try receiver()
    let fourth = try pair(again, pin)
    #expect(fourth.code == 69)
    #expect(fourth.said.first?.contains("too many wrong PINs; try again in") == true)
    let renewed = try box("pin", "--new")
    #expect(renewed.said != [pin])
    #expect(try pair(again, try #require(renewed.said.first)).code == 0)
  }

  @Test func `what a sender plays ends when it is unpaired, at either end`() throws {
    let (receiver, address) = try receiver()
    #expect(try pair(address, try pin()).code == 0)
    let player = try tutti("play", try tone(seconds: 120), "--at", address)
    try receiver.line(with: "playing")
    let unpaired = try box("unpair", ProcessInfo.processInfo.hostName)
    #expect(unpaired.code == 0, "\(unpaired.said)")
    try player.line(with: "it is not paired with this machine")
    try receiver.line(with: "finished")
    #expect(try box("pairings").said.first?.hasPrefix("nobody is paired") == true)
    #expect(try box("unpair", "nobody").code == 64)
    _ = try player.stop()
    #expect(try pair(address, try pin()).code == 0)
    let forgotten = try tutti("unpair", "--at", address)
    #expect(try forgotten.exitCode() == 0, "\(forgotten.lines)")
    try receiver.line(with: "unpaired")
    #expect(try box("pairings").said.first?.hasPrefix("nobody is paired") == true)
  }

  @Test func `a room that a daemon knows by its address is unpaired from its page`() throws {
    let (receiver, address) = try receiver()
    let daemon = try Daemon(in: folder, arguments: [], environment: try home("bob"))
    _ = try daemon.run("pair", "--at", address, "--pin", try pin())
    _ = try daemon.run("play", try tone(seconds: 120), "--at", address)
    try receiver.line(with: "playing")
    let page = try daemon.program.line(with: "the page is http://")
    let port = try #require(page.split(separator: ":").last.flatMap { UInt16($0) }, "\(page)")
    let connection = try #require(TestConnection(port: port))
    connection.send(
      Array(
        """
        DELETE /api/v1/rooms/\(address)/pairing HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\
        Connection: close\r\n\r\n
        """.utf8))
    let answer = String(decoding: connection.receive(within: 20), as: UTF8.self)
    try #require(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
    try receiver.line(with: "unpaired")
    #expect(try box("pairings").said.first?.hasPrefix("nobody is paired") == true)
    #expect(try daemon.stop() == 0)
  }

  @Test func `an open receiver plays for a stranger`() throws {
    let (receiver, address) = try receiver("--access", "open")
    let player = try tutti("play", try tone(seconds: 1), "--at", address)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(receiver.lines(with: "nobody is paired").isEmpty)
  }

  @Test func `a PIN may be chosen, if its check digit fits`() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("state"), withIntermediateDirectories: true)
    #expect(try box("pin", "--set", "0000", "0000").said == ["0000 0000"])
    #expect(try box("pin").said == ["0000 0000"])
    #expect(try box("pin", "--set", "0000 0001").code == 64)
    #expect(try box("pin", "--set", "123").code == 64)
    let (_, address) = try receiver()
    #expect(try pair(address, "00000000").code == 0)
  }

  @Test func `a person at a terminal is asked until the PIN is right`() throws {
    let (_, address) = try receiver()
    let pin = try pin()
    let screen = try Screen(
      "tutti", arguments("pair", ["--at", address]), environment: try home("bob"))
    screen.press("12345672\n")
    try screen.line { $0.contains("Nothing was sent") }
    screen.press("\(wrong(pin))\n")
    try screen.line { $0.contains("That is not its PIN") }
    screen.press("\(pin)\n")
    try screen.line { $0.contains("a: paired with this machine") }
    #expect(try screen.exitCode() == 0)
  }

  @Test func `a person who waits sees for how long, and may leave`() throws {
    let (_, address) = try receiver()
    let pin = try pin()
    for _ in 1...3 { _ = try pair(address, wrong(pin)) }
    let screen = try Screen(
      "tutti", arguments("pair", ["--at", address]), hasSession: true,
      environment: try home("bob"))
    screen.press("\(pin)\n")
    try screen.line { $0.contains("Too many wrong PINs: this one is tried in") }
    screen.press("\u{3}")
    #expect(try screen.exitCode() != 0)
  }

  @Test func `a player on a terminal offers to pair, and plays then`() throws {
    let (_, address) = try receiver()
    let screen = try Screen(
      "tutti", arguments("play", [try tone(seconds: 120), "--at", address]),
      environment: try home("bob"))
    try screen.line { $0.contains("Pair this machine with it now?") }
    screen.press("\(try pin())\n")
    try screen.line { $0.hasPrefix("▶ ") && $0.contains("a in sync") }
    screen.press("q")
    #expect(try screen.exitCode() == 0)
  }

  @Test func `rooms that this machine is paired with are shown`() throws {
    let rooms = ["ab", "cd"].map { id in
      """
      {"id":"\(String(repeating: id, count: 16))","name":"\(id)","model":"x","state":"away",\
      "addresses":[],"port":7770,"codecs":[]}
      """
    }
    try folder.write("[\(rooms.joined(separator: ","))]".utf8, to: "player/receivers.json")
    try folder.write("\(String(repeating: "cd", count: 16)) cd\n".utf8, to: "player/paired")
    let list = try tutti("receivers", "--wait", "0", "--json")
    #expect(try list.exitCode() == 0)
    #expect(list.lines(with: "\"name\":\"ab\"").first?.contains("\"paired\":false") == true)
    #expect(list.lines(with: "\"name\":\"cd\"").first?.contains("\"paired\":true") == true)
  }
}
