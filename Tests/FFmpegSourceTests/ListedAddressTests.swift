import Audio
import FFmpegSource
import Foundation
import Sender
import Synchronization
import TestSupport
import Testing

/// Tests of addresses that answer with something other than sound.
@Suite struct ListedAddressTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private func open(_ url: String) throws(MediaError) -> NetworkSource {
    try NetworkSource(url: url, settings: .withoutPauses, interruption: interruption)
  }

  private func recording() throws -> [UInt8] {
    try Recording(rate: 48_000, frames: 100_000).write(to: "a.wav", in: folder)
    return try folder.bytes(of: "a.wav")
  }

  private static func list(_ type: String, _ address: String) -> String {
    switch type {
    case "audio/x-scpls", "application/pls+xml": "[playlist]\nFile1=\(address)\nLength1=-1\n"
    case "application/xspf+xml":
      "<playlist><trackList><track><location>\(address)</location></track></trackList></playlist>"
    default: "#EXTM3U\n#EXTINF:-1,Station\n\(address)\n"
    }
  }

  @Test(
    arguments: [
      "audio/x-mpegurl", "audio/mpegurl; charset=utf-8", "audio/x-scpls", "application/pls+xml",
      "application/xspf+xml",
    ])
  func `a list that only its content type tells is followed to what plays`(type: String) throws {
    let bytes = try recording()
    let server = try TestServer { request, connection in
      switch request.path {
      case "/listen", "/more":
        let next = request.path == "/listen" ? "/more" : "/sound"
        connection.head("200 OK", ["Content-Type: \(type)"])
        _ = connection.send(Array(Self.list(type, next).utf8))
      default: connection.send(file: bytes, from: request.rangeStart)
      }
    }
    defer { server.stop() }
    #expect(try readAll(open(server.url("listen"))).count == 200_000)
  }

  @Test func `where the first address of a station's list does not answer, the next one plays`()
    throws
  {
    let bytes = try recording()
    let server = try TestServer { request, connection in
      switch request.path {
      case "/listen":
        connection.head("200 OK", ["Content-Type: audio/x-scpls"])
        let list = "[playlist]\nFile1=/gone\nFile2=file:///etc/passwd\nFile3=/sound\n"
        _ = connection.send(Array(list.utf8))
      case "/gone": connection.head("404 Not Found")
      default: connection.send(file: bytes, from: request.rangeStart)
      }
    }
    defer { server.stop() }
    #expect(try readAll(open(server.url("listen"))).count == 200_000)
  }

  @Test func `a list that names itself ends with a line`() throws {
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Type: audio/x-mpegurl"])
      _ = connection.send(Array("/listen\n/listen\n".utf8))
    }
    defer { server.stop() }
    #expect(throws: MediaError.self) { try open(server.url("listen")) }
    #expect(server.requestCount(of: "listen") <= 9)
  }

  @Test func `a web page is called one`() throws {
    let page = "<!doctype html><html><body>Listen here</body></html>"
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Type: text/html; charset=utf-8"])
      _ = connection.send(Array(page.utf8))
    }
    defer { server.stop() }
    let error = #expect(throws: MediaError.self) { try open(server.url("radio")) }
    #expect(error.map { "\($0)" }?.contains("web page") ?? false)
  }

  // MARK: - Servers that give files only from their beginning

  private func plainServer(_ bytes: [UInt8]) throws -> TestServer {
    try TestServer { _, connection in
      connection.head("200 OK", ["Content-Length: \(bytes.count)"])
      connection.send(bytes)
    }
  }

  @Test(arguments: ["a.mp3", "a.flac", "a.wav"])
  func `a file from a server without ranges is a file and no stream`(name: String) throws {
    try Recording(rate: 48_000, frames: 400_000).write(to: name, in: folder)
    let server = try plainServer(folder.bytes(of: name))
    defer { server.stop() }
    let whole = try readAll(FileSource(path: folder.file(name)))
    let source = try open(server.url(name))
    #expect(!source.isLive)
    #expect(source.isSeekable)
    #expect(abs((source.estimatedFrameCount ?? 0) - 400_000) < 3_000)
    for place in [300_000, 20_000, 350_000] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(1_000, appendingTo: &frames)
      try #require(frames.count == 2_000)
      #expect(
        zip(frames, whole[(2 * place)...]).allSatisfy { abs($0 - $1) < 0.001 }, "at \(place)")
    }
    guard name != "a.wav" else { return }
    let packets = try source.packets()
    let file = try FileSource(path: folder.file(name)).packets()
    for place: Int64 in [0, 300_000, 350_000, 20_000] {
      if place > 0 { try packets.seek(toFrame: place) }
      if place > 0 { try file.seek(toFrame: place) }
      for _ in 0..<20 { #expect(try packets.next() == file.next(), "at \(place)") }
    }
  }

  @Test func `an index at the end is loaded first where the server knows no ranges`() throws {
    try Recording(rate: 48_000, frames: 400_000).write(to: "a.m4a", in: folder)
    let server = try plainServer(folder.bytes(of: "a.m4a"))
    defer { server.stop() }
    let whole = try readAll(FileSource(path: folder.file("a.m4a")))
    let source = try open(server.url("a.m4a"))
    #expect(source.frameCount == 400_000)
    #expect(try readAll(source).count == whole.count)
    try source.seek(toFrame: 10)
    var frames: [Float] = []
    try source.read(1_000, appendingTo: &frames)
    #expect(frames.count == 2_000)
    #expect(try source.packets().next() != nil)
  }

  @Test func `a server that is slow is not called silent`() throws {
    try Recording(rate: 48_000, frames: 400_000).write(to: "a.m4a", in: folder)
    let bytes = try folder.bytes(of: "a.m4a")
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Length: \(bytes.count)"])
      let step = bytes.count / 200 + 1
      for start in stride(from: 0, to: bytes.count, by: step) {
        usleep(10_000)
        guard connection.send(bytes[start..<min(bytes.count, start + step)]) else { return }
      }
    }
    defer { server.stop() }
    var settings = NetworkSettings.withoutPauses
    settings.noticedSilence = .seconds(1)
    let notices = Mutex(0)
    let source = try NetworkSource(
      url: server.url("a.m4a"), settings: settings, interruption: interruption
    ) { _ in notices.withLock { $0 += 1 } }
    #expect(source.frameCount == 400_000)
    #expect(notices.withLock { $0 } == 0)
  }
}
