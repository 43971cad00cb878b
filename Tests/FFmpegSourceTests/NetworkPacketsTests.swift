import Audio
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// Protocols from which packets are passed on.
enum PassedOver: String, CaseIterable, Sendable {
  case http, https
}

/// Packets that are passed on undecoded from the network are byte for byte those in the file.
@Suite struct NetworkPacketsTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption
  private let certificate: TestCertificate

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
    certificate = try TestCertificate(for: "IP:127.0.0.1", in: folder)
  }

  private func open(_ url: String) throws(MediaError) -> NetworkSource {
    var settings = NetworkSettings.withoutPauses
    settings.timeout = .seconds(2)
    settings.authorities = certificate.authority
    return try NetworkSource(url: url, settings: settings, interruption: interruption)
  }

  private func packets(of source: any PacketSource, upTo limit: Int = .max) throws
    -> [EncodedPacket]
  {
    var packets: [EncodedPacket] = []
    while packets.count < limit, let packet = try source.next() { packets.append(packet) }
    return packets
  }

  private func recording(_ name: String, frames: Int = 400_000) throws -> [UInt8] {
    let arguments = ["a.ts": ["-c:a", "aac"], "a.opus": ["-b:a", "160k"]][name, default: []]
    try Recording(rate: 48_000, frames: frames).write(to: name, arguments, in: folder)
    return try folder.bytes(of: name)
  }

  private func isTLS(_ way: PassedOver) -> TestCertificate? { way == .https ? certificate : nil }

  @Test(
    arguments: PassedOver.allCases,
    ["a.flac", "a.mp3", "a.m4a", "a.aac", "a.ogg", "a.opus", "a.ts"]
  )
  func `packets are those of the file, also from a sought place`(way: PassedOver, name: String)
    throws
  {
    let bytes = try recording(name)
    let server = try TestServer(isTLS(way)) { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let file = try FileSource(path: folder.file(name)).packets()
    let passed = try open(server.url(name)).packets()
    #expect(passed.format == file.format)
    #expect(try packets(of: passed) == packets(of: file))
    for place: Int64 in [300_000, 10, 123_456] {
      try file.seek(toFrame: place)
      try passed.seek(toFrame: place)
      #expect(try packets(of: passed, upTo: 50) == packets(of: file, upTo: 50), "at \(place)")
      #expect(passed.position == file.position)
    }
  }

  /// The ways in which a server fails in the middle of its answer.
  enum Fault: String, CaseIterable, Sendable {
    case hangsUp, resets, fallsSilent
  }

  @Test(arguments: PassedOver.allCases, Fault.allCases)
  func `a connection that fails is taken up again without a lost packet`(
    way: PassedOver, fault: Fault
  ) throws {
    let bytes = try recording("a.flac")
    let server = try TestServer(isTLS(way)) { request, connection in
      // Every connection fails a few times: that of the frames and that of the packets.
      let isBroken = request.number < 6
      let end = isBroken ? (request.rangeStart ?? 0) + bytes.count / 3 : nil
      connection.send(file: bytes, from: request.rangeStart, upTo: end)
      guard isBroken, end.map({ $0 < bytes.count }) ?? false else { return }
      switch fault {
      case .hangsUp: break
      case .resets: connection.reset()
      case .fallsSilent: connection.fallSilent()
      }
    }
    defer { server.stop() }
    let passed = try open(server.url("a.flac")).packets()
    #expect(
      try packets(of: passed) == packets(of: FileSource(path: folder.file("a.flac")).packets()))
    #expect(server.requestCount(of: "a.flac") >= 4)
  }

  @Test func `a wait for packets of a silent server can be ended`() throws {
    let bytes = try recording("a.flac")
    let interruption = interruption
    let server = try TestServer { request, connection in
      connection.send(file: bytes, from: request.rangeStart, upTo: bytes.count / 2)
      connection.fallSilent()
    }
    defer { server.stop() }
    let settings = NetworkSettings()
    let source = try NetworkSource(
      url: server.url("a.flac"), settings: settings, interruption: interruption)
    let passed = try source.packets()
    let before = try packets(of: passed, upTo: 10)
    #expect(before.count == 10)
    interruption.abandonRead()
    #expect(try packets(of: passed).count < 100)
  }
}
