import Foundation
import TestSupport
import Testing

/// The session bus, playerctl, and real programs with real receivers.
@Suite(.enabled(if: SessionBus.hasTools, "needs dbus-daemon, busctl, gdbus and playerctl"))
struct MPRISTests {
  let folder: TemporaryFolder
  let bus: SessionBus

  init() throws {
    folder = try TemporaryFolder()
    bus = try SessionBus(in: folder)
  }

  private struct Bed {
    let daemon: Daemon
    let room: ReceiverProgram
  }

  private static let name = "org.mpris.MediaPlayer2.tutti.a"

  private var songs: [String] {
    get throws {
      try ["one", "two", "three"].map { name in
        try folder.write(Tone.wave(rate: 8_000, seconds: 60), to: "\(name).wav")
      }
    }
  }

  /// A daemon that plays the first of three songs in a room, and is on the bus as `name`.
  private func bed() throws -> Bed {
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(
      in: folder, arguments: ["--mpris", "yes"], environment: bus.environment)
    _ = try daemon.run(["play"] + songs + ["--at", room.address])
    try daemon.program.line(with: " is \(Self.name)")
    let bed = Bed(daemon: daemon, room: room)
    try wait("status") { $0 == "Playing" }
    return bed
  }

  @discardableResult
  private func playerctl(_ arguments: String...) throws -> String {
    let (lines, code) = try bus.run("playerctl", ["-p", "tutti.a"] + arguments)
    #expect(code == 0, "\(arguments): \(lines)")
    return lines.joined(separator: "\n")
  }

