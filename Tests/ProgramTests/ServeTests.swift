import Clock
import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the daemon as a process, with real receivers, and of the commands that work through it.
@Suite struct ServeTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `two groups play different things, and a room moves while music plays`() throws {
    let (one, other) = (try tone("one"), try tone("other"))
    let rooms = try ["a", "b", "c"].map { try ReceiverProgram($0, in: folder) }
    let daemon = try Daemon(in: folder)
    let said = try daemon.run("play", one, "--at", rooms[0].address, "--at", rooms[1].address)
    #expect(said.first?.contains("plays \(one.split(separator: "/").last ?? "")") ?? false)
    _ = try daemon.run("play", other, "--at", rooms[2].address)
    for room in rooms { try room.program.line(with: "playing") }

    #expect(try daemon.rooms("--group", "a") == ["a": "playing", "b": "playing"])
    #expect(try daemon.rooms("--group", "c") == ["c": "playing"])
    let before = try daemon.status("--group", "a")
    _ = try daemon.run("join", "--at", rooms[1].address, "--group", "c")
    try daemon.wait { try $0.rooms("--group", "c") == ["c": "playing", "b": "playing"] }
    #expect(try daemon.rooms("--group", "a") == ["a": "playing"])
    // The other group does not notice.
    let after = try daemon.status("--group", "a")
    #expect(after["underruns"] as? Int == before["underruns"] as? Int)
    #expect(after["state"] as? String == "playing")

