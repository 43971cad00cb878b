import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of the daemon with a service of listens on this machine.
@Suite struct ScrobbleTests {
  private static let token = "0123abcd-secret-token"
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A listen, or what plays, as it came.
  private struct Told: Sendable {
    var type: String
    var title: String
    var artist: String
    var at: Int?
  }

  /// A service that keeps what it takes.
  private final class Service: Sendable {
    struct State {
      var told: [Told] = []
      var requestCount = 0
      /// Requests that have come, whatever the answer was.
      var heads: [String] = []
      var answer = "200 OK"
      var headers = ""
      var body: [UInt8] = []
      var hangs = false
    }

    let state = Mutex(State())
    private let peer: Mutex<TestPeer?> = Mutex(nil)

    init() throws {
      let peer = try TestPeer { [weak self] connection in
        var bytes: [UInt8] = []
        while true {
          let more = connection.receive()
          guard !more.isEmpty else { return }
          bytes += more
          if let request = Self.request(bytes) {
            self?.answer(request.head, request.body, connection)
            return
          }
        }
      }
      self.peer.withLock { $0 = peer }
    }

    var address: String { peer.withLock { $0?.address ?? "" } }

    private static func request(_ bytes: [UInt8]) -> (head: String, body: [UInt8])? {
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
      let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        .flatMap { Int($0.dropFirst(16)) }
      let body = Array(bytes[end.upperBound...])
      return body.count >= length ?? 0 ? (head, body) : nil
    }

    private func answer(_ head: String, _ body: [UInt8], _ connection: TestConnection) {
      let answer = state.withLock { state in
        state.requestCount += 1
        state.heads.append(head)
        if state.answer.hasPrefix("200") { state.told += Self.told(body) }
        return state
      }
      if answer.hangs { while !connection.receive().isEmpty {} }
      let text = "HTTP/1.1 \(answer.answer)\r\n\(answer.headers)Connection: close\r\n\r\n"
      connection.send(Array(text.utf8) + answer.body)
    }

    private static func told(_ body: [UInt8]) -> [Told] {
      let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      let payload = object?["payload"] as? [[String: Any]] ?? []
      return payload.map { one in
        let track = one["track_metadata"] as? [String: Any]
        return Told(
          type: object?["listen_type"] as? String ?? "",
          title: track?["track_name"] as? String ?? "",
          artist: track?["artist_name"] as? String ?? "", at: one["listened_at"] as? Int)
      }
    }

    var listens: [Told] { state.withLock { $0.told.filter { $0.type != "playing_now" } } }
    var present: [String] {
      state.withLock { $0.told.filter { $0.type == "playing_now" }.map(\.title) }
    }

    func set(_ answer: String, _ headers: String = "", body: [UInt8] = []) {
      state.withLock { ($0.answer, $0.headers, $0.body) = (answer, headers, body) }
    }
  }

  private func configuration(_ service: Service, _ more: String...) throws -> String {
    let token = try folder.write(Array("\(Self.token)\n".utf8), to: "token")
    let lines =
      [
        "[scrobble Test]", "service = listenbrainz", "url = http://\(service.address)/api",
        "token-file = \(token)",
      ] + more
    return try folder.write(Array((lines + [""]).joined(separator: "\n").utf8), to: "my.conf")
  }

  private func song(_ title: String, seconds: Int = 32) throws -> String {
    let sound = Recording(rate: 8_000, channels: 1, frames: seconds * 8_000)
    return try sound.write(
      to: "\(title).flac", ["-metadata", "title=\(title)", "-metadata", "artist=Nina"], in: folder)
  }

