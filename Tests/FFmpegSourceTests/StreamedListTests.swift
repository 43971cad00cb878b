import Audio
import FFmpegSource
import Foundation
import Sender
import Synchronization
import TestSupport
import Testing

/// Tests of HLS: finished recordings, and streams whose list grows while they play.
@Suite struct StreamedListTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption
  private let certificate: TestCertificate

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
    certificate = try TestCertificate(for: "IP:127.0.0.1", in: folder)
  }

  private func open(
    _ url: String, noticedSilence: Duration = .seconds(2),
    report: @escaping @Sendable (SourceNotice) -> Void = { _ in }
  ) throws(MediaError) -> NetworkSource {
    var settings = NetworkSettings.withoutPauses
    settings.authorities = certificate.authority
    settings.noticedSilence = noticedSilence
    return try NetworkSource(
      url: url, settings: settings, interruption: interruption, report: report)
  }

  /// Writes `list.m3u8` with segments of one second, and the same packets in `a.aac`.
  private func segment(seconds: Int, type: String) throws {
    try Recording(rate: 48_000, frames: 48_000 * seconds).write(
      to: "a.aac", ["-c:a", "aac", "-aac_pns", "0"], in: folder)
    let input = ["-v", "error", "-y", "-i", folder.file("a.aac"), "-c", "copy"]
    let list = ["-f", "hls", "-hls_time", "1", "-hls_list_size", "0"]
    let names = ["-hls_segment_filename", folder.file("%d.\(type)")]
    let kind =
      type == "m4s"
      ? ["-bsf:a", "aac_adtstoasc", "-hls_segment_type", "fmp4"]
        + ["-hls_fmp4_init_filename", "init.mp4"] : []
    try run("ffmpeg", input + list + kind + names + [folder.file("list.m3u8")])
  }

  private func files(over certificate: TestCertificate?) throws -> TestServer {
    let path = folder.path
    return try TestServer(certificate) { request, connection in
      guard let data = FileManager.default.contents(atPath: path + request.path) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: [UInt8](data), from: request.rangeStart)
    }
  }

  private func packets(of source: any PacketSource, upTo limit: Int = .max) throws
    -> [EncodedPacket]
  {
    var packets: [EncodedPacket] = []
    while packets.count < limit, let packet = try source.next() { packets.append(packet) }
    return packets
  }

  @Test(arguments: ["ts", "m4s"], [false, true])
  func `packets of a recording are those of the file, also from a sought place`(
    type: String, isSecure: Bool
  ) throws {
    try segment(seconds: 6, type: type)
    let server = try files(over: isSecure ? certificate : nil)
    defer { server.stop() }
    let source = try open(server.url("list.m3u8"))
    #expect(!source.isLive)
    #expect(source.isSeekable)
    let passed = try source.packets()
    let file = try FileSource(path: folder.file("a.aac")).packets()
    #expect(passed.format.audio == file.format.audio)
    let all = try packets(of: file).map(\.payload)
    #expect(try packets(of: passed).map(\.payload) == all)
    for place: Int64 in [200_000, 60_000, 10] {
      try passed.seek(toFrame: place)
      let some = try packets(of: passed, upTo: 40)
      let first = try #require(all.firstIndex(of: some[0].payload))
      #expect(some.map(\.payload) == Array(all[first..<first + 40]))
      // First come packets that only prepare the decoder, then the exact frame.
      let heard = try #require(some.firstIndex { $0.frameCount > 0 })
      let number = (first + heard) * 1_024 + some[heard].skippedFrames
      #expect(abs(number - Int(place)) <= 2_048, "at \(place)")
    }
  }

  @Test func `frames and packets of a recording agree on where a place is`() throws {
    try segment(seconds: 6, type: "ts")
    let server = try files(over: nil)
    defer { server.stop() }
    let source = try open(server.url("list.m3u8"))
    let passed = try source.packets()
    try passed.seek(toFrame: 100_000)
    let before = try packets(of: passed, upTo: 80).map(\.frameCount).reduce(0, +)
    #expect(passed.position == 100_000 + Int64(before))
  }

  /// Returns the list of a live stream at its `number`th request: one more segment each time.
  private static func list(_ durations: [String], at number: Int, ends: Bool) -> [UInt8] {
    let last = min(durations.count, number + 3)
    let first = max(0, last - 5)
    var lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1"]
    lines.append("#EXT-X-MEDIA-SEQUENCE:\(first)")
    for index in first..<last { lines += ["#EXTINF:\(durations[index]),", "\(index).ts"] }
    if ends, last == durations.count { lines.append("#EXT-X-ENDLIST") }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  private func durations() throws -> [String] {
    String(decoding: try folder.bytes(of: "list.m3u8"), as: UTF8.self)
      .split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }
      .map { String($0.dropFirst(8).dropLast()) }
  }

  private func liveServer(_ durations: [String], ends: Bool) throws -> TestServer {
    let path = folder.path
    return try TestServer { request, connection in
      if request.path == "/live.m3u8" {
        let list = Self.list(durations, at: request.number, ends: ends)
        connection.head(
          "200 OK",
          ["Content-Length: \(list.count)", "Content-Type: application/vnd.apple.mpegurl"])
        _ = connection.send(list)
        return
      }
      guard let data = FileManager.default.contents(atPath: path + request.path) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: [UInt8](data), from: request.rangeStart)
    }
  }

  @Test func `a live list is followed while it grows, without a gap, and ends with it`() throws {
    try segment(seconds: 7, type: "ts")
    let server = try liveServer(durations(), ends: true)
    defer { server.stop() }
    let source = try open(server.url("live.m3u8"))
    #expect(source.isLive)
    #expect(!source.isSeekable)
    #expect(source.frameCount == nil)
    #expect(source.estimatedFrameCount == nil)
    let frames = try readAll(source)
    let whole = try readAll(FileSource(path: folder.file("a.aac")))
    #expect(frames.count > 2 * 48_000 * 4)
    // The first frames differ, because the audio before them is missing.
    let compared = frames.count - 2 * 8_192
    #expect(
      zip(frames.suffix(compared), whole.suffix(compared)).allSatisfy { abs($0 - $1) < 0.001 })
    #expect(server.requestCount(of: "live.m3u8") >= 4)
  }

  @Test func `a live list without a new segment does not count as a silent server`() throws {
    try segment(seconds: 7, type: "ts")
    let server = try liveServer(durations(), ends: true)
    defer { server.stop() }
    let notices = Mutex<[SourceNotice]>([])
    let source = try open(server.url("live.m3u8"), noticedSilence: .milliseconds(50)) { notice in
      notices.withLock { $0.append(notice) }
    }
    notices.withLock { $0 = [] }
    #expect(throws: Never.self) { _ = try readAll(source) }
    #expect(notices.withLock { $0.filter { if case .stalled = $0 { true } else { false } } } == [])
  }

  @Test func `packets of a live list are passed on, and end with it`() throws {
    try segment(seconds: 7, type: "ts")
    let server = try liveServer(durations(), ends: true)
    defer { server.stop() }
    let source = try open(server.url("live.m3u8"))
    let packets = try source.packets()
    var passed: [[UInt8]] = []
    #expect(throws: MediaError.self) {
      while let packet = try packets.next() { passed.append(packet.payload) }
    }
    let file = try FileSource(path: folder.file("a.aac")).packets()
    let all = try self.packets(of: file).map(\.payload)
    let first = try #require(all.firstIndex(of: passed.first ?? []))
    #expect(passed.count > 4 * 46)
    #expect(passed == Array(all[first...].prefix(passed.count)))
    #expect(first + passed.count >= all.count - 1)
    // After the end, nothing can be requested again.
    #expect(throws: PassObstacle.self) { try source.packets() }
    var frames: [Float] = []
    try source.read(10, appendingTo: &frames)
    #expect(frames.isEmpty)
  }
}
