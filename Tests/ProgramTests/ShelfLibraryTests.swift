import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of the daemon with a media server of UPnP on this machine.
@Suite struct ShelfLibraryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A media server that has one page of songs, and keeps the first lines of requests and their actions.
  private final class Server: Sendable {
    struct State {
      var requests: [String] = []
      var songs: [String] = []
      /// In place of all answers.
      var answer: [UInt8]?
      /// Where songs are sent to.
      var redirect: String?
    }

    let state = Mutex(State())
    private let peer: Mutex<TestPeer?> = Mutex(nil)

    init(_ song: [UInt8]) throws {
      let peer = try TestPeer { [weak self] connection in
        var request = ""
        while !Self.isWhole(request) {
          let bytes = connection.receive()
          guard !bytes.isEmpty else { return }
          request += String(decoding: bytes, as: UTF8.self)
        }
        guard let self else { return }
        let state = state.withLock { state in
          state.requests.append(String(request.prefix { $0 != "\r\n" }))
          return state
        }
        connection.send(state.answer ?? answer(request, state, song))
      }
      self.peer.withLock { $0 = peer }
    }

    private static func isWhole(_ request: String) -> Bool {
      guard let end = request.firstRange(of: "\r\n\r\n") else { return false }
      let length = request.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
      return request[end.upperBound...].utf8.count >= length
    }

    var authority: String { peer.withLock { $0?.address ?? "" } }
    var url: String { "http://\(authority)/rootDesc.xml" }

    private func answer(_ request: String, _ state: State, _ song: [UInt8]) -> [UInt8] {
      if request.hasPrefix("GET /rootDesc.xml ") { return Self.http(Self.description) }
      if request.hasPrefix("GET /song/") {
        if let place = state.redirect {
          return Array("HTTP/1.1 302 Found\r\nLocation: \(place)\r\nConnection: close\r\n\r\n".utf8)
        }
        return Self.http(song)
      }
      guard request.hasPrefix("POST /ctl ") else { return Self.http([], "404 Not Found") }
      if request.contains("#GetSearchCapabilities\"") {
        return Self.http(Self.soap("<SearchCaps>upnp:class</SearchCaps>"))
      }
      let songs = request.contains("<StartingIndex>0<") ? state.songs : []
      let list =
        "<DIDL-Lite xmlns=\"urn:schemas-upnp-org:metadata-1-0/DIDL-Lite/\" "
        + "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
        + "xmlns:upnp=\"urn:schemas-upnp-org:metadata-1-0/upnp/\">\(songs.joined())</DIDL-Lite>"
      let escaped = list.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      return Self.http(
        Self.soap("<Result>\(escaped)</Result><TotalMatches>\(state.songs.count)</TotalMatches>"))
    }

    private static let description = Array(
      """
      <root xmlns="urn:schemas-upnp-org:device-1-0"><device><serviceList><service>
      <serviceType>urn:schemas-upnp-org:service:ContentDirectory:1</serviceType>
      <controlURL>/ctl</controlURL></service></serviceList></device></root>
      """.utf8)

    private static func soap(_ content: String) -> [UInt8] {
      Array(
        """
        <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>
        <u:Response xmlns:u="urn:schemas-upnp-org:service:ContentDirectory:1">\(content)</u:Response>
        </s:Body></s:Envelope>
        """.utf8)
    }

    static func http(_ body: [UInt8], _ status: String = "200 OK") -> [UInt8] {
      Array(
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n".utf8)
        + body
    }

    func add(_ id: String, _ title: String, at address: String? = nil) {
      let place = address ?? "http://\(authority)/song/\(id).flac"
      let song =
        "<item id=\"\(id)\"><dc:title>\(title)</dc:title><upnp:artist>Nina</upnp:artist>"
        + "<upnp:album>Pastel</upnp:album><upnp:class>object.item.audioItem.musicTrack</upnp:class>"
        + "<res duration=\"0:00:32.000\" protocolInfo=\"http-get:*:audio/x-flac:*\">\(place)</res></item>"
      state.withLock { $0.songs.append(song) }
    }

    func count(_ beginning: String) -> Int {
      state.withLock { $0.requests.count { $0.hasPrefix(beginning) } }
    }
  }

  private func configuration(_ server: Server) throws -> String {
    let lines = ["[library Loft]", "upnp = \(server.url)", ""]
    return try folder.write(Array(lines.joined(separator: "\n").utf8), to: "my.conf")
  }

  private func server() throws -> Server {
    try Recording(rate: 8_000, channels: 1, frames: 32 * 8_000).write(to: "a.flac", in: folder)
    return try Server(folder.bytes(of: "a.flac"))
  }

  @Test(.timeLimit(.minutes(5)))
  func `a media server's songs are found and played, and nobody is sent elsewhere`() throws {
    let server = try server()
    let other = try HostileServer { _ in .file([1, 2, 3]) }
    for (id, title) in [("1", "Sinnerman"), ("2", "Feeling")] { server.add(id, title) }
    server.add("3", "Elsewhere", at: other.url("song.flac"))
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let daemon = try Daemon(in: folder, "--config", try configuration(server))
    try daemon.program.line(with: "library Loft: 127.0.0.1 has 2 songs")
    _ = try daemon.run("play", "--stay", "--at", room.address)
    _ = try daemon.run("search", "sinner", "--play", "1")
    try room.program.line(with: "playing")
    #expect(server.count("GET /song/1.flac ") > 0)
    server.state.withLock { $0.redirect = other.url("song.flac") }
    _ = try daemon.run("search", "feeling", "--play", "1")
    try daemon.wait { _ in server.count("GET /song/2.flac ") > 0 }
    try daemon.program.line(with: "skipped: library:Loft")
    #expect(try daemon.stop() == 0)
    #expect(other.requestCount == 0)
  }

  @Test func `a media server that is broken or away is one line, and what is known stays`() throws {
    let server = try server()
    server.add("1", "Sinnerman")
    let config = try configuration(server)
    var daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(with: "library Loft: 127.0.0.1 has 1 song")
    #expect(try daemon.stop() == 0)
    let laughs = "<!DOCTYPE x [<!ENTITY a \"ha\">]><x>&a;</x>"
    server.state.withLock { $0.answer = Server.http(Array(laughs.utf8)) }
    daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(
      with: "library Loft: it cannot be listed: this is no description of a device: it declares")
    #expect(try daemon.run("search", "sinner").contains { $0.contains("Sinnerman") })
    #expect(try daemon.run("folders").contains { $0.contains("Loft") && $0.contains("not there") })
    #expect(try daemon.stop() == 0)
    #expect(daemon.program.lines(with: "cannot be listed").count == 1)
  }
}
