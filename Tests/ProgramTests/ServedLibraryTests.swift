import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of the daemon with a server of a library on this machine.
@Suite struct ServedLibraryTests {
  private static let password = "sesame-opens-all"
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A server that speaks Subsonic's interface, and keeps the requests that it gets.
  private final class Server: Sendable {
    struct State {
      var requests: [String] = []
      var songs: [String] = []
      var refuses = false
      var isEndless = false
    }

    let state = Mutex(State())
    private let http: Mutex<HostileServer?> = Mutex(nil)

    init(_ song: [UInt8], cover: [UInt8] = []) throws {
      let http = try HostileServer { [weak self] path in
        guard let self else { return nil }
        let state = state.withLock { state in
          state.requests.append(path)
          return state
        }
        if state.refuses { return .file(Self.answer("\"error\":{\"code\":40,\"message\":\"No\"}")) }
        if state.isEndless { return .endless(Array("{".utf8), Array(repeating: 32, count: 65_536)) }
        if path.contains("/search3.view") {
          let songs =
            path.contains("songOffset=0&") || path.hasSuffix("songOffset=0") ? state.songs : []
          return .file(
            Self.answer("\"searchResult3\":{\"song\":[\(songs.joined(separator: ","))]}", "ok"))
        }
        if path.contains("/download.view") { return .file(song) }
        if path.contains("/getCoverArt.view") { return .file(cover) }
        return path.contains("/scrobble.view") ? .file(Self.answer("\"x\":1", "ok")) : nil
      }
      self.http.withLock { $0 = http }
    }

    private static func answer(_ content: String, _ status: String = "failed") -> [UInt8] {
      Array("{\"subsonic-response\":{\"status\":\"\(status)\",\(content)}}".utf8)
    }

    var url: String { http.withLock { $0?.url("music") ?? "" } }

    func requests(_ method: String) -> [String] {
      state.withLock { $0.requests.filter { $0.contains("/rest/\(method).view?") } }
    }

    func add(_ id: String, _ title: String) {
      let song =
        "{\"id\":\"\(id)\",\"title\":\"\(title)\",\"artist\":\"Nina\",\"album\":\"Pastel\","
        + "\"suffix\":\"flac\",\"duration\":32,\"size\":9,\"coverArt\":\"c\(id)\"}"
      state.withLock { $0.songs.append(song) }
    }
  }

  private func configuration(_ server: Server) throws -> String {
    let password = try folder.write(Array("\(Self.password)\n".utf8), to: "password")
    let lines = [
      "[library Home]", "subsonic = \(server.url)", "user = anna", "password-file = \(password)",
      "",
    ]
    return try folder.write(Array(lines.joined(separator: "\n").utf8), to: "my.conf")
  }

  private func server() throws -> Server {
    try Recording(rate: 8_000, channels: 1, frames: 32 * 8_000).write(to: "a.flac", in: folder)
    return try Server(folder.bytes(of: "a.flac"))
  }