  /// Asks again and again until the answer fits, for at most a minute.
  private func wait(
    _ question: String..., of player: String = "tutti.a", until fits: (String) -> Bool
  ) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    var answer = ""
    repeat {
      answer = try bus.run("playerctl", ["-p", player] + question).lines.joined(separator: "\n")
      if fits(answer) { return }
    } while ContinuousClock.now < deadline
    Issue.record("playerctl \(question) says: \(answer)")
  }

  @Test func `playerctl shows and steers a group of the daemon`() throws {
    let bed = try bed()
    #expect(try bus.run("playerctl", ["-l"]).lines == ["tutti.a"])
    try playerctl("play-pause")
    try wait("status") { $0 == "Paused" }
    #expect(try bed.daemon.status()["state"] as? String == "paused")
    try playerctl("play")
    try wait("status") { $0 == "Playing" }
    try wait("metadata", "--format", "{{title}} {{mpris:length}}") { $0 == "one 60000000" }
    try playerctl("next")
    try wait("metadata", "title") { $0 == "two" }
    try playerctl("previous")
    try wait("metadata", "title") { $0 == "one" }
    // SetPosition, and then Seek.
    try playerctl("position", "30")
    try wait("position") { (Double($0) ?? 0) >= 30 }
    try playerctl("position", "15+")
    try wait("position") { (Double($0) ?? 0) >= 45 }
    try bed.daemon.wait { try ($0.status()["positionS"] as? Double ?? 0) >= 45 }
    try playerctl("volume", "0.37")
    try wait("volume") { $0.hasPrefix("0.37") }
    try bed.daemon.wait {
      try ($0.status()["rooms"] as? [[String: Any]])?[0]["volume"] as? Double == 37
    }
    for loop in ["Track", "Playlist", "None"] {
      try playerctl("loop", loop)
      try wait("loop") { $0 == loop }
    }
    for shuffle in ["On", "Off"] {
      try playerctl("shuffle", shuffle)
      try wait("shuffle") { $0 == shuffle }
    }
    try playerctl("stop")
    try wait("status") { $0 == "Stopped" }
    #expect(try bed.daemon.stop() == 0)
    #expect(try bus.run("playerctl", ["-l"]).lines.allSatisfy { !$0.contains("tutti") })
  }

  @Test(arguments: [[], ["--mpd", "0"]])
  func `a group keeps its name on the bus over a restart`(mpd: [String]) throws {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder, "--output", "null") }
    let arguments = ["--mpris", "yes"] + mpd
    let first = try Daemon(in: folder, arguments: arguments, environment: bus.environment)
    _ = try first.run(["play"] + songs + ["--at", rooms[0].address])
    try first.program.line(with: " is \(Self.name)")
    // It is called by both rooms now, and so would a group be that is new.
    _ = try first.run("join", "--at", rooms[1].address)
    #expect(try first.stop() == 0)
    let second = try Daemon(in: folder, arguments: arguments, environment: bus.environment)
    #expect(try second.program.line(with: "MPRIS: Tutti: ").hasSuffix(" is \(Self.name)"))
    #expect(try second.stop() == 0)
  }

  @Test func `who follows a player is told what others do, and where it seeks`() throws {
    let bed = try bed()
    let status = try Program(
      "/usr/bin/playerctl", ["-p", "tutti.a", "--follow", "status"], environment: bus.environment)
    try status.line(with: "Playing")
    let signals = try Program(
      "/usr/bin/gdbus",
      ["monitor", "--session", "--dest", Self.name, "--object-path", "/org/mpris/MediaPlayer2"],
      environment: bus.environment)
    try signals.line(with: "is owned by")
    _ = try bed.daemon.run("pause")
    try status.line(with: "Paused")
    try signals.line(with: "PlaybackStatus': <'Paused'>")
    _ = try bed.daemon.run("seek", "20")
    try signals.line(with: "Player.Seeked (int64 20")
    // The position is never told, because it moves all the time.
    #expect(signals.lines(with: "'Position'").isEmpty)
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `a bus that ends and begins anew, or hangs, is not heard, and is said once`() throws {
    let bed = try bed()
    try bus.kill()
    try bed.daemon.program.line(with: "the session bus cannot be used")
    #expect(try bed.daemon.status()["state"] as? String == "playing")
    try bus.start()
    try bed.daemon.program.line(with: "the session bus can be used")
    try wait("status") { $0 == "Playing" }
    bus.freeze()
    for volume in 10...40 { _ = try bed.daemon.run("volume", "\(volume)") }
    #expect(try bed.daemon.status()["state"] as? String == "playing")
    bus.thaw()
    try wait("volume") { $0.hasPrefix("0.4") }
    #expect(bed.daemon.program.lines(with: "cannot be used").count == 1)
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `whatever strangers call with, they are answered, and the music plays on`() throws {
    let bed = try bed()
    let before = try bed.daemon.program.descriptorCount()
    let long = String(repeating: "x", count: 100_000)
    let wrong: [(interface: String, arguments: [String])] = [
      (".Player", ["Seek", "s", "ten"]), (".Player", ["Seek"]), (".Player", ["Seek", "d", "nan"]),
      (".Player", ["Seek", "xx", "1", "2"]), (".Player", ["Next", "s", "now"]),
      (".Player", ["SetPosition", "sx", "one", "1"]), (".Player", ["SetPosition", "o", "/"]),
      (".Player", ["OpenUri", "i", "7"]), (".Player", ["OpenUri", "s", ""]),
      (".Player", ["OpenUri", "s", "file:///etc/passwd"]),
      (".Player", ["OpenUri", "s", "/etc/passwd"]), (".Player", ["OpenUri", "s", "alsa:hw:0"]),
      (".Player", ["OpenUri", "s", "http://user:word@host/"]),
      (".Player", ["OpenUri", "s", "http://a b/\n"]), (".Player", ["OpenUri", "s", long]),
      (".Player", ["Erase"]), (".TrackList", ["AddTrack", "sob", "a", "/", "true"]), ("", ["Next"]),
    ]
    for (interface, arguments) in wrong {
      let (lines, code) = try bus.call(Self.name, interface, arguments)
      #expect(code != 0, "\(arguments.prefix(3)): \(lines)")
    }
    // These are allowed, and do nothing.
    let idle: [(interface: String, arguments: [String])] = [
      (".Player", ["SetPosition", "ox", "/org/tutti/entry/999", "1"]),
      (".Player", ["SetPosition", "ox", "/", "9223372036854775807"]),
      (".Player", ["SetPosition", "ox", "/org/tutti/entry/1", "-9223372036854775808"]),
      ("", ["Raise"]), ("", ["Quit"]),
    ]
    for (interface, arguments) in idle {
      #expect(try bus.call(Self.name, interface, arguments).code == 0, "\(arguments)")
    }
    let settings: [[String]] = [
      ["Volume", "s", "loud"], ["Volume", "d", "nan"], ["Rate", "d", "nan"], ["Rate", "d", "-1"],
      ["Rate", "d", "1e300"], ["LoopStatus", "s", "Sometimes"], ["LoopStatus", "b", "true"],
      ["Shuffle", "i", "1"], ["Position", "x", "1"], ["Metadata", "a{sv}", "0"],
      ["PlaybackStatus", "s", "Stopped"], ["Speed", "d", "1"],
    ]
    for setting in settings {
      let (lines, code) = try bus.run(
        "busctl",
        [
          "--user", "set-property", Self.name, "/org/mpris/MediaPlayer2",
          "org.mpris.MediaPlayer2.Player",
        ] + setting)
      #expect(code != 0, "\(setting): \(lines)")
    }
    #expect(try bed.daemon.status()["state"] as? String == "playing")
    #expect(try bed.daemon.status()["itemCount"] as? Int == 3)
    #expect(try bed.daemon.program.descriptorCount() <= before + 2)
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `all that the specification has is there, of its type`() throws {
    let bed = try bed()
    let (lines, code) = try bus.run(
      "busctl", ["--user", "introspect", Self.name, "/org/mpris/MediaPlayer2"])
    #expect(code == 0)
    let facts = lines.map {
      $0.split(whereSeparator: \.isWhitespace).prefix(3).joined(separator: " ")
    }
    for fact in [
      ".CanQuit property b", ".CanRaise property b", ".HasTrackList property b",
      ".Identity property s", ".DesktopEntry property s", ".SupportedUriSchemes property as",
      ".SupportedMimeTypes property as", ".Raise method -", ".Quit method -",
      ".PlaybackStatus property s", ".LoopStatus property s", ".Rate property d",
      ".Shuffle property b", ".Metadata property a{sv}", ".Volume property d",
      ".Position property x", ".MinimumRate property d", ".MaximumRate property d",
      ".CanGoNext property b", ".CanGoPrevious property b", ".CanPlay property b",
      ".CanPause property b", ".CanSeek property b", ".CanControl property b", ".Next method -",
      ".Previous method -", ".Pause method -", ".PlayPause method -", ".Stop method -",
      ".Play method -", ".Seek method x", ".SetPosition method ox", ".OpenUri method s",
      ".Seeked signal x",
    ] { #expect(facts.contains(fact), "\(fact)") }
    let (all, _) = try bus.run(
      "busctl",
      [
        "--user", "call", Self.name, "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties",
        "GetAll", "s", "org.mpris.MediaPlayer2.Player",
      ])
    #expect(all.first?.hasPrefix("a{sv} 15 ") == true, "\(all)")
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `an address is opened as somebody on this machine may have it played`() throws {
    let bed = try bed()
    #expect(
      try bus.call(Self.name, ".Player", ["OpenUri", "s", "http://127.0.0.1:1/a.wav"]).code == 0)
    try bed.daemon.wait { try $0.status()["itemCount"] as? Int == 4 }
    #expect(try bed.daemon.stop() == 0)
  }

  @Test func `nothing is on the bus that nobody asked for`() throws {
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder, arguments: [], environment: bus.environment)
    _ = try daemon.run(["play"] + songs + ["--at", room.address])
    try room.program.line(with: "playing")
    #expect(
      try bus.run("busctl", ["--user", "list"]).lines.allSatisfy {
        !$0.contains("MediaPlayer2.tutti")
      })
    #expect(try daemon.stop() == 0)
  }

  @Test func `a player in a terminal is shown and steered, and a stop ends it`() throws {
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let player = try Program(
      "tutti",
      ["play"] + songs + ["--at", room.address, "--state-dir", folder.file("p"), "--mpris"],
      environment: bus.environment)
    try room.program.line(with: "playing")
    func ask(_ arguments: String...) throws -> String {
      try bus.run("playerctl", ["-p", "tutti"] + arguments).lines.joined(separator: "\n")
    }
    try wait("status", of: "tutti") { $0 == "Playing" }
    #expect(try bus.run("playerctl", ["-l"]).lines == ["tutti"])
    _ = try ask("next")
    try wait("metadata", "title", of: "tutti") { $0.hasPrefix("two") }
    _ = try ask("play-pause")
    try wait("status", of: "tutti") { $0 == "Paused" }
    _ = try ask("volume", "0.2")
    try wait("volume", of: "tutti") { $0.hasPrefix("0.2") }
    _ = try ask("position", "30")
    try wait("position", of: "tutti") { (Double($0) ?? 0) >= 30 }
    _ = try ask("loop", "Track")
    try wait("loop", of: "tutti") { $0 == "Track" }
    _ = try ask("shuffle", "On")
    try wait("shuffle", of: "tutti") { $0 == "On" }
    #expect(try ask("stop").isEmpty)
    #expect(try player.exitCode() == 0)
  }
}
