import Foundation
import Glibc
import TestSupport
import Testing

/// Clients of MPD and a real daemon with real receivers.
@Suite struct MPDTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Two groups of a room each, and a library of three songs.
  private struct Bed {
    let daemon: Daemon
    let rooms: [ReceiverProgram]
    let port: UInt16
    let otherPort: UInt16
  }

  private func daemon(_ arguments: String...) throws -> Daemon {
    let music = folder.file("music")
    try FileManager.default.createDirectory(
      atPath: music + "/Artist", withIntermediateDirectories: true)
    for name in ["one", "two", "three"] {
      let path = music + "/Artist/\(name).wav"
      if !FileManager.default.fileExists(atPath: path) {
        try Data(Tone.wave(rate: 8_000, seconds: 60)).write(to: URL(filePath: path))
      }
    }
    return try Daemon(in: folder, arguments: ["--mpd", "0", "--library", music] + arguments)
  }

  private func bed() throws -> Bed {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder, "--output", "null") }
    let daemon = try daemon()
    for room in rooms { _ = try daemon.run("play", "--stay", "--at", room.address) }
    let ports = try ports(daemon)
    return Bed(daemon: daemon, rooms: rooms, port: ports[0], otherPort: ports[1])
  }

  /// The household's port, which is that of the first group, and that of the second.
  private func ports(_ daemon: Daemon) throws -> [UInt16] {
    let first = try daemon.program.line(with: "MPD: clients are answered on port ")
    let second = try daemon.program.line(with: " answers on port ")
    return try [first, second].map { line in
      try #require(UInt16(line.split(separator: " ").last ?? ""), "\(line)")
    }
  }

  @Test func `songs are added, play, pause, seek, and are heard, in each group on its own port`()
    throws
  {
    let bed = try bed()
    let (one, other) = (try MPDTalk(bed.port), try MPDTalk(bed.otherPort))
    try one.wait(for: "lsinfo Artist") { $0.contains("file: Artist/two.wav") }
    #expect(try one.ask("add Artist") == ["OK"])
    #expect(try one.ask("status").contains("state: stop"))
    #expect(try one.ask("play 0") == ["OK"])
    try bed.rooms[0].program.line(with: "playing")
    try one.wait(for: "status") { $0.contains("state: play") && $0.contains("song: 0") }
    #expect(try one.ask("next") == ["OK"])
    try one.wait(for: "currentsong") { $0.contains("Pos: 1") }
    #expect(try one.ask("pause 1") == ["OK"])
    try one.wait(for: "status") { $0.contains("state: pause") }
    #expect(try one.ask("seekcur 30.5") == ["OK"])
    try one.wait(for: "status") { $0.contains { $0.hasPrefix("elapsed: 30.") } }
    #expect(try one.ask("setvol 37") == ["OK"])
    try one.wait(for: "status") { $0.contains("volume: 37") }
    // The song before, though this one has played for a while. Both ways lead out of the pause.
    #expect(try one.ask("previous") == ["OK"])
    try one.wait(for: "status") { $0.contains("state: play") && $0.contains("song: 0") }
    #expect(try one.ask("pause 1") == ["OK"])
    try one.wait(for: "status") { $0.contains("state: pause") }
    #expect(try one.ask("next") == ["OK"])
    try one.wait(for: "status") { $0.contains("state: play") && $0.contains("song: 1") }
    // The other group has its own queue and state.
    let status = try other.ask("status")
    #expect(status.contains("state: stop") && status.contains("playlistlength: 0"))
    try other.wait(for: "status") { $0.contains("partition: b") }
    #expect(try other.ask("listpartitions") == ["partition: a", "partition: b", "OK"])
    #expect(try other.ask("partition a") == ["OK"])
    #expect(try other.ask("status").contains("playlistlength: 3"))
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `a queue follows from its last output to another`() throws {
    let bed = try bed()
    let talk = try MPDTalk(bed.otherPort)
    try talk.wait(for: "lsinfo Artist") { $0.contains("file: Artist/two.wav") }
    #expect(try talk.ask("add Artist") == ["OK"])
    let length = try #require(talk.ask("status").first { $0.hasPrefix("playlistlength: ") })
    #expect(length != "playlistlength: 0")
    let outputs = try talk.ask("outputs")
    func number(_ name: String) throws -> Substring {
      let place = try #require(outputs.firstIndex(of: "outputname: \(name)"))
      return outputs[place - 1].dropFirst("outputid: ".count)
    }
    #expect(try talk.ask("disableoutput \(try number("b"))") == ["OK"])
    #expect(try talk.ask("enableoutput \(try number("a"))") == ["OK"])
    try talk.wait(for: "status") { $0.contains(length) }
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `a queue that has come to its end stays there, however it is edited`() throws {
    let bed = try bed()
    let talk = try MPDTalk(bed.port)
    try talk.wait(for: "lsinfo Artist") { $0.contains("file: Artist/two.wav") }
    #expect(try talk.ask("add Artist") == ["OK"])
    for (last, edit) in [(2, "add Artist/one.wav"), (3, "move 0 3"), (3, "shuffle")] {
      #expect(try talk.ask("play \(last)") == ["OK"])
      try talk.wait(for: "status") { $0.contains("state: play") && $0.contains("song: \(last)") }
      #expect(try talk.ask("seekcur 59") == ["OK"])
      try talk.wait(for: "status") { $0.contains("state: stop") }
      #expect(try talk.ask(edit) == ["OK"])
      // Else the song that has come behind the last one would begin within some of these.
      for _ in 0..<200 {
        #expect(try talk.ask("status").contains("state: stop"), "after \(edit)")
      }
      #expect(try talk.ask("play") == ["OK"])
      try talk.wait(for: "status") { $0.contains("state: play") && $0.contains("song: 0") }
    }
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `who waits is told of the music, and of rooms that come and go`() throws {
    let bed = try bed()
    let (one, other) = (try MPDTalk(bed.port), try MPDTalk(bed.port))
    try one.wait(for: "lsinfo Artist") { $0.contains("file: Artist/two.wav") }
    one.send("idle playlist\n")
    #expect(try other.ask("add Artist/one.wav") == ["OK"])
    #expect(try one.answer() == ["changed: playlist", "OK"])
    one.send("idle player\n")
    #expect(try other.ask("play") == ["OK"])
    #expect(try one.answer() == ["changed: player", "OK"])
    let outputs = try other.ask("outputs")
    #expect(outputs.contains("outputname: a") && outputs.contains("outputname: b"))
    let free = try #require(outputs.firstIndex(of: "outputname: b"))
    let number = outputs[free - 1].split(separator: " ")[1]
    one.send("idle output\n")
    #expect(try other.ask("enableoutput \(number)") == ["OK"])
    #expect(try one.answer() == ["changed: output", "OK"])
    try other.wait(for: "outputs") { $0.filter { $0 == "outputenabled: 1" }.count == 2 }
    #expect(try other.ask("disableoutput \(number)") == ["OK"])
    try other.wait(for: "outputs") { $0.filter { $0 == "outputenabled: 1" }.count == 1 }
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `a token is asked for, and opens the household`() throws {
    let daemon = try daemon("--token", "secret-token")
    let line = try daemon.program.line(with: "MPD: clients are answered on port ")
    let talk = try MPDTalk(#require(UInt16(line.split(separator: " ").last ?? ""), "\(line)"))
    #expect(
      try talk.ask("status") == ["ACK [4@0] {status} you don't have permission for \"status\""])
    #expect(try talk.ask("password nonsense") == ["ACK [3@0] {password} incorrect password"])
    #expect(try talk.ask("password secret-token") == ["OK"])
    #expect(try talk.ask("status").contains("state: stop"))
    #expect(try daemon.stop() == 0)
  }

  @Test func `groups keep their ports and rooms their numbers over restarts`() throws {
    let bed = try bed()
    // A room that was named by its address has its name once it was reached.
    let outputs = try MPDTalk(bed.port).wait(for: "outputs") {
      $0.contains("outputname: a") && $0.contains("outputname: b")
    }.filter { $0.hasPrefix("output") }
    #expect(try bed.daemon.stop() == 0)
    let again = try daemon()
    #expect(try ports(again) == [bed.port, bed.otherPort])
    let talk = try MPDTalk(bed.port)
    try talk.wait(for: "outputs") { $0.filter { $0.hasPrefix("output") } == outputs }
    #expect(try talk.ask("status").contains("partition: a"))
    #expect(try again.stop() == 0)
  }

  @Test func `a port that another program has is said once, and the daemon plays`() throws {
    let first = try Daemon(in: folder, "--mpd", "0")
    let line = try first.program.line(with: "MPD: clients are answered on port ")
    let port = try #require(line.split(separator: " ").last, "\(line)")
    let other = try Daemon(in: try TemporaryFolder(), "--mpd", String(port))
    try other.program.line(with: "MPD: another program has port \(port)")
    #expect(other.program.lines(with: "another program has port").count == 1)
    #expect(try other.stop() == 0)
    #expect(try first.stop() == 0)
  }

  @Test(.enabled(if: access("/usr/bin/mpc", X_OK) == 0, "needs mpc"))
  func `mpc shows and changes what plays`() throws {
    let bed = try bed()
    func mpc(_ arguments: String...) throws -> [String] {
      let program = try Program(
        "/usr/bin/mpc", ["-h", "127.0.0.1", "-p", "\(bed.port)"] + arguments)
      #expect(try program.exitCode() == 0, "\(arguments): \(program.lines)")
      return program.lines
    }
    let talk = try MPDTalk(bed.port)
    try talk.wait(for: "lsinfo Artist") { $0.contains("file: Artist/two.wav") }
    _ = try mpc("add", "Artist")
    #expect(try mpc("playlist").count == 3)
    _ = try mpc("play", "2")
    try talk.wait(for: "status") { $0.contains("state: play") }
    #expect(try mpc("status").contains { $0.contains("[playing] #2/3") })
    _ = try mpc("volume", "20")
    #expect(try mpc("volume").first?.contains("20%") == true)
    #expect(try mpc("outputs").contains("Output 1 (a) is enabled"))
    _ = try mpc("stop")
    _ = try mpc("find", "title", "two")
    #expect(try bed.daemon.stop() == 0)
  }
}

/// A connection to a port of the daemon.
private final class MPDTalk {
  struct Silence: Error, CustomStringConvertible {
    let description: String
  }

  private let connection: TestConnection
  private var bytes: [UInt8] = []

  init(_ port: UInt16) throws {
    connection = try #require(TestConnection(port: port))
    guard try answer() == ["OK MPD 0.23.5"] else { throw Silence(description: "no greeting") }
  }

  func send(_ text: String) { connection.send(Array(text.utf8)) }

  func ask(_ line: String) throws -> [String] {
    send(line + "\n")
    return try answer()
  }

  func answer() throws -> [String] {
    var lines: [String] = []
    while true {
      while let end = bytes.firstIndex(of: 0x0a) {
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        bytes.removeFirst(end + 1)
        lines.append(line)
        if line == "OK" || line.hasPrefix("OK MPD") || line.hasPrefix("ACK") { return lines }
      }
      let more = connection.receive()
      guard !more.isEmpty else { throw Silence(description: "closed after \(lines)") }
      bytes += more
    }
  }

  /// Asks again and again until the answer fits, for at most a minute, and returns it.
  @discardableResult
  func wait(for line: String, until fits: ([String]) -> Bool) throws -> [String] {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let answer = try ask(line)
      if fits(answer) { return answer }
      guard ContinuousClock.now < deadline else {
        throw Silence(description: "\(line) says: \(answer)")
      }
    }
  }
}