    _ = try daemon.run("pause", "--group", "a")
    #expect(try daemon.status("--group", "a")["state"] as? String == "paused")
    #expect(try daemon.status("--group", "c")["state"] as? String == "playing")
    #expect(try daemon.stop() == 0)
  }

  @Test func `stop --all silences the groups of the daemon, and their rooms stay its own`() throws {
    let (daemon, rooms) = try twoGroups()
    let said = try daemon.run(
      "stop", "--all", "--at", rooms[0].address, "--at", rooms[1].address)
    #expect(said == ["a: stopped", "b: stopped"])
    for name in ["a", "b"] {
      #expect(try daemon.status("--group", name)["state"] as? String == "stopped")
      _ = try daemon.run("resume", "--group", name)
      try daemon.wait { try $0.rooms("--group", name) == [name: "playing"] }
    }
    #expect(daemon.program.lines(with: "taken").isEmpty, "\(daemon.program.lines)")
    #expect(daemon.program.lines(with: "gone").isEmpty, "\(daemon.program.lines)")
    // A group of one room has its name; the log says it once.
    #expect(!daemon.program.lines(with: "a: connected").isEmpty, "\(daemon.program.lines)")
    #expect(daemon.program.lines(with: "a: a: ").isEmpty, "\(daemon.program.lines)")
    #expect(try daemon.stop() == 0)
  }

  @Test func `a room is silenced in whatever group it plays`() throws {
    let (daemon, rooms) = try twoGroups()
    #expect(try daemon.run("stop", "--on", "A") == ["a: stopped"])
    #expect(try daemon.run("stop", "--at", rooms[1].address) == ["b: stopped"])
    #expect(daemon.program.lines(with: "taken").isEmpty, "\(daemon.program.lines)")
    #expect(try daemon.stop() == 0)
  }

  @Test func `commands say where they act, and all mean the group that was used last`() throws {
    let (daemon, rooms) = try twoGroups()
    #expect(try daemon.run("pause") == ["b: paused"])
    let louder = try daemon.run("volume", "20")
    #expect(louder == ["b: volume 20"], "\(daemon.program.lines) \(rooms[1].program.lines)")
    #expect(try daemon.run("seek", "10").first?.hasPrefix("b: to 0:10") == true)
    #expect(try daemon.run("shuffle") == ["b: shuffled"])
    #expect(try daemon.run("resume", "--group", "a") == ["a: plays already"])
    #expect(try daemon.run("stop") == ["a: stopped"])
    #expect(try daemon.run("resume") == ["a: plays on"])
    try daemon.wait { try $0.status("--group", "a")["state"] as? String == "playing" }
    let groups = try daemon.run("groups")
    #expect(groups.count == 2 && groups[0].hasPrefix("▶  a") && groups[1].hasPrefix("   b"))
    #expect(Array(try daemon.run("status").prefix(2)) == groups)
    #expect(try daemon.stop() == 0)
  }

  /// Makes two groups: room a plays in the first, room b in the second, which was used last.
  private func twoGroups() throws -> (Daemon, [ReceiverProgram]) {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder, "--output", "null") }
    let daemon = try Daemon(in: folder)
    for (room, name) in zip(rooms, ["one", "other"]) {
      _ = try daemon.run("play", try tone(name), "--at", room.address)
      try room.program.line(with: "playing")
    }
    return (daemon, rooms)
  }

  @Test func `killed and started again, music goes on where it was`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let daemon = try Daemon(in: folder)
    _ = try daemon.run("play", try tone("one"), try tone("other"), "--at", receiver.address)
    try receiver.program.line(with: "playing")
    _ = try daemon.run("next")
    _ = try daemon.run("seek", "30")
    daemon.kill()

    let again = try Daemon(in: folder)
    try again.wait { try $0.status()["state"] as? String == "playing" }
    #expect(try again.status()["itemNumber"] as? Int == 2)
    // The seek may be about to be heard. Without it, the place would be reached half a minute later.
    let begun = ContinuousClock.now
    try again.wait { try $0.status()["positionS"] as? Double ?? 0 >= 29.9 }
    #expect(ContinuousClock.now - begun < .seconds(20))
    _ = try again.run("pause")
    again.kill()

    let third = try Daemon(in: folder)
    #expect(try third.status()["state"] as? String == "paused")
    _ = try third.run("resume")
    try third.wait { try $0.status()["state"] as? String == "playing" }
    #expect(try #require(third.status()["positionS"] as? Double) >= 29.9)
  }

  @Test func `with --resume no, it waits for its user`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let daemon = try Daemon(in: folder)
    _ = try daemon.run("play", try tone("one"), "--at", receiver.address)
    try receiver.program.line(with: "playing")
    #expect(try daemon.stop() == 0)
    let again = try Daemon(in: folder, "--resume", "no")
    #expect(try again.status()["state"] as? String != "playing")
    #expect(try again.run("queue").count == 2)
  }

  @Test func `killed at any moment, no edit is lost, doubled or half`() throws {
    try HouseKills(in: folder).run(kills: 12, seed: 1)
  }

  @Test func `an option that the daemon cannot carry out is refused, with what to do`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder)
    let play = ["play", try tone("one"), "--at", receiver.address]
    func refusal(_ options: String...) throws -> String {
      let program = try Program("tutti", play + options + ["--state-dir", folder.file("daemon")])
      #expect(try program.exitCode() == 64, "\(options): \(program.lines)")
      #expect(program.lines.count == 1)
      return program.lines.first ?? ""
    }
    #expect(try refusal("--codec", "opus").contains("tutti serve --codec"))
    for options in [
      ["--bitrate", "96", "--codec", "opus"], ["--packet-length", "40"], ["--raw", "48000:16:2"],
      ["--give-back"], ["--priority", "7"], ["--filter", "volume=2"],
    ] {
      let program = try Program("tutti", play + options + ["--state-dir", folder.file("daemon")])
      #expect(try program.exitCode() == 64, "\(options): \(program.lines)")
      #expect(program.lines.first?.contains("--state-dir of its own") == true, "\(program.lines)")
    }
    #expect(try refusal("--json", "--position-every", "1").contains("--position-every"))
    let piped = try Program("tutti", ["play", "-", "--state-dir", folder.file("daemon")])
    #expect(try piped.exitCode() == 64)
    #expect(piped.lines.first?.contains("the running player cannot take standard input") == true)
    #expect(receiver.program.lines(with: "playing").isEmpty)
    #expect(try daemon.stop() == 0)
  }

  @Test func `an option that puts something back is carried out as well`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder)
    let play = ["play", try tone("one"), "--at", receiver.address]
    func status(_ options: String...) throws -> [String: Any] {
      _ = try daemon.run(play + options)
      return try daemon.status()
    }
    // `rate` is that of the sounding music, which stays the same until the rooms have been told.
    func effects(_ status: [String: Any]) -> Double? {
      (status["effects"] as? [String: Any])?["rate"] as? Double
    }
    let first = try status("--repeat", "all", "--rate", "1.25")
    #expect(first["repeat"] as? String == "all" && effects(first) == 1.25)
    #expect(first["rate"] as? Double == 1.25)
    let second = try status()
    #expect(second["repeat"] as? String == "all" && effects(second) == 1.25)
    let third = try status("--repeat", "off", "--rate", "1")
    #expect(third["repeat"] as? String == "off" && effects(third) == 1)
    #expect(try daemon.stop() == 0)
  }

  @Test func `a room of another sender is taken where it is asked for`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let other = try player([try tone("other")], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let daemon = try Daemon(in: folder)
    _ = try daemon.run("play", try tone("one"), "--at", receiver.address, "--take")
    try other.line(with: "has taken it over")
    try daemon.wait { try $0.status()["state"] as? String == "playing" }
    #expect(try daemon.stop() == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to be somebody else"))
  func `members of a group command the daemon, and others are told how to`() throws {
    let daemon = try sharedDaemon()
    let stranger = try user(inGroup: 65534, "pause")
    #expect(stranger.code == 69)
    #expect(
      stranger.said.first?.contains("the daemon takes commands from members of the group") == true,
      "\(stranger)"
    )
    _ = try daemon.run("play", "--stay", "--at", "127.0.0.1:1")
    let member = try user(inGroup: Self.group, "pause")
    #expect(member.said.first?.contains("is stopped") == true, "\(member)")
    #expect(try daemon.stop() == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to be somebody else"))
  func `members of a group pair the daemon with a room, and others are told how to`() throws {
    let daemon = try sharedDaemon()
    // The receiver of another user, who lets no program of this one in without a PIN.
    let elsewhere = ["XDG_RUNTIME_DIR": folder.file("elsewhere")]
    let receiver = try ReceiverProgram(
      "a", in: folder, "--output", "null", "--access", "paired", environment: elsewhere)
    let shown = try receiver.program.line(with: "nobody is paired yet: PIN ")
    let pin = try #require(shown.firstMatch(of: /PIN (\d{4} \d{4})/)).1
    let pair = ["pair", "--at", receiver.address, "--pin", String(pin)]
    let stranger = try user(inGroup: 65534, pair)
    #expect(stranger.code == 69)
    #expect(stranger.said.first?.contains("sudo usermod -aG") == true, "\(stranger)")
    let member = try user(inGroup: Self.group, pair)
    #expect(member.said == ["a: paired with this machine"])
    // It is the daemon that plays there.
    _ = try daemon.run("play", try tone("one"), "--at", receiver.address)
    try receiver.program.line(with: "playing")
    let unpaired = try user(inGroup: Self.group, ["unpair", "--at", receiver.address])
    #expect(unpaired.said == ["\(receiver.address): not paired with this machine any more"])
    #expect(try daemon.stop() == 0)
  }

  private static let group = uid_t(54_321)

  /// Takes commands of a group as well.
  private func sharedDaemon() throws -> Daemon {
    let run = folder.file("run")
    for name in ["run", "home", "elsewhere"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
    #expect(chown(run, 0, Self.group) == 0 && chmod(run, 0o750) == 0)
    #expect(chmod(folder.file("home"), 0o777) == 0)
    let daemon = try Daemon(in: folder, "--socket", run + "/control.sock")
    try folder.write(
      "socket = \(run)/control.sock\nstate-dir = \(folder.file("daemon"))\n".utf8,
      to: "home/tutti/tutti.conf")
    return daemon
  }

  /// A command of somebody who is not the daemon's user.
  private func user(
    inGroup number: uid_t, _ arguments: String...
  ) throws -> (code: Int32, said: [String]) { try user(inGroup: number, arguments) }

  private func user(
    inGroup number: uid_t, _ arguments: [String]
  ) throws -> (code: Int32, said: [String]) {
    let program = try Program(
      "/usr/bin/setpriv",
      [
        "--reuid", "65534", "--regid", "\(number)", "--clear-groups", Program.path(of: "tutti"),
      ] + arguments,
      environment: [
        "XDG_CONFIG_HOME": folder.file("home"), "XDG_STATE_HOME": folder.file("home"),
      ])
    return (try program.exitCode(), program.lines)
  }

  @Test func `a library that cannot be opened costs nothing but the library`() throws {
    // A pipe at which the start would wait for ever.
    let state = folder.file("daemon")
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try #require(mkfifo(state + "/library.db", 0o600) == 0)
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder)
    #expect(daemon.program.lines(with: "the household plays without a library").count == 1)
    _ = try daemon.run("play", try tone("one"), "--at", room.address)
    try room.program.line(with: "playing")
    #expect(try daemon.stop() == 0)
  }

  @Test func `phones are shown an address that they can look up`() throws {
    func host(_ daemon: Daemon) throws -> Substring {
      let line = try daemon.program.line(with: "the page is http://")
      return line.components(separatedBy: "http://")[1].prefix { $0 != ":" }
    }
    // Phones do not know the bare name of a machine.
    let plain = try Daemon(in: folder)
    let number = try host(plain)
    #expect(number == "localhost" || number.allSatisfy { $0.isNumber || $0 == "." }, "\(number)")
    #expect(try plain.stop() == 0)
    let named = try Daemon(in: folder, "--hosts", "study,study.lan")
    #expect(try host(named) == "study.lan")
    #expect(try named.stop() == 0)
  }

  @Test func `a wrong line of the configuration is named`() throws {
    let file = try folder.write(Array("name = x\nprot = 1\n".utf8), to: "my.conf")
    let program = try Program(
      "tutti", ["serve", "--config", file, "--port", "0", "--state-dir", folder.file("daemon")])
    #expect(try program.exitCode() == 64)
    #expect(program.lines.count == 1)
    #expect(program.lines[0].hasPrefix("tutti: \(file):2: there is no key prot; there are: name"))
  }

  @Test func `a second daemon of one state directory says how to end the first, which then ends`()
    throws
  {
    let daemon = try Daemon(in: folder)
    let second = try Program(
      "tutti", ["serve", "--port", "0", "--state-dir", folder.file("daemon")])
    #expect(try second.exitCode() == 69)
    #expect(
      second.lines == [
        "tutti: a daemon already uses \(folder.file("daemon")); play with: tutti play FILE; "
          + "end it with: tutti stop --daemon"
      ])
    #expect(try daemon.run("stop", "--daemon") == ["the daemon has ended"])
    #expect(try daemon.program.exitCode() == 0)
    #expect(throws: Daemon.Refused.self) { try daemon.run("stop", "--daemon") }
  }

  private func tone(_ name: String) throws -> String {
    try folder.write(Tone.wave(rate: 8_000, seconds: 90, channels: 1), to: "\(name).wav")
  }
}

