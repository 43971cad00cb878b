import Foundation
import TestSupport
import Testing

/// Tests of terminal commands for orders that once only the page could give.
@Suite struct HouseCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a terminal undoes, sleeps, merges and names what cannot be done`() throws {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder, "--output", "null") }
    let daemon = try Daemon(in: folder)
    for room in rooms {
      let path = try folder.write(
        Tone.wave(rate: 8_000, seconds: 90, channels: 1), to: "\(room.port).wav")
      _ = try daemon.run("play", path, "--at", room.address)
      try room.program.line(with: "playing")
    }
    #expect(try daemon.run("clear") == ["b: 1 item removed"])
    #expect(try daemon.run("undo") == ["b: undone: cleared 1 item"])
    #expect(try daemon.run("queue").count == 2)
    #expect(try daemon.run("sleep", "30") == ["b: music pauses in 30:00"])
    #expect(try daemon.run("status", "--group", "b").contains { $0.hasPrefix("sleeps   in ") })
    #expect(try daemon.run("groups").contains { $0.contains("sleeps in ") })
    let until = try daemon.run("sleep", "23:30").first?.split(separator: " ").last ?? ""
    #expect(until.split(separator: ":").count >= 2 && until != "0:00")
    #expect(try daemon.run("sleep", "off") == ["b: the sleep timer is off"])
    #expect(try daemon.run("merge", "b", "--group", "a") == ["b joins a"])
    try daemon.wait { try $0.rooms("--group", "a") == ["a": "playing", "b": "playing"] }
    #expect(try daemon.run("identify", "b") == ["b shows itself"])
    _ = try daemon.run("volume", "30", "--on", "a,b")
    #expect(try daemon.run("scenes", "save", "Both", "--group", "a") == ["Both: a 30, b 30"])
    #expect(try daemon.run("join", "--at", rooms[1].address, "--instead") == ["in b"])
    try daemon.wait { try $0.rooms("--group", "b") == ["b": "playing"] }
    #expect(try daemon.run("scenes", "recall", "both") == ["Both: a 30, b 30"])
    try daemon.wait { try $0.rooms("--group", "a") == ["a": "playing", "b": "playing"] }
    #expect(try daemon.run("scenes", "remove", "Both") == ["Both: removed"])
    #expect(try daemon.run("scenes") == ["there are no scenes"])
    _ = try daemon.run("add", "http://192.0.2.1/radio", "--at", "1")
    #expect(
      try daemon.run("save", "Mine") == [
        "Mine: 1 of 2 items saved; files outside the library cannot be kept in playlists"
      ])
    #expect(try daemon.run("clear", "--others") == ["a + b: 1 item removed"])
    #expect(try daemon.run("search", "min") == ["1  Mine, 1 item (playlist)"])
    #expect(try daemon.run("search", "nothing like it") == ["nothing is called nothing like it"])
    #expect(try daemon.run("search", "mine", "--add", "1") == ["a + b: Mine is added"])
    #expect(try daemon.run("search", "mine", "--play", "1") == ["plays Mine in a + b"])
    #expect(try daemon.run("queue").count == 2)
    // The group that it needs is made.
    #expect(
      try daemon.run("search", "mine", "--play", "1", "--on", "b") == ["plays Mine in b"])
    #expect(throws: Daemon.Refused.self) {
      try daemon.run("search", "mine", "--add", "1", "--on", "b")
    }
    #expect(try daemon.stop() == 0)
  }

  @Test func `a terminal stops all groups at once, or lets them sleep`() throws {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder, "--output", "null") }
    let daemon = try Daemon(in: folder)
    for room in rooms {
      let path = try folder.write(
        Tone.wave(rate: 8_000, seconds: 90, channels: 1), to: "\(room.port).wav")
      _ = try daemon.run("play", path, "--at", room.address)
      try room.program.line(with: "playing")
    }
    func stop(_ options: String...) throws -> [String] {
      try daemon.run(["stop", "--everywhere"] + options)
    }
    #expect(try stop("--in", "30") == ["2 groups pause in 30:00"])
    #expect(try stop("--in", "off") == ["2 sleep timers are off"])
    for wrong in [
      ["--in", "soon"], ["--in", "1561"], ["--in", "-1"], ["--on", "a"], ["--all"], ["--daemon"],
      ["--group", "a"], ["--at", rooms[0].address],
    ] { #expect(throws: Daemon.Refused.self) { try daemon.run(["stop", "--everywhere"] + wrong) } }
    for wrong in [["--in", "30"], ["--in", "30", "--on", "a"], ["--in", "30", "--daemon"]] {
      #expect(throws: Daemon.Refused.self) { try daemon.run(["stop"] + wrong) }
    }
    for name in ["a", "b"] {
      try daemon.wait { try $0.rooms("--group", name) == [name: "playing"] }
    }
    #expect(try stop() == ["2 groups stop"])
    #expect(try daemon.status("--group", "a")["state"] as? String == "stopped")
    #expect(try stop() == ["nothing plays"])
    #expect(try daemon.stop() == 0)
  }

  @Test func `a terminal keeps stations, playlists and favourites, and lets them go`() throws {
    let daemon = try Daemon(in: folder)
    #expect(try daemon.run("radio").count == 1)
    let address = "http://192.0.2.1/jazz"
    #expect(
      try daemon.run("radio", "--keep", address, "--name", "Jazz") == ["Jazz is a station now"])
    #expect(try daemon.run("radio") == ["1  Jazz, \(address) (radio)"])
    #expect(try daemon.run("search", "jazz", "--favour", "1") == ["Jazz is a favourite"])
    #expect(try daemon.run("favourites") == ["1  Jazz (radio)"])
    #expect(try daemon.run("favourites", "--remove", "1") == ["Jazz is no favourite any more"])
    #expect(
      try daemon.run("favourites") == [
        "no favourite yet; add one with: tutti search WORDS --favour 1"
      ])
    #expect(try daemon.run("radio", "--remove", "1") == ["Jazz is removed"])
    #expect(try daemon.run("radio").count == 1)
    let stations = ["Rock", "Swing"].map { "#EXTINF:-1,\($0)\nhttp://192.0.2.1/\($0)\n" }
    let list = try folder.write(stations.joined().utf8, to: "stations.m3u")
    #expect(
      try daemon.run("radio", "--keep", list)
        == ["Rock is a station now", "Swing is a station now"])
    let mixed = "/music/a.flac\n#EXTINF:-1,Soul\nhttp://192.0.2.1/soul\n"
    let other = try folder.write(mixed.utf8, to: "mixed.m3u")
    #expect(throws: Daemon.Refused.self) { try daemon.run("radio", "--keep", other) }
    for name in ["Rock", "Soul", "Swing"] {
      #expect(try daemon.run("radio", "--remove", "1") == ["\(name) is removed"])
    }
    #expect(try daemon.run("playlists").count == 1)
    for name in ["Jazz", "Blues"] {
      _ = try daemon.run("radio", "--keep", "http://192.0.2.1/\(name)", "--name", name)
      #expect(
        try daemon.run("search", name, "--add", "1", "--into", "Sunday") == ["\(name) is in Sunday"]
      )
    }
    #expect(try daemon.run("playlists") == ["1  Sunday, 2 items (playlist)"])
    func contents() throws -> [String] { try daemon.run("playlists", "--show", "1") }
    #expect(try contents() == ["1  Jazz (radio)", "2  Blues (radio)"])
    #expect(
      try daemon.run("playlists", "--show", "1", "--move", "2", "--to", "1")
        == ["Sunday: Blues is number 1"])
    #expect(try contents() == ["1  Blues (radio)", "2  Jazz (radio)"])
    #expect(
      try daemon.run("playlists", "--show", "1", "--drop", "2") == ["Sunday: Jazz is taken out"])
    #expect(
      try daemon.run("playlists", "--rename", "1", "--name", "Monday")
        == ["Sunday is called Monday now"])
    #expect(try daemon.run("playlists") == ["1  Monday, 1 item (playlist)"])
    for wrong in [
      ["--show", "2"], ["--show", "1", "--drop", "2"], ["--drop", "1"], ["--move", "1"],
      ["--show", "1", "--move", "1", "--to", "9"], ["--rename", "1"], ["--into", "x"],
      ["--rename", "1", "--name", ""], ["--show", "1", "--remove", "1"],
      ["--rename", "1", "--name", "x", "--remove", "1"],
    ] { #expect(throws: (any Error).self) { try daemon.run(["playlists"] + wrong) } }
    for number in ["2", "1"] { _ = try daemon.run("radio", "--remove", number) }
    for wrong in [
      ["--remove", "1"], ["--keep", "file:///etc/passwd"], ["--name", "x"],
      ["--keep", address, "--play", "1"], ["--play", "1", "--add", "1"],
    ] { #expect(throws: (any Error).self) { try daemon.run(["radio"] + wrong) } }
    #expect(try daemon.stop() == 0)
  }
}
