import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// Tests of HTTPS: which servers a source trusts, and that everything else is as with HTTP.
@Suite struct SecureSourceTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption
  private let certificate: TestCertificate

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
    certificate = try TestCertificate(for: "IP:127.0.0.1", in: folder)
  }

  private func open(
    _ url: String, trusting authorities: String?
  ) throws(MediaError) -> NetworkSource {
    var settings = NetworkSettings.withoutPauses
    settings.authorities = authorities
    return try NetworkSource(url: url, settings: settings, interruption: interruption)
  }

  private func recording(_ name: String) throws -> (path: String, bytes: [UInt8]) {
    let path = try Recording(rate: 48_000, frames: 300_000).write(to: name, in: folder)
    return (path, try folder.bytes(of: name))
  }

  @Test func `a file from a server that is trusted is the file, and seeks in it are exact`() throws
  {
    let (path, bytes) = try recording("a.flac")
    let server = try TestServer(certificate) { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let whole = try readAll(FileSource(path: path))
    let source = try open(server.url("a.flac"), trusting: certificate.authority)
    #expect(source.isSeekable)
    #expect(try readAll(source) == whole)
    for place in [150_000, 20_000, 0, 299_000] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(500, appendingTo: &frames)
      #expect(frames == Array(whole[2 * place..<2 * (place + 500)]), "at \(place)")
    }
  }

  @Test(arguments: [false, true])
  func `a connection that breaks is taken up again without a lost sample`(isReset: Bool) throws {
    let (path, bytes) = try recording("a.flac")
    let server = try TestServer(certificate) { request, connection in
      let isBroken = request.number < 2
      let end = isBroken ? (request.rangeStart ?? 0) + bytes.count / 3 : nil
      connection.send(file: bytes, from: request.rangeStart, upTo: end)
      if isBroken, isReset { connection.reset() }
    }
    defer { server.stop() }
    let source = try open(server.url("a.flac"), trusting: certificate.authority)
    #expect(try readAll(source) == readAll(FileSource(path: path)))
    #expect(server.requestCount(of: "a.flac") > 2)
  }

  @Test func `a server that no authority vouches for is refused in one line`() throws {
    let server = try TestServer(certificate) { $1.send(file: [], from: $0.rangeStart) }
    defer { server.stop() }
    let stranger = try TestCertificate(for: "IP:127.0.0.1", "stranger", in: folder)
    for authorities in [nil, stranger.authority] {
      try expectRefusal(of: server.url("a.flac"), trusting: authorities)
    }
    #expect(server.requestCount(of: "a.flac") == 0)
  }

  @Test func `a certificate of another server is refused in one line`() throws {
    let other = try TestCertificate(for: "DNS:example.org", "other", in: folder)
    let server = try TestServer(other) { $1.send(file: [], from: $0.rangeStart) }
    defer { server.stop() }
    try expectRefusal(of: server.url("a.flac"), trusting: other.authority)
    #expect(server.requestCount(of: "a.flac") == 0)
  }

  private func expectRefusal(of url: String, trusting authorities: String?) throws {
    let error = try #require(throws: MediaError.self) { try open(url, trusting: authorities) }
    #expect("\(error)".hasPrefix(url))
    #expect("\(error)".contains("certificate"), "\(error)")
    #expect(!"\(error)".contains("\n"))
  }

  @Test func `a list of segments does not lead to a server that is not trusted`() throws {
    let stranger = try TestCertificate(for: "IP:127.0.0.1", "stranger", in: folder)
    try Recording(rate: 48_000, frames: 48_000).write(to: "a.ts", ["-c:a", "aac"], in: folder)
    let bytes = try folder.bytes(of: "a.ts")
    let segments = try TestServer(stranger) { $1.send(file: bytes, from: $0.rangeStart) }
    defer { segments.stop() }
    let list =
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(segments.url("a.ts"))\n#EXT-X-ENDLIST\n"
    let server = try TestServer(certificate) {
      $1.send(file: Array(list.utf8), from: $0.rangeStart)
    }
    defer { server.stop() }
    #expect(throws: MediaError.self) {
      try open(server.url("list.m3u8"), trusting: certificate.authority)
    }
    #expect(segments.requestCount(of: "a.ts") == 0)
    let trusting = try folder.write(
      folder.bytes(of: "server-root.pem") + folder.bytes(of: "stranger-root.pem"), to: "both.pem")
    let frames = try readAll(open(server.url("list.m3u8"), trusting: trusting))
    #expect(frames.count >= 96_000)
  }
}