/// Two hundred kills take minutes.
@Suite struct HouseLongTests {
  @Test func `killed two hundred times, no edit is lost, doubled or half`() throws {
    try HouseKills(in: TemporaryFolder()).run(kills: 200, seed: 2)
  }
}

/// A daemon with its own state directory, and the commands that find it there.
struct Daemon: Sendable {
  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  let program: Program
  private let directory: String

  /// Returns once the daemon answers.
  init(in folder: TemporaryFolder, _ arguments: String...) throws {
    try self.init(in: folder, arguments: arguments)
  }

  init(
    in folder: TemporaryFolder, arguments: [String], environment: [String: String] = [:]
  ) throws {
    directory = folder.file("daemon")
    let none = try folder.write([], to: "empty.conf")
    program = try Program(
      "tutti", ["serve", "--config", none, "--port", "0", "--state-dir", directory] + arguments,
      environment: environment)
    try program.line(with: "ready")
  }

  var socket: String { directory + "/control.sock" }

  /// That of its page.
  func port() throws -> UInt16 {
    let line = try program.line(with: "http://")
    let digits = line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
    return try #require(UInt16(digits), "\(line)")
  }

  func run(_ arguments: String...) throws -> [String] { try run(arguments) }

  func run(_ arguments: [String]) throws -> [String] {
    let command = try Program("tutti", arguments + ["--state-dir", directory])
    guard try command.exitCode() == 0 else {
      throw Refused(description: "\(arguments): \(command.lines)")
    }
    return command.lines
  }

