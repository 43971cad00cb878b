import Audio
import Driver
import FFmpegSource
import Foundation
import Sender
import Synchronization
import TestSupport
import Testing

/// Tests of items whose addresses have secrets, which the process that decodes them does not learn.
@Suite struct SecretAddressTests {
  private static let location = "library:Home/a/7.flac"
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private func samples(_ source: any MediaSource) throws -> [Float] {
    var frames: [Float] = []
    while case let before = frames.count, true {
      try source.read(50_000, appendingTo: &frames)
      if frames.count == before { return frames }
    }
  }

  @Test func `an item of a server is played bit for bit, and its packets are the file's own`()
    throws
  {
    let path = try Recording(frames: 200_000).write(to: "a.flac", in: folder)
    let bytes = try folder.bytes(of: "a.flac")
    let server = try TestServer { request, connection in
      connection.send(file: bytes, from: request.rangeStart)
    }
    defer { server.stop() }
    let address = server.url("download?u=anna&t=secret")
    let source = try WorkerSource(
      url: Self.location, workers: WorkerSourceTests.workers, secretAddress: { address },
      interruption: interruption, report: { _ in })
    #expect(source.supply == .fetched && source.isSeekable)
    let file = try FileSource(path: path)
    #expect(try samples(source) == samples(file))
    try source.seek(toFrame: 123_456)
    try file.seek(toFrame: 123_456)
    #expect(try samples(source) == samples(file))
    let (packets, own) = (try source.packets(), try file.packets())
    while let packet = try own.next() { #expect(try packets.next() == packet) }
    #expect(server.requestCount(of: "download?u=anna&t=secret") > 0)
  }

  @Test func `a process opens its item, and nothing else by its right`() throws {
    let server = try TestServer { _, connection in
      connection.head("404 Not Found")
    }
    defer { server.stop() }
    let address = server.url("x?t=secret")
    let made = Mutex(0)
    let gate = try NetworkGate(
      Self.location,
      secretAddress: {
        made.withLock { $0 += 1 }
        return address
      }, interruption: interruption, report: { _ in })
    for place in [address, "library:Home/a/8.flac", "http://127.0.0.1:\(server.port)/", ""] {
      guard case .failed(_, "") = gate.answer(.open(url: place, SourceOptions())) else {
        throw MediaError.notFound(path: "a refusal of \(place)")
      }
    }
    #expect(server.connectionCount == 0 && made.withLock { $0 } == 0)
    guard case .failed(_, let reason) = gate.answer(.open(url: Self.location, SourceOptions()))
    else {
      throw MediaError.notFound(path: "a failure")
    }
    #expect(!reason.contains("secret"))
    #expect(server.connectionCount > 0 && made.withLock { $0 } == 1)
  }

  @Test func `no error of an item has its address`() throws {
    for (answer, word) in [("500 Oh", "5XX"), ("302 Found", "refused")] {
      let server = try TestServer { _, connection in
        connection.head(answer, ["Location: http://127.0.0.1:1/x?t=secret"])
      }
      defer { server.stop() }
      let address = server.url("download?t=secret")
      let error = #expect(throws: MediaError.self) {
        try WorkerSource(
          url: Self.location, workers: WorkerSourceTests.workers, secretAddress: { address },
          interruption: interruption, report: { _ in })
      }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("7.flac") && text.contains(word) && !text.contains("secret"), "\(text)")
    }
    let error = #expect(throws: MediaError.self) {
      try WorkerSource(
        url: Self.location, workers: WorkerSourceTests.workers,
        secretAddress: { () throws(MediaError) in
          throw .unreadable(path: "x", reason: "there is no file /etc/x")
        }, interruption: interruption, report: { _ in })
    }
    #expect(error.map { "\($0)" }?.contains("there is no file /etc/x") == true)
  }

  @Test func `words with a query are left out of what FFmpeg says`() {
    #expect("failed http://a/b?c=d: timeout x=1 at 7".withoutQueries == "failed timeout at 7")
  }
}