  @Test(.timeLimit(.minutes(5)))
  func `a server's songs are found, played, and told back, and its password goes nowhere`() throws {
    let server = try server()
    for (id, title) in [("1", "Sinnerman"), ("2", "Feeling")] { server.add(id, title) }
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder, "--config", try configuration(server))
    try daemon.program.line(with: "library Home: 127.0.0.1 has 2 songs")
    let address = server.url.dropFirst(7).prefix { $0 != "/" }
    #expect(try daemon.run("search", "sinner").contains { $0.contains("Sinnerman") })
    _ = try daemon.run("play", "--stay", "--at", room.address)
    _ = try daemon.run("search", "sinner", "--play", "1")
    try room.program.line(with: "playing")
    try daemon.wait { _ in !server.requests("scrobble").isEmpty }
    try daemon.wait { _ in
      server.requests("scrobble").contains {
        $0.contains("id=1&") && $0.contains("submission=true")
      }
    }
    #expect(server.requests("scrobble").count == 2)
    let status = try daemon.run("status", "--json") + daemon.run("queue")
    #expect(try daemon.stop() == 0)
    // Neither the password nor a proof or an address is told to anybody.
    for line in daemon.program.lines + status {
      #expect(
        !line.contains(Self.password) && !line.contains("&t=") && !line.contains("/rest/"),
        "\(line)")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("daemon"))
    for file in files where file.hasSuffix(".db") {
      let bytes = try folder.bytes(of: "daemon/\(file)")
      for secret in [Self.password, "&t=", String(address)] {
        #expect(bytes.firstRange(of: Array(secret.utf8)) == nil, "\(file)")
      }
    }
    #expect(server.state.withLock { $0.requests.allSatisfy { !$0.contains(Self.password) } })
  }

  @Test func `a server that refuses, or is away, is one line, and what is known stays`() throws {
    let server = try server()
    server.add("1", "Sinnerman")
    let config = try configuration(server)
    var daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(with: "library Home: 127.0.0.1 has 1 song")
    #expect(try daemon.stop() == 0)
    server.state.withLock { $0.refuses = true }
    daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(
      with: "library Home: it cannot be listed: the server refuses the user or the password (No)")
    #expect(try daemon.run("search", "sinner").contains { $0.contains("Sinnerman") })
    // The line may come a moment before the state that says the same.
    try daemon.wait { daemon in
      try daemon.run("folders").contains { $0.contains("Home") && $0.contains("not there") }
    }
    #expect(try daemon.stop() == 0)
    #expect(daemon.program.lines(with: "cannot be listed").count == 1)
  }

  @Test func `a server is added and removed while the daemon runs, and outlives it`() throws {
    let server = try server()
    server.add("1", "Sinnerman")
    var daemon = try Daemon(in: folder)
    func doctor() throws -> String {
      let command = try Program("tutti", ["doctor", "--state-dir", folder.file("daemon")])
      _ = try command.exitCode()
      return command.lines.joined(separator: "\n")
    }
    let port = try #require(server.url.firstMatch(of: /:(\d+)\//)?.1)
    let add = ["--add", "Home", "--subsonic", server.url, "--user", "anna"]
    server.state.withLock { $0.refuses = true }
    let refused = "127.0.0.1 gives no library: the server refuses the user or the password (No)"
    #expect(try servers(add).contains { $0.contains(refused) })
    #expect(try servers() == ["the library has no server; add one with: tutti servers --add NAME"])
    server.state.withLock { $0.refuses = false }
    _ = try servers(add)
    try daemon.program.line(with: "library Home: 127.0.0.1 has 1 song")
    #expect(try daemon.run("search", "sinner").contains { $0.contains("Sinnerman") })
    #expect(try servers().first?.contains(", 1 track") == true)
    #expect(try doctor().contains("127.0.0.1:\(port) gives its songs"))
    #expect(try daemon.stop() == 0)
    #expect(!daemon.program.lines.contains { $0.contains(Self.password) })
    server.state.withLock { $0.refuses = true }
    daemon = try Daemon(in: folder)
    try daemon.program.line(with: "library Home: it cannot be listed")
    #expect(try servers().first?.contains(", 1 track, not there since 20") == true)
    #expect(try doctor().contains(refused))
    #expect(try servers(["--remove", "Home"]).contains { $0.contains("out of the library") })
    #expect(
      try servers(["--remove", "Home"]).contains { $0.contains("is no server of the library") })
    #expect(try daemon.stop() == 0)
  }

  private func servers(_ words: [String] = []) throws -> [String] {
    let secret = try folder.write(Array("\(Self.password)\n".utf8), to: "typed")
    let command = try Program(
      "tutti", ["servers"] + words + ["--state-dir", folder.file("daemon")], input: secret)
    _ = try command.exitCode()
    return command.lines
  }

  @Test(.timeLimit(.minutes(5)))
  func `a server is told what is heard as soon as it is added`() throws {
    let server = try server()
    server.add("1", "Sinnerman")
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder)
    _ = try servers(["--add", "Home", "--subsonic", server.url, "--user", "anna"])
    try daemon.program.line(with: "library Home: 127.0.0.1 has 1 song")
    _ = try daemon.run("play", "--stay", "--at", room.address)
    _ = try daemon.run("search", "sinner", "--play", "1")
    try daemon.wait { _ in
      server.requests("scrobble").contains {
        $0.contains("id=1&") && $0.contains("submission=true")
      }
    }
    #expect(try daemon.stop() == 0)
    let told = "library Home: its server is told which of its songs are heard"
    #expect(daemon.program.lines(with: told).count == 1)
  }

  @Test func `a page that is too large, and silence, end at their limits`() throws {
    let server = try server()
    server.state.withLock { $0.isEndless = true }
    let config = try configuration(server)
    let daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(with: "library Home: it cannot be listed: it is larger than 8 MiB")
    #expect(try daemon.stop() == 0)

    let silent = try TestPeer { connection in while !connection.receive().isEmpty {} }
    let text = try String(contentsOfFile: config, encoding: .utf8)
    _ = try folder.write(
      Array(text.replacing(server.url, with: "http://\(silent.address)").utf8), to: "my.conf")
    let other = try Daemon(in: folder, "--config", config)
    try other.program.line(with: "library Home: it cannot be listed: ")
    let began = ContinuousClock.now
    #expect(try other.stop() == 0)
    #expect(ContinuousClock.now - began < .seconds(10))
    #expect(silent.connectionCount > 0)
  }
}
