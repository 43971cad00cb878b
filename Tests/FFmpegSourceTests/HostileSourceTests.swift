import Foundation
import Sender
import Synchronization
import TestSupport
import Testing

@testable import FFmpegSource

@Suite struct HostileSourceTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private final class Count: Sendable {
    private let number = Atomic<Int>(0)
    func add() { number.wrappingAdd(1, ordering: .relaxed) }
    var value: Int { number.load(ordering: .relaxed) }
  }

  /// Returns the error of opening and reading a few frames.
  private func refusal(_ open: () throws(MediaError) -> any MediaSource) -> MediaError? {
    do throws(MediaError) {
      let source = try open()
      var frames: [Float] = []
      for _ in 0..<10 { try source.read(4_096, appendingTo: &frames) }
      return nil
    } catch {
      return error
    }
  }

  private func network(
    _ url: String, _ opening: OpeningLimits = OpeningLimits()
  ) throws(MediaError) -> any MediaSource {
    var settings = NetworkSettings.withoutPauses
    settings.opening = opening
    return try NetworkSource(url: url, settings: settings, interruption: interruption)
  }

  @Test(.timeLimit(.minutes(3)), arguments: Attack.lists)
  func `what names itself or others is refused when it is served`(attack: Attack) throws {
    let count = Count()
    let files = attack.files
    let server = try TestServer { request, connection in
      count.add()
      guard let file = files.first(where: { "/" + $0.name == request.path }) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: Array(file.text.utf8), from: request.rangeStart)
    }
    defer { server.stop() }
    let error = try #require(
      refusal { () throws(MediaError) in try network(server.url(files[0].name)) })
    #expect(!error.hasSounded)
    #expect(!"\(error)".contains("\n"))
    #expect(count.value <= OpeningLimits().requests + 1)
  }

  @Test(.timeLimit(.minutes(3)), arguments: Attack.lists)
  func `what names itself or others is refused as a file`(attack: Attack) throws {
    for file in attack.files { try folder.write(Array(file.text.utf8), to: file.name) }
    let path = folder.file(attack.files[0].name)
    let error = try #require(refusal { () throws(MediaError) in try FileSource(path: path) })
    guard case .notAudio = error else { throw error }
    #expect("\(error)".hasPrefix(path))
    #expect(throws: MediaError.self) { try FileTags(path: path) }
  }

  /// Sound in a format that opens nothing else, so that nothing but the list of formats can refuse it.
  @Test func `a format that is not in the list of formats is refused by that alone`() throws {
    let name = "a.nut"
    try Recording(frames: 50_000).write(to: name, in: folder)
    let (path, bytes) = (folder.file(name), try folder.bytes(of: name))
    let reason = "it is of a kind that Tutti does not play"
    let server = try TestServer { request, connection in
      connection.send(file: bytes, from: request.rangeStart)
    }
    defer { server.stop() }
    let url = server.url(name)
    #expect(
      refusal { () throws(MediaError) in try network(url) } == .notAudio(path: url, reason: reason))
    #expect(server.requestCount(of: name) == 1)
    #expect(
      refusal { () throws(MediaError) in try FileSource(path: path) }
        == .notAudio(path: path, reason: reason))
    let handle = try FileHandle(forReadingFrom: URL(filePath: path))
    #expect(
      refusal { () throws(MediaError) in
        try StreamSource(descriptor: handle.fileDescriptor, interruption: interruption)
      } == .notAudio(path: "standard input", reason: reason))
    #expect(throws: MediaError.self) { try FileTags(path: path) }
  }

  @Test func `a pattern of names of pictures opens nothing`() throws {
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "color=red", "-frames:v", "1", folder.file("a1.png")])
    let path = try folder.write(try folder.bytes(of: "a1.png"), to: "a%d.png")
    guard case .notAudio? = refusal({ () throws(MediaError) in try FileSource(path: path) }) else {
      throw MediaError.notFound(path: "a refusal")
    }
  }

  @Test func `a list of qualities without end is given up after a number of requests`() throws {
    let count = Count()
    let server = try TestServer { request, connection in
      count.add()
      let number = Int(request.path.filter(\.isNumber)) ?? 0
      let list = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(number + 1).m3u8\n"
      connection.send(file: Array(list.utf8), from: request.rangeStart)
    }
    defer { server.stop() }
    let error = try #require(
      refusal { () throws(MediaError) in try network(server.url("0.m3u8")) })
    #expect("\(error)".contains("more than 256 addresses"))
    #expect(count.value <= 257)
  }

  @Test func `a list of ten thousand qualities is given up after a number of requests`() throws {
    let count = Count()
    let lines = (0..<10_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($0)\n" }
    let list = Array(("#EXTM3U\n" + lines.joined()).utf8)
    let server = try TestServer { request, connection in
      count.add()
      guard request.path == "/m.m3u8" else { return connection.head("404 Not Found") }
      connection.send(file: list, from: request.rangeStart)
    }
    defer { server.stop() }
    #expect(refusal { () throws(MediaError) in try network(server.url("m.m3u8")) } != nil)
    #expect(count.value <= 257)
  }

  @Test func `tags without end are given up after a number of bytes`() throws {
    let server = try TestServer { request, connection in
      connection.head("200 OK", ["Content-Type: audio/mpeg"])
      // A tag of 255 MB.
      connection.send(Array("ID3".utf8) + [4, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F])
      connection.send(Array("APIC".utf8) + [0x7F, 0x7F, 0x7F, 0x70, 0, 0])
      while connection.send([UInt8](repeating: 0x20, count: 65_536)) {}
    }
    defer { server.stop() }
    let limits = OpeningLimits(bytes: 4 << 20)
    let error = try #require(
      refusal { () throws(MediaError) in try network(server.url("a.mp3"), limits) })
    #expect("\(error)".contains("more than 4 MiB"))
  }

  @Test func `headers of Ogg without end are given up after a number of bytes`() throws {
    try Recording(rate: 48_000, frames: 48_000).write(to: "a.opus", in: folder)
    let first = Array(try folder.bytes(of: "a.opus").prefix(47))
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Type: audio/ogg"])
      while connection.send(Array(repeating: first, count: 99).joined()) {}
    }
    defer { server.stop() }
    let limits = OpeningLimits(bytes: 1 << 20)
    #expect(refusal { () throws(MediaError) in try network(server.url("a"), limits) } != nil)
    #expect(server.byteCount(of: "a") < 16 << 20)
  }

  @Test func `what comes too slowly to open is given up after a time`() throws {
    let server = try TestServer { request, connection in
      guard request.path == "/m.m3u8" else { return connection.fallSilent() }
      let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n"
      connection.send(file: Array(list.utf8), from: request.rangeStart)
    }
    defer { server.stop() }
    let limits = OpeningLimits(time: .milliseconds(300))
    let error = try #require(
      refusal { () throws(MediaError) in try network(server.url("m.m3u8"), limits) })
    #expect("\(error)".contains("does not begin"))
  }

  @Test func `addresses of other kinds are not followed`() throws {
    let places = [
      "file:///etc/passwd", "concat:http://127.0.0.1/a|http://127.0.0.1/b", "rtsp://127.0.0.1/a",
      "gopher://127.0.0.1/a", "pipe:0", "subfile,,start,0,end,9,,:/etc/passwd", "ftp://127.0.0.1/",
      "unix:/run/tutti", "udp://127.0.0.1:9", "async:file:/etc/passwd", "cache:/etc/passwd",
    ]
    let server = try TestServer { request, connection in
      let place = places[Int(request.path.dropFirst()) ?? 0]
      connection.head("302 Found", ["Location: \(place)"])
    }
    defer { server.stop() }
    for number in places.indices {
      let error = try #require(
        refusal { () throws(MediaError) in try network(server.url("\(number)")) })
      #expect(!error.hasSounded, "\(places[number])")
    }
  }

  @Test func `redirects that never come to an end are given up`() throws {
    let count = Count()
    let server = try TestServer { request, connection in
      count.add()
      let number = Int(request.path.dropFirst()) ?? 0
      connection.head("302 Found", ["Location: /\(number + 1)"])
    }
    defer { server.stop() }
    #expect(refusal { () throws(MediaError) in try network(server.url("0")) } != nil)
    #expect(count.value <= 20)
  }

  @Test func `little that unpacks to much is read no further than it must be`() throws {
    try folder.write([UInt8](repeating: 0, count: 200 << 20), to: "zeros")
    try run("gzip", [folder.file("zeros")])
    let bomb = try folder.bytes(of: "zeros.gz")
    let server = try TestServer { _, connection in
      connection.head(
        "200 OK",
        [
          "Content-Encoding: gzip", "Content-Type: audio/mpeg", "Content-Length: \(bomb.count)",
        ])
      connection.send(bomb)
    }
    defer { server.stop() }
    #expect(refusal { () throws(MediaError) in try network(server.url("a.mp3")) } != nil)
  }

  @Test func `a list that plays asks for ten addresses a second, and no more`() {
    var budget = OpeningBudget(OpeningLimits(requests: 1))
    let start = ContinuousClock.now
    func asks(after pause: Duration) -> Bool {
      guard budget.wait(at: start + pause) == nil else { return false }
      return budget.request()
    }
    let first = asks(after: .zero)
    budget.endOpening()
    let burst = (0..<OpeningBudget.requestBurst).map { _ in asks(after: .zero) }
    let later = [
      asks(after: .zero), asks(after: .milliseconds(101)), asks(after: .milliseconds(101)),
    ]
    #expect(first)
    #expect(burst.allSatisfy { $0 })
    #expect(later == [false, true, false])
  }

  @Test func `a list of a million segments is refused or played`() throws {
    let list = Array(
      ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
        + String(repeating: "#EXTINF:1,\na\n", count: 1_000_000)).utf8)
    let server = try TestServer { request, connection in
      guard request.path == "/m.m3u8" else { return connection.head("404 Not Found") }
      connection.send(file: list, from: request.rangeStart)
    }
    defer { server.stop() }
    let limits = OpeningLimits(requests: 10)
    #expect(
      refusal { () throws(MediaError) in try network(server.url("m.m3u8"), limits) } != nil)
    #expect(server.requestCount(of: "a") <= 10)
  }

  @Test func `a film that says its sound is in another file opens no other file`() throws {
    try Recording(frames: 50_000).write(to: "a.m4a", in: folder)
    var bytes = try folder.bytes(of: "a.m4a")
    try refer(in: &bytes, to: "/etc/passwd")
    let path = try folder.write(bytes, to: "b.m4a")
    let source = try? FileSource(path: path)
    // Its own bytes are the only ones that it can play.
    if let source {
      var frames: [Float] = []
      try? source.read(1_000, appendingTo: &frames)
    }
  }

  /// Replaces the reference to the file itself with an alias.
  private func refer(in bytes: inout [UInt8], to path: String) throws {
    let name = Array(path.utf8)
    var alias = [UInt8](repeating: 0, count: 150)
    alias += [0, 2, UInt8(name.count >> 8), UInt8(name.count)] + name + [0xFF, 0xFF, 0, 0]
    for kind in ["moov", "trak", "mdia", "minf", "dinf", "dref", "url "] {
      let place = try #require(bytes.firstRange(of: Array(kind.utf8))).lowerBound
      let size = bytes[place - 4..<place].reduce(0) { $0 << 8 | Int($1) } + alias.count
      for index in 0..<4 { bytes[place - 1 - index] = UInt8(size >> (8 * index) & 255) }
      guard kind == "url " else { continue }
      bytes.replaceSubrange(place..<place + 8, with: Array("alis".utf8) + [0, 0, 0, 0])
      bytes.insert(contentsOf: alias, at: place + 8)
    }
  }
}
