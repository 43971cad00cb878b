import Foundation
import TestSupport
import Testing

/// Tests of commands from other terminals: each does what its help says, reports what it did, and refuses values
/// out of range.
@Suite struct CommandTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func tutti(_ arguments: String...) throws -> (code: Int32, said: [String]) {
    try tutti(arguments)
  }

  private func tutti(_ arguments: [String]) throws -> (code: Int32, said: [String]) {
    let program = try Program(
      "tutti",
      arguments.prefix(1) + ["--state-dir", folder.file("player")] + arguments.dropFirst())
    let code = try program.exitCode()
    return (code, program.lines)
  }

  /// A player with three items in a room of its own.
  private func playing(_ body: (ReceiverProgram) throws -> Void) throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let files = try ["one", "two", "three"].map {
      try folder.write(Tone.wave(rate: 8_000, seconds: 180, channels: 1), to: "\($0).wav")
    }
    let player = try player(files, at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    try body(receiver)
    #expect(player.process.isRunning)
    #expect(try player.stop() == 0)
  }

  @Test func `a word that is no command is answered with the nearest one`() throws {
    let near = try Program("tutti", ["recievers"])
    #expect(try near.exitCode() == 64)
    #expect(
      near.lines == ["tutti: there is no command recievers; did you mean: tutti receivers"])
    let far = try Program("tutti", ["sonos"])
    #expect(try far.exitCode() == 64)
    #expect(far.lines == ["tutti: there is no command sonos; all of them: tutti --help"])
    #expect(try Program("tutti", ["help", "play"]).exitCode() == 0)
  }

  @Test(arguments: [["sleep"], ["stop", "--everywhere", "--in"]])
  func `a time out of its range is refused in the unit in which it is asked for`(
    command: [String]
  ) throws {
    for text in ["2000", "1560.5", "nan", "soon", "24:00", "7:5"] {
      let (code, lines) = try tutti(command + [text])
      #expect(code == 64)
      #expect(
        lines == [
          "tutti: \(text) is not a number of minutes from 0 to 1560; write 45, 23:30, or off"
        ])
    }
  }

  @Test func `a reader that has what it wanted is no fault`() throws {
    // The only reader of the pipe has gone before anything is written.
    let daemon = try Daemon(in: folder)
    _ = try daemon.run("play", "--stay", "--at", "127.0.0.1:1", "--group", "kept")
    let script = """
      cd "$1" && mkfifo p && exec 3<>p 4>p 3>&- && exec "$0" status --json --state-dir daemon >&4
      """
    let command = try Program(
      "/bin/sh", ["-c", script, Program.path(of: "tutti"), folder.file("")])
    #expect(try command.exitCode() == 0)
    #expect(try daemon.stop() == 0)
  }

  @Test(arguments: ["tutti", "tutti-receiver"])
  func `no line of a help text is too long for 80 columns`(name: String) throws {
    let dump = try Program(name, ["--experimental-dump-help"])
    #expect(try dump.exitCode() == 0)
    let all = try JSONSerialization.jsonObject(with: Data(dump.lines.joined(separator: "\n").utf8))
    func commands(_ value: Any) -> [(words: [String], discussion: String)] {
      if let list = value as? [Any] { return list.flatMap(commands) }
      guard let command = value as? [String: Any] else { return [] }
      let own = (command["commandName"] as? String).map { name in
        let words = (command["superCommands"] as? [String] ?? []) + [name]
        return [(Array(words.dropFirst()), command["discussion"] as? String ?? "")]
      }
      return (own ?? []) + command.values.flatMap(commands)
    }
    let found = commands(all)
    #expect(found.count > 4)
    for (words, discussion) in found {
      let help = try Program(name, words + ["--help"])
      #expect(try help.exitCode() == 0)
      #expect(help.lines.count > 3, "\(words)")
      #expect(help.lines.filter { $0.count > 80 } == [])
      // Nor is one of ours broken where we did not.
      let ours = discussion.split(separator: "\n").map(String.init)
      #expect(ours.filter { !help.lines.contains($0) } == [], "\(words)")
    }
  }

  @Test(arguments: [
    (["search", "a", "--on", "b"], "--on and --take go with --play; see: tutti search --help"),
    (["status", "--nope"], "unknown option '--nope'; see: tutti status --help"),
    (["volume", "40", "--nope"], "unknown option '--nope'; see: tutti volume --help"),
    (["search"], "missing expected argument '<words> ...'; see: tutti search --help"),
  ])
  func `wrong arguments are one line that leads to the help`(
    arguments: [String], said: String
  ) throws {
    let command = try Program("tutti", arguments)
    #expect(try command.exitCode() == 64)
    #expect(command.lines == ["tutti: \(said)"])
  }

  @Test func `commands say what they did`() throws {
    try playing { _ in
      let done = [
        try tutti("pause"), try tutti("pause"), try tutti("resume"), try tutti("seek", "1:30"),
        try tutti("volume", "40"), try tutti("volume", "-5"), try tutti("volume", "+2.5"),
        try tutti("volume", "--delay", "-12.5", "--on", "a"),
        try tutti("volume", "--channels", "left"), try tutti("move", "3", "2"),
        try tutti("next"), try tutti("repeat", "all"), try tutti("effects", "--rate", "1.25"),
        try tutti("effects", "--pitch", "-2"), try tutti("effects"), try tutti("effects", "--off"),
        try tutti("remove", "3"), try tutti("jump", "1"),
      ]
      #expect(done.allSatisfy { $0.code == 0 })
      #expect(
        done.flatMap(\.said) == [
          "paused", "is paused already", "plays on", "to 1:30 of 3:00", "a: volume 40",
          "a: volume 35", "a: volume 37.5", "a: volume 37.5, 12.5 ms earlier",
          "a: volume 37.5, 12.5 ms earlier, left", "three.wav is number 2", "2: three.wav",
          "repeats the list", "rate 1.25", "rate 1.25, pitch -2", "rate 1.25, pitch -2",
          "no effects", "1 item removed", "1: one.wav",
        ])
    }
  }

  @Test func `a group that a player has not is refused, and is no option elsewhere`() throws {
    try playing { _ in
      let wrong = try tutti("pause", "--group", "nowhere")
      #expect(wrong.code == 69)
      #expect(wrong.said == ["tutti: not playing in a room called nowhere, but in: a"])
      #expect(try tutti("pause", "--group", "A").said == ["paused"])
      #expect(try tutti("receivers", "--group", "a").code == 64)
    }
  }

  @Test func `steps back are written as the help says`() throws {
    try playing { _ in
      _ = try tutti("pause")
      #expect(try tutti("seek", "1:00").code == 0)
      #expect(try tutti("seek", "-15").said == ["to 0:45 of 3:00"])
      #expect(try tutti("seek", "--", "-15").said == ["to 0:30 of 3:00"])
      #expect(try tutti("seek", "-1:00").said == ["to 0:00 of 3:00"])
      #expect(try tutti("seek", "--far").code == 64)
      #expect(
        try tutti("seek", "--", "-15", "--group", "a").said == [
          "tutti: --group is taken as an argument, as all after --; write it before --"
        ])
      #expect(try tutti("seek", "1", "2").code == 64)
    }
  }

  @Test func `what is out of range is refused with its reason, and plays on`() throws {
    try playing { _ in
      let beyond = ["4", "0", "9223372036854775807", "-9223372036854775808"]
      for number in beyond {
        for command in [["jump"], ["remove"], ["move"]] {
          let place = command == ["move"] ? ["1"] : []
          let program = try Program(
            "tutti",
            command + ["--state-dir", folder.file("player"), "--", number] + place)
          #expect(try program.exitCode() == 64, "\(command) \(number): \(program.lines)")
        }
      }
      #expect(try tutti("move", "1", "99").code == 64)
      #expect(try tutti("add", folder.file("one.wav"), "--at", "99").code == 64)
      #expect(try tutti("volume", "101").code == 64)
      #expect(try tutti("volume", "--delay", "-2001").code == 64)
      let beyondEnd = try tutti("seek", "999")
      #expect(beyondEnd.code == 64)
      #expect(beyondEnd.said == ["tutti: the item is only 3:00 long"])
    }
  }

  @Test func `the list and the status show titles and lengths, in a narrow table`() throws {
    try playing { _ in
      let queue = try tutti("queue").said
      #expect(
        queue == [
          "▶  1  one.wav    3:00", "   2  two.wav    3:00", "   3  three.wav  3:00",
          "3 items, 9:00",
        ])
      _ = try tutti("volume", "--delay", "20")
      let status = try tutti("status").said
      #expect(status.first == "playing  one.wav")
      #expect(status.contains { $0.hasPrefix("next     two.wav") })
      #expect(status.contains { $0.hasPrefix("room  state    volume  delay ms  off µs") })
      #expect(status.contains { $0.hasPrefix("a     playing     100       +20") })
      #expect(status.allSatisfy { $0.count <= 80 })
      #expect(try tutti("volume", "37.8").code == 0)
      #expect(try tutti("status").said.contains { $0.hasPrefix("a     playing      38       +20") })
    }
  }

  @Test func `numbers for programs have no more digits than they mean`() throws {
    try playing { _ in
      _ = try tutti("pause")
      #expect(try tutti("seek", "15").code == 0)
      _ = try tutti("seek", "+0.1")
      let status = try tutti("status", "--json").said.first ?? ""
      let digits = status.split { !$0.isNumber && $0 != "." }.compactMap {
        $0.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first?.count
      }
      #expect(!digits.isEmpty && digits.allSatisfy { $0 <= 9 }, "\(status)")
      #expect(!status.contains(":-0,"))
    }
  }

  @Test func `a room is told its volume while nothing plays, and remembers it`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let set = try tutti("volume", "40", "--delay", "-12.5", "--at", receiver.address)
    #expect(set.code == 0)
    #expect(set.said == ["a: volume 40, 12.5 ms earlier"])
    #expect(
      try tutti("volume", "+5", "--at", receiver.address).said == ["a: volume 45, 12.5 ms earlier"])
    let nobody = try tutti("volume", "40")
    #expect(nobody.code == 69)
    #expect(nobody.said.count == 1)
  }

  @Test func `a new room is not loud before somebody wants it`() throws {
    let receiver = try Program(
      "tutti-receiver",
      [
        "--name", "a", "--port", "0", "--no-mdns", "--output", "null", "--access", "open",
        "--state-dir", folder.file("state-new"),
      ])
    let line = try receiver.line(with: "listening: a on port ")
    let address = "127.0.0.1:\(line.split(separator: " ").last ?? "")"
    #expect(try tutti("volume", "+5", "--at", address).said == ["a: volume 35"])
    #expect(try receiver.stop() == 0)
  }

  @Test func `rooms that a killed player has left are named, and can be silenced`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 600, channels: 1), to: "tone.wav")
    let player = try player([tone], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    kill(player.process.processIdentifier, SIGKILL)
    _ = try player.exitCode()
    let stop = try tutti("stop")
    #expect(stop.code == 69)
    #expect(stop.said.first?.hasSuffix("tutti stop --at \(receiver.address)") == true)
    let silenced = try tutti("stop", "--at", receiver.address)
    #expect(silenced.code == 0)
    #expect(silenced.said.count == 1)
    #expect(silenced.said.first?.hasPrefix("a: silent; ") == true, "\(silenced.said)")
    try receiver.program.line(with: "finished")
    #expect(try tutti("stop").said.first?.contains("killed") == false)
  }

  @Test func `rooms join and leave while the others play`() throws {
    try playing { first in
      let second = try ReceiverProgram("b", in: folder, "--output", "null")
      let joined = try tutti("join", "--at", second.address)
      #expect(joined.code == 0)
      try second.program.line(with: "playing")
      #expect(try tutti("leave", "b").said == ["b leaves"])
      try second.program.line(with: "finished")
      let last = try tutti("leave", "a")
      #expect(last.code == 64)
      #expect(first.program.lines(with: "finished").isEmpty)
    }
  }

  @Test func `the shell completes files and rooms`() throws {
    let song = try folder.write([], to: "t3 song.flac")
    let state = folder.file("player")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let room = """
      [{"id":"\(String(repeating: "ab", count: 16))","name":"Kitchen","model":"x","state":"away",\
      "addresses":[],"port":7770,"codecs":[]}]
      """
    try folder.write(room.utf8, to: "player/receivers.json")
    let script = """
      PATH=\(Screen.programs.path):$PATH; source <(tutti --generate-completion-script bash)
      complete_line() { COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1)); _tutti tutti "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"; }
      complete_line tutti play "\(folder.path)/t3"
      complete_line tutti play --state-dir "\(state)" --on Bath,Ki
      """
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", script]
    process.standardOutput = pipe
    try process.run()
    let said = String(
      decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let lines = said.split(separator: "\n").map { $0.filter { $0 != "\\" } }
    #expect(lines.contains(song))
    #expect(lines.contains { $0.hasPrefix("Bath,Kitchen") })
  }
}
