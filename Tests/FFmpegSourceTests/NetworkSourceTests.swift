import Audio
import FFmpegSource
import Foundation
import Sender
import Synchronization
import TestSupport
import Testing

/// The notices of a source, collected from any thread.
private final class Notices: Sendable {
  private let notices = Mutex<[SourceNotice]>([])

  func add(_ notice: SourceNotice) { notices.withLock { $0.append(notice) } }
  var all: [SourceNotice] { notices.withLock { $0 } }
}

private final class Flag: Sendable {
  private let flag = Atomic<Bool>(false)

  func set() { flag.store(true, ordering: .relaxed) }
  var isSet: Bool { flag.load(ordering: .relaxed) }
}

@Suite struct NetworkSourceTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private func open(_ url: String, _ notices: Notices = Notices()) throws(MediaError)
    -> NetworkSource
  {
    try NetworkSource(
      url: url, settings: .withoutPauses, interruption: interruption, report: { notices.add($0) })
  }

  private func recording(_ name: String, frames: Int = 200_000, _ arguments: [String] = [])
    throws -> (path: String, bytes: [UInt8])
  {
    let path = try Recording(rate: 48_000, frames: frames).write(to: name, arguments, in: folder)
    return (path, try folder.bytes(of: name))
  }

  // MARK: - Files

  @Test(arguments: ["a.wav", "a.flac", "a.mp3", "a.m4a", "a.ogg", "a.opus"])
  func `a file from a server that knows ranges is the file, and seeks in it are exact`(
    name: String
  ) throws {
    let (path, bytes) = try recording(name, ["-aac_pns", "0"].filter { _ in name == "a.m4a" })
    let server = try TestServer { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let whole = try readAll(FileSource(path: path))
    let source = try open(server.url(name))
    #expect(source.isSeekable)
    #expect(!source.isLive)
    #expect(source.supply == .fetched)
    #expect(try readAll(source) == whole)
    #expect(source.frameCount == Int64(whole.count / 2) || name == "a.mp3")
    #expect(abs((source.estimatedFrameCount ?? 0) - Int64(whole.count / 2)) < 3_000)
    for place in [150_000, 20_000, 0, 199_000, 77] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(1_000, appendingTo: &frames)
      let expected = whole[2 * place..<2 * (place + 1_000)]
      try #require(frames.count == expected.count)
      #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 0.001 }, "at \(place)")
    }
  }

  // MARK: - Faults

  @Test(arguments: [false, true])
  func `a connection that breaks is taken up again without a lost sample`(isReset: Bool) throws {
    let (path, bytes) = try recording("a.flac", frames: 400_000)
    let server = try TestServer { request, connection in
      let isBroken = request.number < 2
      let end = isBroken ? (request.rangeStart ?? 0) + bytes.count / 3 : nil
      connection.send(file: bytes, from: request.rangeStart, upTo: end)
      if isBroken, isReset { connection.reset() }
    }
    defer { server.stop() }
    #expect(try readAll(open(server.url("a.flac"))) == readAll(FileSource(path: path)))
    #expect(server.requestCount(of: "a.flac") > 2)
  }

  @Test func `a server that is away is asked until it is back, without a lost sample`() throws {
    let (path, bytes) = try recording("a.flac", frames: 400_000)
    let server = try TestServer { request, connection in
      switch request.number {
      case 0: connection.send(file: bytes, from: request.rangeStart, upTo: bytes.count / 3)
      case 1..<20: connection.reset()
      default: connection.send(file: bytes, from: request.rangeStart)
      }
    }
    defer { server.stop() }
    var settings = NetworkSettings.withoutPauses
    (settings.reconnectDelay, settings.longestOutage) = (.zero, .seconds(60))
    let source = try NetworkSource(
      url: server.url("a.flac"), settings: settings, interruption: interruption)
    #expect(try readAll(source) == readAll(FileSource(path: path)))
    #expect(server.requestCount(of: "a.flac") > 20)
  }

  @Test func `a server that answers a range with the whole file does not give false sound`() throws
  {
    let (path, bytes) = try recording("a.flac", frames: 400_000)
    let server = try TestServer { request, connection in
      guard request.number > 0 else {
        return connection.send(file: bytes, from: request.rangeStart, upTo: bytes.count / 2)
      }
      connection.head("200 OK", ["Content-Length: \(bytes.count)"])
      connection.send(bytes)
    }
    defer { server.stop() }
    let whole = try readAll(FileSource(path: path))
    let source = try open(server.url("a.flac"))
    var frames: [Float] = []
    do throws(MediaError) {
      while true {
        let before = frames.count
        try source.read(4_096, appendingTo: &frames)
        if frames.count == before { break }
      }
    } catch {
      guard case .broken = error else { throw error }
    }
    #expect(frames == Array(whole.prefix(frames.count)))
    #expect(frames.count > whole.count / 3)
  }

  @Test func `a file that ends before its stated length is played so far, then named`() throws {
    let (_, bytes) = try recording("a.mp3")
    let server = try TestServer { request, connection in
      let first = request.rangeStart ?? 0
      guard first < bytes.count else { return connection.head("416 Range Not Satisfiable") }
      connection.head(
        "206 Partial Content",
        [
          "Content-Length: \(bytes.count * 2 - first)",
          "Content-Range: bytes \(first)-\(bytes.count * 2 - 1)/\(bytes.count * 2)",
        ])
      connection.send(bytes[first...])
    }
    defer { server.stop() }
    let source = try open(server.url("a.mp3"))
    var frames: [Float] = []
    let error = #expect(throws: MediaError.self) {
      while true {
        let before = frames.count
        try source.read(4_096, appendingTo: &frames)
        if frames.count == before { break }
      }
    }
    #expect(frames.count > 390_000)
    if let error { #expect("\(error)".hasPrefix(server.url("a.mp3"))) }
  }

  @Test func `a stated length that is too short gives no false sound`() throws {
    let (path, bytes) = try recording("a.wav")
    let server = try TestServer { request, connection in
      connection.head("200 OK", ["Content-Length: \(bytes.count / 2)"])
      connection.send(bytes)
    }
    defer { server.stop() }
    let source = try open(server.url("a.wav"))
    var frames: [Float] = []
    while true {
      let before = frames.count
      try? source.read(4_096, appendingTo: &frames)
      if frames.count == before { break }
    }
    #expect(frames == Array(try readAll(FileSource(path: path)).prefix(frames.count)))
    #expect(frames.count >= 190_000)
  }

  @Test func `redirects are followed, but not without end`() throws {
    let (_, bytes) = try recording("a.wav", frames: 5_000)
    let server = try TestServer { request, connection in
      switch request.path {
      case "/loop": connection.head("302 Found", ["Location: /loop"])
      case "/1": connection.head("301 Moved", ["Location: /2"])
      case "/2": connection.head("307 Elsewhere", ["Location: /a.wav"])
      default: connection.send(file: bytes, from: request.rangeStart)
      }
    }
    defer { server.stop() }
    #expect(try readAll(open(server.url("1"))).count == 10_000)
    let error = #expect(throws: MediaError.self) { try open(server.url("loop")) }
    guard case .unreadable? = error else { throw error ?? .notFound(path: "") }
    #expect(server.requestCount(of: "loop") <= 20)
  }

  @Test func `what is not there or not audio is named in one line`() throws {
    let server = try TestServer { request, connection in
      guard request.path == "/text" else { return connection.head("404 Not Found") }
      connection.send(file: Array(String(repeating: "words ", count: 9_000).utf8), from: nil)
    }
    defer { server.stop() }
    for path in ["missing", "text"] {
      let error = #expect(throws: MediaError.self) { try open(server.url(path)) }
      let line = error.map { "\($0)" } ?? ""
      #expect(line.hasPrefix(server.url(path)))
      #expect(!line.contains("\n"))
      #expect(path == "text" || line.contains("404"))
    }
    server.stop()
    #expect(throws: MediaError.self) { try open("http://127.0.0.1:1/closed.mp3") }
  }

  @Test func `nothing on the network can name a file of this machine`() throws {
    let (path, _) = try recording("a.wav", frames: 5_000)
    let list =
      "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile://\(path)\n#EXT-X-ENDLIST\n"
    let server = try TestServer { $1.send(file: Array(list.utf8), from: $0.rangeStart) }
    defer { server.stop() }
    #expect(throws: MediaError.self) { try open(server.url("list.m3u8")) }
  }

  // MARK: - Silence

  @Test func `a silent server is reported, and the read can be abandoned for another one`() throws {
    let (_, bytes) = try recording("a.wav")
    let server = try TestServer { request, connection in
      let isSilent = request.path == "/silent.wav"
      connection.send(
        file: bytes, from: request.rangeStart, upTo: isSilent ? bytes.count / 2 : nil)
      if isSilent { connection.fallSilent() }
    }
    defer { server.stop() }
    let notices = Notices()
    var impatient = NetworkSettings.withoutPauses
    impatient.noticedSilence = .milliseconds(20)
    let interruption = interruption
    let isOpen = Flag()
    let source = try NetworkSource(
      url: server.url("silent.wav"), settings: impatient, interruption: interruption
    ) { notice in
      notices.add(notice)
      if isOpen.isSet { interruption.abandonRead() }
    }
    isOpen.set()
    #expect(try readAll(source).count <= 201_000)
    #expect(notices.all.last == .stalled(location: server.url("silent.wav")))
    interruption.readAgain()
    #expect(try readAll(open(server.url("sound.wav"))).count == 400_000)
  }

  @Test func `a server that is silent for too long counts as gone`() throws {
    let (path, bytes) = try recording("a.wav")
    let server = try TestServer { request, connection in
      let isSilent = request.number == 0
      connection.send(
        file: bytes, from: request.rangeStart, upTo: isSilent ? bytes.count / 2 : nil)
      if isSilent { connection.fallSilent() }
    }
    defer { server.stop() }
    var hasty = NetworkSettings.withoutPauses
    hasty.timeout = .milliseconds(200)
    // A busy machine may make the server of this test seem silent, too.
    hasty.retryDelays = [Duration](repeating: .zero, count: 100)
    let source = try NetworkSource(
      url: server.url("a.wav"), settings: hasty, interruption: interruption)
    #expect(try readAll(source) == readAll(FileSource(path: path)))
  }

  @Test func `opening can be interrupted`() throws {
    let server = try TestServer { [interruption] _, connection in
      interruption.interrupt()
      connection.fallSilent()
    }
    defer { server.stop() }
    #expect(throws: MediaError.self) { try open(server.url("a.mp3")) }
  }

  // MARK: - Radio

  /// MP3 with a title every 8000 bytes, as stations send it.
  private func titled(_ bytes: [UInt8], _ titles: [String]) -> [UInt8] {
    var stream: [UInt8] = []
    for (number, start) in stride(from: 0, to: bytes.count, by: 8_000).enumerated() {
      stream += bytes[start..<min(bytes.count, start + 8_000)]
      guard bytes.count - start >= 8_000 else { break }
      var text = Array("StreamTitle='\(titles[min(number, titles.count - 1)])';".utf8)
      text += [UInt8](repeating: 0, count: (16 - text.count % 16) % 16)
      stream += [UInt8(text.count / 16)] + text
    }
    return stream
  }

  @Test func `a station's titles come with the sound they belong to`() throws {
    let (_, bytes) = try recording(
      "a.mp3", frames: 480_000, ["-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"])
    let titles = [String](repeating: "One - First", count: 9) + ["Two - Second"]
    let stream = titled(bytes, titles)
    let server = try TestServer { request, connection in
      guard request.number == 0 else { return connection.head("503 Full") }
      connection.head(
        "200 OK", ["icy-name: Station", "icy-metaint: 8000", "Content-Type: audio/mpeg"])
      connection.send(request.wantsTitles ? stream : bytes)
    }
    defer { server.stop() }
    let notices = Notices()
    let source = try open(server.url("radio"), notices)
    #expect(source.isLive)
    #expect(!source.isSeekable)
    #expect(source.frameCount == nil)
    #expect(source.metadata.album == "Station")
    try source.seek(toFrame: 1_000_000)
    var frames: [Float] = []
    var changes: [(String?, String?, Int)] = []
    let error = #expect(throws: MediaError.self) {
      while true {
        let before = frames.count
        try source.read(1_000, appendingTo: &frames)
        let metadata = source.metadata
        if metadata.title != changes.last?.1 {
          changes.append((metadata.artist, metadata.title, before / 2))
        }
        if frames.count == before { break }
      }
    }
    #expect(changes.map(\.0).suffix(2) == ["One", "Two"])
    #expect(changes.map(\.1).suffix(2) == ["First", "Second"])
    // Ten blocks of 8000 bytes at 16 kB/s.
    #expect(abs((changes.last?.2 ?? 0) - 240_000) < 12_000)
    guard case .broken? = error else { throw error ?? .notFound(path: "") }
    #expect(notices.all.count == 2)
    #expect(server.requestCount(of: "radio") == 3)
    #expect(throws: MediaError.self) { try source.seek(toFrame: 5) }
  }

  @Test func `a station that hangs up is called again`() throws {
    let (_, bytes) = try recording("a.mp3", frames: 300_000, ["-write_xing", "0"])
    let server = try TestServer { request, connection in
      guard request.number < 3 else { return connection.head("503 Full") }
      connection.head("200 OK", ["icy-name: Station", "Content-Type: audio/mpeg"])
      connection.send(bytes)
    }
    defer { server.stop() }
    let source = try open(server.url("radio"))
    var frames: [Float] = []
    #expect(throws: MediaError.self) {
      while true {
        let before = frames.count
        try source.read(4_096, appendingTo: &frames)
        if frames.count == before { break }
      }
    }
    #expect(frames.count >= 3 * 600_000 - 10_000)
  }

  @Test func `a chain of Ogg streams tells each title`() throws {
    var bytes: [UInt8] = []
    for title in ["First", "Second", "Third"] {
      bytes += try recording(title + ".ogg", frames: 100_000, ["-metadata", "title=" + title]).bytes
    }
    let stream = bytes
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Type: application/ogg"])
      connection.send(stream)
    }
    defer { server.stop() }
    let source = try open(server.url("radio.ogg"))
    var titles: [String?] = []
    var frames: [Float] = []
    while true {
      let before = frames.count
      try source.read(4_096, appendingTo: &frames)
      if source.metadata.title != titles.last ?? nil { titles.append(source.metadata.title) }
      if frames.count == before { break }
    }
    #expect(titles == ["First", "Second", "Third"])
    #expect(abs(frames.count - 600_000) < 10_000)
  }

  // MARK: - HLS

  @Test func `an HLS recording is played, and seeks lead to the frame`() throws {
    try Recording(rate: 48_000, frames: 480_000).write(
      to: "list.m3u8", ["-c:a", "aac", "-aac_pns", "0", "-hls_time", "2", "-hls_list_size", "0"],
      in: folder)
    let path = folder.path
    let server = try TestServer { request, connection in
      guard let data = FileManager.default.contents(atPath: path + request.path) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: [UInt8](data), from: request.rangeStart)
    }
    defer { server.stop() }
    let source = try open(server.url("list.m3u8"))
    #expect(source.isSeekable)
    #expect(abs((source.estimatedFrameCount ?? 0) - 480_000) < 5_000)
    let whole = try readAll(open(server.url("list.m3u8")))
    #expect(abs(whole.count - 960_000) < 10_000)
    for place in [300_000, 100_000, 20, 400_123] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(1_000, appendingTo: &frames)
      let expected = whole[2 * place..<2 * (place + 1_000)]
      try #require(frames.count == expected.count)
      #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 0.001 }, "at \(place)")
    }
  }
}
