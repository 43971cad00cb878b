import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of inputs whose sound comes from a program, with the finished daemon, a room that records, and scripts in the place of
/// programs that others have written.
@Suite struct SourceTests {
  private static let rate = 48_000
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes a configuration with one input, whose program is this script.
  private func configuration(_ script: String, _ lines: String...) throws -> String {
    let program = try folder.write(Array(("#!/bin/sh\n" + script).utf8), to: "phone")
    chmod(program, 0o700)
    let text = ["[input Phone]", "command = \(program) 'Living room'"] + lines
    return try folder.write(Array(text.joined(separator: "\n").utf8), to: "sources.conf")
  }

  /// A script that plays a tone without end, as a program does that writes as fast as it is read.
  private func player() throws -> String {
    try folder.write(Tone.samples(rate: Self.rate, frames: Self.rate), to: "tone")
    return """
      cd \(folder.path); echo $$ >> pids
      echo '{"title":"Song","artist":"Singer","state":"playing"}' >&3
      while :; do cat tone; done
      """
  }

  private func processes() -> [Int32] {
    let text = (try? folder.bytes(of: "pids")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return text.split(separator: "\n").compactMap { Int32($0) }
  }

  private func inputs(_ daemon: Daemon) throws -> [String: Any] {
    let line = try daemon.run("sources", "list", "--json").first ?? ""
    return try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
  }

  /// Plays for some seconds more.
  private func play(_ seconds: Double, _ daemon: Daemon) throws {
    let begin = try #require(daemon.status()["positionS"] as? Double)
    try daemon.wait { try $0.status()["positionS"] as? Double ?? 0 >= begin + seconds }
  }

  @Test(.timeLimit(.minutes(5)))
  func `a program is heard with its title, and killed it is silent, told of in one line, and back`()
    throws
  {
    let room = try ReceiverProgram("a", in: folder)
    let config = try configuration(try player(), "raw = 48000:16:2", "events = json")
    let daemon = try Daemon(in: folder, "--config", config)
    _ = try daemon.run("play", "Phone", "--at", room.address)
    try daemon.wait { try $0.status()["title"] as? String == "Song" }
    #expect(try daemon.status()["artist"] as? String == "Singer")
    #expect(try inputs(daemon)["kind"] as? String == "program")
    try play(3, daemon)
    kill(try #require(processes().last), SIGKILL)
    try daemon.wait { _ in processes().count == 2 }
    try play(4, daemon)
    #expect(try inputs(daemon)["problem"] == nil)
    #expect(try daemon.status()["title"] as? String == "Song")
    let lines = daemon.program.lines(with: "was ended by signal 9")
    #expect(
      lines == [
        "tutti: Phone: was ended by signal 9; it is started again, at the latest every 60 s"
      ])
    #expect(try daemon.stop() == 0)
    for process in processes() { #expect(kill(process, 0) != 0) }
    _ = try room.program.stop()
    let recording = try ToneRecording(folder.file("a.wav"))
    let heard = recording.blocks().map(\.amplitude)
    let tone = heard.map { abs($0 - Tone.amplitude) < 0.05 }
    #expect(tone.prefix(20).allSatisfy { $0 } && tone.suffix(10).allSatisfy { $0 }, "\(heard)")
    // A second passes before it is started again, and a third of one was still in its pipe.
    #expect((3...12).contains(heard.count { $0 < 0.001 }), "\(heard)")
  }

  @Test(.timeLimit(.minutes(5)))
  func `what listeners want comes to a program as lines`() throws {
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    // A shell gives its background nothing to read, unless it is told to.
    let reading = "exec 4<&0; (while read line; do echo \"$line\" >> orders; done) <&4 &"
    let script = try player().replacing("while", with: reading + "\nwhile")
    let config = try configuration(script, "raw = 48000:16:2", "events = json")
    let daemon = try Daemon(in: folder, "--config", config)
    _ = try daemon.run("play", "Phone", "--at", room.address)
    try room.program.line(with: "playing")
    #expect(try daemon.run("next") == ["a: Phone was asked for its next title"])
    _ = try daemon.run("pause")
    func orders() -> String {
      (try? folder.bytes(of: "orders")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    try daemon.wait { _ in orders().split(separator: "\n").count == 2 }
    #expect(orders() == "{\"do\":\"next\"}\n{\"do\":\"pause\"}\n")
    #expect(try daemon.status()["state"] as? String == "paused")
    #expect(try daemon.stop() == 0)
  }

  @Test func `a program that is not there is named, and looked for`() throws {
    let config = try folder.write(
      Array("[input Radio]\ncommand = no-such-program --x".utf8), to: "sources.conf")
    let daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(with: "Radio: cannot be started: no-such-program: No such file")
    let shown = try daemon.run("sources")
    #expect(shown.count == 2 && shown[1].contains("cannot be started"), "\(shown)")
    #expect(try daemon.stop() == 0)
    let doctor = try Program(
      "tutti", ["doctor", "--config", config, "--json", "--state-dir", folder.file("daemon")])
    #expect(try doctor.exitCode() == 1)
    let finding = try #require(doctor.lines(with: #""check":"Radio""#).first)
    #expect(finding.contains("there is no program no-such-program"))
  }

  @Test func `a source is added once, and what the daemon could not read is not written`() throws {
    let config = try folder.write(Array("name = Home".utf8), to: "my.conf")
    chmod(config, 0o640)
    func add(_ arguments: String...) throws -> (code: Int32, lines: [String]) {
      let command = try Program(
        "tutti", ["sources", "add"] + arguments + ["--config", config],
        environment: ["PATH": "/nowhere"])
      return (try command.exitCode(), command.lines)
    }
    let added = try add("airplay", "--name", "Living room", "--on-sound", "Kitchen")
    #expect(added.code == 0, "\(added.lines)")
    #expect(added.lines.contains("shairport-sync is missing: sudo apt install shairport-sync"))
    let settings = folder.file("airplay-living-room.conf")
    let text = """
      name = Home

      [input Living room]
      command = shairport-sync --configfile=\(settings)
      raw = 44100:16:2
      events = shairport-sync
      on-sound = Kitchen

      """
    #expect(String(decoding: try folder.bytes(of: "my.conf"), as: UTF8.self) == text)
    var status = stat()
    #expect(stat(config, &status) == 0 && status.st_mode & 0o777 == 0o640)
    #expect(stat(settings, &status) == 0 && status.st_mode & 0o777 == 0o644)
    let again = try add("spotify", "--name", "living ROOM")
    #expect(again.code == 64 && again.lines[0].contains("there is an input living ROOM already"))
    for wrong in ["a\nsocket = /x", "a\"b", "", " a", "a]", String(repeating: "a", count: 49)] {
      #expect(try add("dlna", "--name", wrong).code == 64, "\(wrong)")
    }
    #expect(try add("cassette").code == 64)
    #expect(String(decoding: try folder.bytes(of: "my.conf"), as: UTF8.self) == text)
    for kind in ["spotify", "bluetooth", "dlna"] { #expect(try add(kind).code == 0) }
    #expect(try add("dlna", "--name", "Loft").code == 0)
    let words = String(decoding: try folder.bytes(of: "my.conf"), as: UTF8.self)
      .split(separator: " ")
    let identifiers = zip(words, words.dropFirst()).filter { $0.0 == "--uuid" }.map(\.1)
    #expect(Set(identifiers).count == 2 && identifiers.allSatisfy { $0.utf8.count == 36 })
    // The daemon reads all of it.
    let daemon = try Daemon(in: folder, "--config", config)
    #expect(try daemon.run("sources").count == 6)
    #expect(try daemon.stop() == 0)
  }
}