  func status(_ arguments: String...) throws -> [String: Any] {
    let line = try run(["status", "--json"] + arguments).first ?? ""
    return try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
  }

  func rooms(_ arguments: String...) throws -> [String: String] {
    let line = try run(["status", "--json"] + arguments).first ?? ""
    let status = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let rooms = status?["rooms"] as? [[String: Any]] ?? []
    return Dictionary(
      rooms.map { ($0["name"] as? String ?? "", $0["state"] as? String ?? "") },
      uniquingKeysWith: { $1 })
  }

  /// Asks again and again until `isSo` returns true, for at most a minute.
  func wait(until isSo: (Daemon) throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !isSo(self) {
      guard ContinuousClock.now < deadline else {
        throw Refused(description: "it did not come: \(try run("status"))")
      }
    }
  }

  func kill() {
    Glibc.kill(program.process.processIdentifier, SIGKILL)
    program.process.waitUntilExit()
  }

  func stop() throws -> Int32 { try program.stop() }
}

/// Edits the queue of a daemon that is killed again and again. Compares the daemon's queue with its answers
/// before. One edit is under way at a time, which may or may not have been done.
struct HouseKills {
  private let folder: TemporaryFolder

  init(in folder: TemporaryFolder) { self.folder = folder }

  func run(kills: Int, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var daemon = try Daemon(in: folder)
    // A group without rooms is kept if it has a name.
    _ = try daemon.run("play", "--stay", "--at", "127.0.0.1:1", "--group", "kept")
    _ = try daemon.run("add", "http://127.0.0.1:1/first")
    _ = try daemon.run("leave", "127.0.0.1:1")
    var model = ["http://127.0.0.1:1/first"]
    var count = 0
    for kill in 1...kills {
      let connection = try #require(TestConnection(path: daemon.socket))
      let end = DispatchSemaphore(value: 0)
      let doomed = daemon
      let moment = DispatchTime.now() + .milliseconds(.random(in: 0...150, using: &random))
      DispatchQueue.global().asyncAfter(deadline: moment) {
        doomed.kill()
        end.signal()
      }
      var next = model
      while true {
        let request = Self.change(&next, count: &count, &random)
        let order = #"{"edit":{"group":"","_1":\#(request)}}"#
        let line = #"{"id":1,"request":{"order":{"_0":\#(order)}}}"# + "\n"
        guard connection.send(Array(line.utf8)), Self.answers(connection) else { break }
        model = next
      }
      end.wait()
      daemon = try Daemon(in: folder)
      let found = try queue(daemon)
      #expect([model, next].contains(found), "after kill \(kill)")
      #expect(daemon.program.lines(with: "set aside").isEmpty)
      model = found
    }
    #expect(try daemon.stop() == 0)
  }

