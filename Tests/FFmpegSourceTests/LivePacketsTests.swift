import Audio
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// Tests of radio that is passed on undecoded.
@Suite struct LivePacketsTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private func open(_ url: String) throws(MediaError) -> NetworkSource {
    return try NetworkSource(url: url, settings: .withoutPauses, interruption: interruption)
  }

  /// Sweeps, so that no two packets are alike. Noise would not do: FFmpeg does not recognise the middle of MP3
  /// noise as MP3.
  private func recording(_ name: String, rate: Int = 48_000) throws -> [UInt8] {
    let arguments =
      name.hasSuffix("mp3") ? ["-write_xing", "0", "-id3v2_version", "0"] : ["-aac_pns", "0"]
    let sweeps = "0.4*sin(2*PI*(200*t+100*t*t))|0.3*sin(2*PI*(300*t+50*t*t))"
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "aevalsrc='\(sweeps)':s=\(rate):d=8", "-b:a", "128k"]
        + arguments + [folder.file(name)])
    return try folder.bytes(of: name)
  }

  private func station(_ answers: [[UInt8]]) throws -> TestServer {
    try TestServer { request, connection in
      guard request.number < answers.count else { return connection.head("503 Full") }
      let type = request.path.hasSuffix("aac") ? "audio/aac" : "audio/mpeg"
      connection.head("200 OK", ["icy-name: Station", "Content-Type: \(type)"])
      connection.send(answers[request.number])
    }
  }

  private func payloads(_ name: String) throws -> [[UInt8]] {
    let packets = try FileSource(path: folder.file(name)).packets()
    var payloads: [[UInt8]] = []
    while let packet = try packets.next() { payloads.append(packet.payload) }
    return payloads
  }

  /// Returns the packets until the station hangs up.
  private func rest(_ packets: any PacketSource) throws -> [EncodedPacket] {
    var all: [EncodedPacket] = []
    let error = #expect(throws: MediaError.self) {
      while let packet = try packets.next() { all.append(packet) }
    }
    guard case .broken? = error else { throw error ?? .notFound(path: "") }
    return all
  }

  @Test(arguments: ["a.mp3", "a.aac"])
  func `packets are those that the station sends, also after it has hung up`(name: String) throws {
    let bytes = try recording(name)
    let sent = try payloads(name)
    // The second connection begins in the middle of a packet, with as many bytes behind it as FFmpeg then
    // wants to see.
    let server = try station([bytes, Array(bytes[(bytes.count / 2 + 77)...]) + bytes])
    defer { server.stop() }
    let source = try open(server.url(name))
    #expect(source.isLive)
    var packets = try source.packets()
    let first = try rest(packets)
    #expect(first.map(\.payload) == Array(sent.prefix(first.count)))
    #expect(first.count >= sent.count - 1)
    let position = packets.position
    #expect(position == Int64(first.map(\.frameCount).reduce(0, +)))
    packets = try source.packets()
    #expect(packets.position == position)
    let second = try rest(packets).map(\.payload)
    #expect(second.count > sent.count / 3)
    let start = try #require(sent.firstIndex(of: second[0]))
    #expect(second == Array((sent[start...] + sent).prefix(second.count)))
    #expect(throws: PassObstacle.self) { try source.packets() }
  }

  @Test func `a station that comes back as another one is another stream`() throws {
    let bytes = try recording("a.mp3")
    let server = try station([bytes, try recording("b.aac", rate: 32_000)])
    defer { server.stop() }
    let source = try open(server.url("radio"))
    let packets = try source.packets()
    #expect(packets.format.codec == .mp3)
    _ = try rest(packets)
    // Frames of a source keep one rate, so those of the new station are converted, and its packets cannot be
    // passed on.
    #expect(throws: PassObstacle.self) { try source.packets() }
  }

  @Test func `a stream that becomes another one in the middle is noticed`() throws {
    let (one, other) = (try recording("a.mp3"), try recording("b.mp3", rate: 32_000))
    let server = try station([one + other])
    defer { server.stop() }
    let packets = try open(server.url("radio")).packets()
    let given = try rest(packets)
    let sent = try payloads("a.mp3")
    #expect(given.map(\.payload) == Array(sent.prefix(given.count)))
    #expect(given.count >= sent.count - 1)
  }

  @Test(arguments: ["a.mp3", "a.aac"])
  func `frames go on where packets were passed on last`(name: String) throws {
    let bytes = try recording(name)
    let server = try station([bytes])
    defer { server.stop() }
    let source = try open(server.url(name))
    let packets = try source.packets()
    for _ in 0..<70 { _ = try packets.next() }
    try source.seek(toFrame: packets.position)
    var frames: [Float] = []
    while frames.count < 2 * 100_000 { try source.read(4_096, appendingTo: &frames) }
    let whole = try readAll(FileSource(path: folder.file(name)))
    let expected = whole.dropFirst(2 * Int(packets.position)).prefix(frames.count)
    #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 0.001 })
    #expect(throws: PassObstacle.self) { try source.packets() }
  }

  @Test func `live streams that are not radio stations are decoded`() throws {
    let bytes = try recording("a.mp3")
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Type: audio/mpeg"])
      connection.send(bytes)
    }
    defer { server.stop() }
    let source = try open(server.url("a.mp3"))
    #expect(source.isLive)
    #expect(throws: PassObstacle.isLive) { try source.packets() }
    #expect(try readAll(source).count >= 2 * 8 * 48_000)
  }

  @Test func `titles change while packets are passed on`() throws {
    let bytes = try recording("a.mp3")
    var stream: [UInt8] = []
    for (number, start) in stride(from: 0, to: bytes.count, by: 8_000).enumerated() {
      stream += bytes[start..<min(bytes.count, start + 8_000)]
      guard bytes.count - start >= 8_000 else { break }
      var text = Array("StreamTitle='One - \(number < 8 ? "First" : "Second")';".utf8)
      text += [UInt8](repeating: 0, count: (16 - text.count % 16) % 16)
      stream += [UInt8(text.count / 16)] + text
    }
    let titled = stream
    let server = try TestServer { request, connection in
      guard request.number == 0 else { return connection.head("503 Full") }
      connection.head("200 OK", ["icy-name: Station", "icy-metaint: 8000"])
      connection.send(titled)
    }
    defer { server.stop() }
    let source = try open(server.url("radio"))
    let packets = try source.packets()
    var titles: [String?] = []
    #expect(throws: MediaError.self) {
      while (try packets.next()) != nil {
        if source.metadata.title != titles.last ?? nil { titles.append(source.metadata.title) }
      }
    }
    #expect(titles == ["First", "Second"])
  }
}