  /// Returns once it is so; the daemon tells of it by its state or its log.
  private func wait(
    _ daemon: Daemon, _ service: Service, until isSo: @escaping () -> Bool
  ) throws {
    do {
      try daemon.wait { _ in isSo() }
    } catch {
      let told = service.state.withLock { $0.told }
      throw Missing(description: "\(error); it has: \(told); \(daemon.program.lines)")
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `what is heard arrives once, though the daemon is killed and stopped`() throws {
    let service = try Service()
    let config = try configuration(service)
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let other = try ReceiverProgram("b", in: folder, "--output", "null")
    var daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(with: "scrobbling Test is on: what is heard goes to http://127.0.0.1")
    // A busy machine takes a while to start a daemon anew.
    let songs = try [("One", 80), ("Two", 80), ("Three", 40), ("Four", 60)].map {
      try song($0.0, seconds: $0.1)
    }
    _ = try daemon.run(["play"] + songs + ["--at", room.address, "--at", other.address])
    try wait(daemon, service) { service.present == ["One"] }
    service.set("500 Internal Server Error")
    try daemon.program.line(with: "listens cannot be sent: the service answers HTTP 500")
    #expect(service.listens.isEmpty)
    daemon.kill()

    service.set("200 OK")
    daemon = try Daemon(in: folder, "--config", config)
    try wait(daemon, service) { service.listens.count == 1 }
    #expect(service.listens.map(\.title) == ["One"])
    // The rest of the first track is not needed.
    _ = try daemon.run("next")
    try daemon.wait { try $0.status()["title"] as? String == "Two" }
    _ = try daemon.run("next")
    try wait(daemon, service) { service.present.last == "Three" }
    try daemon.wait { (try $0.status()["positionS"] as? Double ?? 0) > 12 }
    #expect(try daemon.stop() == 0)
    daemon = try Daemon(in: folder, "--config", config)
    try wait(daemon, service) { service.listens.count == 2 }
    try wait(daemon, service) { service.present.last == "Four" }
    daemon.kill()
    daemon = try Daemon(in: folder, "--config", config)
    try wait(daemon, service) { service.listens.count == 3 }
    try daemon.wait { try $0.status()["state"] as? String != "playing" }
    #expect(try daemon.stop() == 0)
    #expect(service.listens.map(\.title) == ["One", "Three", "Four"])
    #expect(service.present == ["One", "Three", "Four"])
    #expect(service.listens.allSatisfy { $0.artist == "Nina" })
    let now = Int(Date().timeIntervalSince1970)
    #expect(service.listens.allSatisfy { (now - 240...now).contains($0.at ?? 0) })
    let heads = service.state.withLock { $0.heads }
    #expect(heads.allSatisfy { $0.hasPrefix("POST /api/1/submit-listens HTTP/1.1\r\n") })
    #expect(heads.allSatisfy { $0.contains("\r\nAuthorization: Token \(Self.token)") })
    #expect(daemon.program.lines.allSatisfy { !$0.contains(Self.token) })
  }

  @Test func `a token that is not there is told at the start`() throws {
    let config = try configuration(try Service())
    let token = folder.file("token")
    try FileManager.default.removeItem(atPath: token)
    let daemon = try Daemon(in: folder, "--config", config)
    try daemon.program.line(
      with: "scrobbling Test: listens cannot be sent: there is no file \(token); they are kept")
    #expect(try daemon.stop() == 0)
  }

  @Test(.timeLimit(.minutes(5)))
  func `each way in which a service fails is one line, and the token goes nowhere else`() throws {
    let (service, stranger) = (try Service(), try Service())
    let config = try configuration(service)
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    service.set("302 Found", "Location: http://\(stranger.address)/x\r\n")
    let daemon = try Daemon(in: folder, "--config", config)
    _ = try daemon.run("play", try song("Long", seconds: 40), "--at", room.address)
    try daemon.program.line(with: "the service has moved (HTTP 302), and is not followed")
    service.set("401 Unauthorized")
    try daemon.program.line(with: "the service refuses the token; get a new one there, and write")
    service.set("200 OK", body: [UInt8](repeating: 32, count: 10 << 20))
    try daemon.program.line(with: "scrobbling Test: listens are taken again")
    #expect(stranger.state.withLock { $0.requestCount } == 0)
    #expect(daemon.program.lines(with: "moved").count == 1)
    #expect(try daemon.stop() == 0)
    #expect(daemon.program.lines.allSatisfy { !$0.contains(Self.token) })
  }

  @Test(.timeLimit(.minutes(5)))
  func `stations, and rooms that are not named, are told to nobody; a hang holds up nothing`()
    throws
  {
    let service = try Service()
    let config = try configuration(service, "groups = b")
    let room = try ReceiverProgram("a", in: folder, "--output", "null")
    let other = try ReceiverProgram("b", in: folder, "--output", "null")
    let path = try song("Station", seconds: 60)
    let bytes = try folder.bytes(of: "Station.flac")
    let server = try HostileServer { _ in .file(bytes) }
    let daemon = try Daemon(in: folder, "--config", config)
    _ = try daemon.run("play", path, "--at", room.address)
    _ = try daemon.run("play", server.url("a.flac"), "--at", other.address)
    try daemon.wait { (try $0.status("--group", "a")["positionS"] as? Double ?? 0) > 12 }
    try daemon.wait { (try $0.status("--group", "b")["positionS"] as? Double ?? 0) > 12 }
    #expect(service.state.withLock { $0.requestCount } == 0)
    service.state.withLock { $0.hangs = true }
    _ = try daemon.run("play", try song("Hung"), "--on", "b")
    try wait(daemon, service) { service.state.withLock { $0.requestCount } > 0 }
    let began = ContinuousClock.now
    #expect(try daemon.stop() == 0)
    #expect(ContinuousClock.now - began < .seconds(10))
  }
}