  private func queue(_ daemon: Daemon) throws -> [String] {
    try daemon.run("queue", "--json").compactMap { line in
      let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return entry?["item"] as? String
    }
  }

  private static func change(
    _ list: inout [String], count: inout Int, _ random: inout SplitMix64
  ) -> String {
    switch list.count > 2 ? Int.random(in: 0..<5, using: &random) : 0 {
    case 0, 1:
      count += 1
      list.append("/music/\(count)")
      let entry = #"{"location":"/music/\#(count)","reach":"all"}"#
      return #"{"add":{"_0":[\#(entry)],"at":{"end":{}}}}"#
    case 2:
      let index = Int.random(in: list.indices, using: &random)
      list.remove(at: index)
      return #"{"remove":{"_0":[\#(index + 1)]}}"#
    default:
      let (from, to) = (
        Int.random(in: list.indices, using: &random), Int.random(in: list.indices, using: &random)
      )
      list.insert(list.remove(at: from), at: to)
      return #"{"move":{"_0":\#(from + 1),"to":{"number":{"_0":\#(to + 1)}}}}"#
    }
  }

  /// Returns false if the daemon was killed before it answered.
  private static func answers(_ connection: TestConnection) -> Bool {
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      let bytes = connection.receive()
      guard !bytes.isEmpty else { return false }
      line += bytes
    }
    #expect(String(decoding: line, as: UTF8.self).contains(#""done""#))
    return true
  }
}
