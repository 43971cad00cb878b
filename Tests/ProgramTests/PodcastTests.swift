import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of podcasts from a terminal, with a feed on this machine.
@Suite struct PodcastTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func feed(
    _ numbers: ClosedRange<Int>, at url: String, picture: String = ""
  ) -> [UInt8] {
    let items = numbers.reversed().map { number in
      """
      <item><title>No. \(number)</title><guid>g\(number)</guid>
      <pubDate>\(number) Jan 2024 00:00 GMT</pubDate><itunes:duration>30:00</itunes:duration>
      <enclosure url="\(url)" type="audio/wav"/></item>
      """
    }
    let image = "<itunes:image href='\(picture)'/>"
    return Array("<rss><channel><title>Daily</title>\(image)\(items.joined())</channel></rss>".utf8)
  }

  @Test func `a terminal subscribes, plays where it was left, marks and unsubscribes`() throws {
    let sound = Tone.wave(rate: 8_000, seconds: 1_800, channels: 1)
    let last = Mutex(2)
    let address = Mutex("")
    let server = try HostileServer { path in
      switch path {
      case "/feed": .file(Self.feed(1...last.withLock { $0 }, at: address.withLock { $0 }))
      case "/moved": .redirect("/feed")
      case "/laughs": .file(Array("<!DOCTYPE a [<!ENTITY b 'b'>]><rss>&b;</rss>".utf8))
      case "/endless": .endless(Array("<rss><channel>".utf8), Array(repeating: 32, count: 65_536))
      case "/words": .file(Array("<html><body>Hello</body></html>".utf8))
      case "/one.wav": .file(sound)
      default: nil
      }
    }
    address.withLock { $0 = server.url("one.wav") }
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder)
    func podcasts(_ words: String...) throws -> [String] { try daemon.run(["podcasts"] + words) }
    #expect(try podcasts().count == 1)
    // A busy machine says first what it waits for.
    #expect(
      try podcasts("--subscribe", server.url("moved")).last == "subscribed to Daily, 2 episodes")
    #expect(try podcasts() == ["1  Daily, 1 new (podcast)"])
    #expect(try podcasts("--show", "1") == ["1  No. 2, new (episode)", "2  No. 1 (episode)"])
    for (path, reason) in [
      ("laughs", "entities"), ("endless", "larger than 16 MiB"), ("words", "no feed"),
      ("none", "404"),
    ] {
      #expect { try podcasts("--subscribe", server.url(path)) } throws: {
        "\($0)".contains("this feed cannot be read") && "\($0)".contains(reason)
      }
    }
    #expect(throws: (any Error).self) { try podcasts("--subscribe", "file:///etc/passwd") }

    _ = try daemon.run("play", "--stay", "--at", room.address)
    #expect(try podcasts("--play", "1") == ["plays No. 2 in a"])
    try room.program.line(with: "playing")
    _ = try daemon.run("seek", "20:00")
    // Until the seek is heard, the place is the one before it.
    try daemon.wait { daemon in
      let said = try daemon.run("status").joined()
      return (1...9).contains { said.contains("20:0\($0)") }
    }
    _ = try daemon.run("clear")
    try daemon.wait { try $0.run("podcasts", "--show", "1")[0].contains("at 20:0") }
    #expect(try podcasts() == ["1  Daily (podcast)"])
    #expect(try podcasts("--show", "1", "--play", "1") == ["plays No. 2 in a"])
    try daemon.wait { try $0.run("status").contains { $0.contains("20:") } }

    last.withLock { $0 = 3 }
    #expect(try podcasts("--refresh") == ["looks for new episodes"])
    try daemon.wait { try $0.run("podcasts") == ["1  Daily, 1 new (podcast)"] }
    #expect(try podcasts("--show", "1", "--played", "1") == ["No. 3 is played"])
    #expect(try podcasts("--show", "1")[0] == "1  No. 3, played (episode)")
    #expect(try podcasts("--show", "1", "--unplayed", "1") == ["No. 3 is not played"])
    #expect(try podcasts("--show", "1", "--add", "1") == ["a: No. 3 is added"])
    for wrong in [
      ["--show", "2"], ["--show", "1", "--play", "9"], ["--played", "1"], ["--play", "2"],
      ["--show", "1", "--refresh"], ["--unsubscribe", "1", "--refresh"],
      ["--show", "1", "--played", "1", "--unplayed", "1"],
    ] { #expect(throws: (any Error).self) { try daemon.run(["podcasts"] + wrong) } }
    #expect(try podcasts("--unsubscribe", "1") == ["unsubscribed from Daily"])
    #expect(try podcasts().count == 1)
    #expect(try daemon.stop() == 0)
  }

  @Test func `a page shows the picture that the feed names, and no bytes that are none`() throws {
    let path = folder.file("picture.png")
    let program = try Process.run(
      URL(filePath: "/usr/bin/ffmpeg"),
      arguments: [
        "-v", "error", "-f", "lavfi", "-i", "testsrc=size=1600x800", "-frames:v", "1", path,
      ])
    program.waitUntilExit()
    let picture = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let address = Mutex("")
    let server = try HostileServer { path in
      let address = address.withLock { $0 }
      func feed(_ name: String) -> HostileServer.Answer {
        .file(Self.feed(1...1, at: "http://a.example/", picture: address + name))
      }
      return switch path {
      case "/whole": feed("p.png")
      case "/words": feed("words.png")
      case "/p.png": .file(picture)
      case "/words.png": .file(Array("<script>alert(1)</script>".utf8))
      default: nil
      }
    }
    address.withLock { $0 = server.url("") }
    let daemon = try Daemon(in: folder)
    let port = try daemon.port()
    func page(_ path: String) throws -> [UInt8] {
      let connection = try #require(TestConnection(port: port))
      let head = "GET /api/v1/\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
      connection.send(Array((head + "Connection: close\r\n\r\n").utf8))
      return connection.receiveAll()
    }
    var answers: [[UInt8]] = []
    for name in ["whole", "words"] {
      _ = try daemon.run("podcasts", "--subscribe", server.url(name))
      let text = String(decoding: try page("library/podcasts"), as: UTF8.self)
      let hash = try #require(text.components(separatedBy: #""artwork":""#).last?.prefix(32))
      try daemon.wait { _ in
        answers.append(try page("artwork/\(hash)"))
        return !answers[answers.count - 1].starts(with: Array("HTTP/1.1 503".utf8))
      }
      _ = try daemon.run("podcasts", "--unsubscribe", "1")
    }
    let heads = answers.map { String(decoding: $0.prefix(600), as: UTF8.self) }
    let made = heads.filter { $0.hasPrefix("HTTP/1.1 200 ") }
    #expect(made.count == 1 && made.first?.contains("image/") == true, "\(heads)")
    #expect(heads.last?.hasPrefix("HTTP/1.1 404 ") == true, "\(heads)")
    #expect(try daemon.stop() == 0)
  }

  @Test func `an episode whose turn comes begins where it was left, also after a restart`() throws {
    let sound = Tone.wave(rate: 8_000, seconds: 1_800, channels: 1)
    let address = Mutex("")
    let server = try HostileServer { path in
      switch path {
      case "/feed": .file(Self.feed(1...1, at: address.withLock { $0 }))
      case "/one.wav": .file(sound)
      default: nil
      }
    }
    address.withLock { $0 = server.url("one.wav") }
    let song = try folder.write(Tone.wave(rate: 8_000, seconds: 20, channels: 1), to: "song.wav")
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    var daemon = try Daemon(in: folder)
    _ = try daemon.run("podcasts", "--subscribe", server.url("feed"))
    _ = try daemon.run("play", "--stay", "--at", room.address)
    _ = try daemon.run("podcasts", "--play", "1")
    try room.program.line(with: "playing")
    _ = try daemon.run("seek", "20:00")
    try daemon.wait { (try $0.status()["positionS"] as? Double ?? 0) > 1_200 }
    _ = try daemon.run("clear")
    try daemon.wait { try $0.run("podcasts", "--show", "1")[0].contains("at 20:0") }
    #expect(try daemon.stop() == 0)

    daemon = try Daemon(in: folder)
    _ = try daemon.run("play", song)
    // The queue gets its address alone, and no place with it.
    _ = try daemon.run("add", server.url("one.wav"))
    _ = try daemon.run("seek", "0:19")
    try daemon.wait { (try $0.status()["positionS"] as? Double ?? 0) > 1_200 }
    #expect(try daemon.stop() == 0)
  }
}
