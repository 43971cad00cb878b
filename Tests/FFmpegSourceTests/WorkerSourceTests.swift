import Audio
import Driver
import FFmpegSource
import Foundation
import Glibc
import Sender
import TestSupport
import Testing

/// Tests of the finished program as decoder, in a process of its own.
@Suite struct WorkerSourceTests {
  static let workers: MediaWorkers = {
    let workers = MediaWorkers()
    try? workers.start([Program.path(of: "tutti"), "media-worker"])
    return workers
  }()

  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private func open(_ path: String) throws(MediaError) -> WorkerSource {
    try WorkerSource(path: path, workers: Self.workers, interruption: interruption)
  }

  private func openAddress(
    _ url: String, _ settings: NetworkSettings = .withoutPauses
  ) throws(MediaError) -> WorkerSource {
    try WorkerSource(
      url: url, workers: Self.workers, settings: settings, interruption: interruption
    ) { _ in }
  }

  private func packets(of source: any MediaSource) throws -> [EncodedPacket] {
    let packets = try source.packets()
    var all: [EncodedPacket] = []
    while let packet = try packets.next() { all.append(packet) }
    return all
  }

  @Test(arguments: Encoding.lossless + Encoding.lossy)
  func `a file that another process decodes is the same to the bit`(encoding: Encoding) throws {
    let path = try Recording(rate: encoding.rate, frames: 60_000).write(
      to: encoding.name, encoding.arguments, in: folder)
    let (here, there) = (try FileSource(path: path), try open(path))
    #expect(there.format == here.format)
    #expect(there.sampleType == here.sampleType)
    #expect(there.isLossless == here.isLossless)
    #expect(there.frameCount == here.frameCount)
    #expect(there.estimatedFrameCount == here.estimatedFrameCount)
    #expect(there.metadata == here.metadata)
    #expect(there.supply == here.supply)
    let whole = try readAll(here)
    #expect(try readAll(there) == whole)
    for place: Int64 in [40_000, 3, 0] {
      var (some, same): ([Float], [Float]) = ([], [])
      try here.seek(toFrame: place)
      try there.seek(toFrame: place)
      try here.read(2_000, appendingTo: &some)
      try there.read(2_000, appendingTo: &same)
      #expect(some == same, "at \(place)")
    }
    var (mine, its): ([EncodedPacket]?, [EncodedPacket]?) = (nil, nil)
    var (why, itsWhy): (PassObstacle?, PassObstacle?) = (nil, nil)
    do { mine = try packets(of: here) } catch { why = error as? PassObstacle }
    do { its = try packets(of: there) } catch { itsWhy = error as? PassObstacle }
    #expect(its == mine)
    #expect(itsWhy == why)
  }

  @Test(arguments: ["a.wav", "a.flac", "a.mp3", "a.m4a", "a.ogg", "a.opus"], [false, true])
  func `an address that another process decodes is the file`(
    name: String, knowsRanges: Bool
  ) throws {
    let path = try Recording(rate: 48_000, frames: 100_000).write(
      to: name, ["-aac_pns", "0"].filter { _ in name == "a.m4a" }, in: folder)
    let bytes = try folder.bytes(of: name)
    let server = try TestServer { request, connection in
      guard !knowsRanges else { return connection.send(file: bytes, from: request.rangeStart) }
      connection.head("200 OK", ["Content-Length: \(bytes.count)"])
      connection.send(bytes)
    }
    defer { server.stop() }
    let here = try NetworkSource(
      url: server.url(name), settings: .withoutPauses, interruption: interruption)
    let there = try openAddress(server.url(name))
    #expect(there.isSeekable == here.isSeekable)
    #expect(there.supply == here.supply)
    #expect(there.isReusable == here.isReusable)
    #expect(there.frameCount == here.frameCount)
    let whole = try readAll(FileSource(path: path))
    #expect(try readAll(there) == whole)
    for place in [70_000, 20_000, 77] {
      var frames: [Float] = []
      try there.seek(toFrame: Int64(place))
      try there.read(1_000, appendingTo: &frames)
      let expected = whole[2 * place..<2 * (place + 1_000)]
      try #require(frames.count == expected.count)
      #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 0.001 }, "at \(place)")
    }
    guard name != "a.wav" else { return }
    #expect(try packets(of: there) == packets(of: here))
  }

  @Test func `a station's titles come through another process`() throws {
    try Recording(rate: 44_100, frames: 100_000).write(to: "a.mp3", in: folder)
    let sound = try folder.bytes(of: "a.mp3")
    let server = try TestServer { request, connection in
      connection.head(
        "200 OK",
        ["Content-Type: audio/mpeg", "icy-name: The Station", "icy-metaint: 4000"])
      var place = 0
      while place < sound.count {
        let end = min(sound.count, place + 4_000)
        connection.send(sound[place..<end])
        if end - place == 4_000 {
          let title = Array("StreamTitle='A \(place / 4_000) - B';".utf8)
          let blocks = (title.count + 15) / 16
          connection.send(
            [UInt8(blocks)] + title + [UInt8](repeating: 0, count: blocks * 16 - title.count))
        }
        place = end
      }
      connection.fallSilent()
    }
    defer { server.stop() }
    let source = try openAddress(server.url("live"))
    #expect(source.supply == .live)
    #expect(source.metadata.album == "The Station")
    var frames: [Float] = []
    var artists: [String?] = []
    for _ in 0..<20 {
      try source.read(4_096, appendingTo: &frames)
      if source.metadata.artist != artists.last { artists.append(source.metadata.artist) }
    }
    #expect(artists.count > 3)
    #expect(source.metadata.title == "B")
  }

  @Test(arguments: ["ts", "m4s"])
  func `an HLS recording comes through another process`(type: String) throws {
    let path = try Recording(rate: 48_000, frames: 240_000).write(
      to: "a.aac", ["-c:a", "aac", "-aac_pns", "0"], in: folder)
    let kind =
      type == "m4s"
      ? ["-bsf:a", "aac_adtstoasc", "-hls_segment_type", "fmp4"]
        + ["-hls_fmp4_init_filename", "init.mp4"] : []
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-i", path, "-c", "copy", "-f", "hls", "-hls_time", "1"]
        + ["-hls_list_size", "0"] + kind
        + ["-hls_segment_filename", folder.file("%d.\(type)"), folder.file("list.m3u8")])
    let root = folder.path
    let server = try TestServer { request, connection in
      if request.path == "/moved.m3u8" {
        return connection.head("302 Found", ["Location: /list.m3u8"])
      }
      guard let data = FileManager.default.contents(atPath: root + request.path) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: [UInt8](data), from: request.rangeStart)
    }
    defer { server.stop() }
    let here = try NetworkSource(
      url: server.url("list.m3u8"), settings: .withoutPauses, interruption: interruption)
    let there = try openAddress(server.url("moved.m3u8"))
    #expect(there.isSeekable)
    #expect(try readAll(there) == readAll(here))
    #expect(try packets(of: there) == packets(of: here))
  }

  @Test func `an encrypted HLS recording comes through another process`() throws {
    let path = try Recording(rate: 48_000, frames: 144_000).write(
      to: "a.aac", ["-c:a", "aac", "-aac_pns", "0"], in: folder)
    try folder.write((0..<16).map { UInt8($0) }, to: "key")
    try folder.write(Array("key\n\(folder.file("key"))\n".utf8), to: "keyinfo")
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-i", path, "-c", "copy", "-f", "hls", "-hls_time", "1"]
        + ["-hls_list_size", "0", "-hls_key_info_file", folder.file("keyinfo")]
        + ["-hls_segment_filename", folder.file("%d.ts"), folder.file("list.m3u8")])
    let root = folder.path
    let server = try TestServer { request, connection in
      guard let data = FileManager.default.contents(atPath: root + request.path) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: [UInt8](data), from: request.rangeStart)
    }
    defer { server.stop() }
    let here = try NetworkSource(
      url: server.url("list.m3u8"), settings: .withoutPauses, interruption: interruption)
    #expect(try readAll(openAddress(server.url("list.m3u8"))) == readAll(here))
  }

  // MARK: - Faults

  /// A pipe into which a thread writes, and which it then closes.
  private func pipe(of bytes: [UInt8]) -> FileHandle {
    let pipe = Pipe()
    let writer = pipe.fileHandleForWriting
    Thread.detachNewThread {
      try? writer.write(contentsOf: Data(bytes))
      try? writer.close()
    }
    return pipe.fileHandleForReading
  }

  private func openPipe(_ handle: FileHandle, _ raw: String? = nil) throws -> WorkerSource {
    try WorkerSource(
      descriptor: handle.fileDescriptor, rawFormat: raw.flatMap { RawFormat($0) },
      workers: Self.workers, interruption: interruption)
  }

  @Test(arguments: ["a.wav", "a.flac", "a.mp3", "a.ogg"])
  func `what comes through a pipe, and another process decodes, is the file`(name: String) throws {
    try Recording(frames: 200_000).write(to: name, in: folder)
    let bytes = try folder.bytes(of: name)
    let (one, other) = (pipe(of: bytes), pipe(of: bytes))
    defer { withExtendedLifetime((one, other)) {} }
    let here = try StreamSource(descriptor: one.fileDescriptor, interruption: interruption)
    let there = try openPipe(other)
    #expect(there.supply == .piped)
    #expect(!there.isSeekable)
    #expect(there.frameCount == nil)
    #expect(there.format == here.format)
    #expect(there.metadata == here.metadata)
    #expect(try readAll(there) == readAll(here))
    #expect(throws: MediaError.notSeekable(path: "standard input")) { try there.seek(toFrame: 1) }
  }

  @Test func `raw samples come out of another process as they went in`() throws {
    let recording = Recording(rate: 48_000, channels: 2, bits: 24, frames: 10_007)
    let handle = pipe(of: recording.bytes)
    defer { withExtendedLifetime(handle) {} }
    let source = try openPipe(handle, "48000:24:2")
    #expect(source.sampleType == .int24)
    #expect(try readAll(source) == recording.floats)
  }

  @Test func `a read of a silent pipe is abandoned at once`() throws {
    let pipe = Pipe()
    let writer = pipe.fileHandleForWriting
    defer { withExtendedLifetime(pipe) {} }
    try writer.write(contentsOf: Data(Recording(frames: 4_000).bytes))
    let source = try openPipe(pipe.fileHandleForReading, "48000:16:2")
    let interruption = interruption
    Thread.detachNewThread { interruption.abandonRead() }
    // It ends, though nobody writes any more.
    _ = fault(of: source)
    try writer.close()
  }

  @Test func `nothing on the pipe is not audio`() throws {
    let handle = pipe(of: [])
    defer { withExtendedLifetime(handle) {} }
    #expect(throws: MediaError.self) { try openPipe(handle) }
  }

  @Test func `nothing in the process comes between a fault and its end`() throws {
    let source = try open(Recording(frames: 4_000).write(to: "a.flac", in: folder))
    let process = try #require(source.process)
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let handled = status.split(separator: "\n").filter { $0.hasPrefix("SigCgt:") }
    #expect(handled.map { $0.suffix(16) } == ["0000000000000000"])
  }

  /// Returns the error of reading on.
  private func fault(of source: any MediaSource) -> MediaError? {
    var frames: [Float] = []
    do throws(MediaError) {
      for _ in 0..<10_000 {
        let before = frames.count
        try source.read(4_096, appendingTo: &frames)
        if frames.count == before { return nil }
      }
      return nil
    } catch {
      return error
    }
  }

  @Test func `a crash of what decodes costs the item, and the next one plays`() throws {
    let path = try Recording(frames: 400_000).write(to: "a.flac", in: folder)
    let source = try open(path)
    var frames: [Float] = []
    try source.read(4_096, appendingTo: &frames)
    kill(try #require(source.process), SIGSEGV)
    let error = try #require(fault(of: source))
    #expect(error == .broken(path: path, reason: "the program that decodes it crashed on it"))
    #expect(fault(of: source) == error)
    #expect(try readAll(open(path)) == readAll(FileSource(path: path)))
  }

  @Test func `a program that hangs is given up when its answer is not wanted any more`() throws {
    let path = try Recording(frames: 400_000).write(to: "a.flac", in: folder)
    let source = try open(path)
    let process = try #require(source.process)
    kill(process, SIGSTOP)
    let interruption = interruption
    Thread.detachNewThread { interruption.abandonRead() }
    #expect(fault(of: source) != nil)
    interruption.readAgain()
    #expect(!source.isReusable)
    #expect(try readAll(open(path)) == readAll(FileSource(path: path)))
  }

  @Test func `a program that hangs is named after its time`() throws {
    let path = try Recording(frames: 400_000).write(to: "a.flac", in: folder)
    let source = try open(path)
    kill(try #require(source.process), SIGSTOP)
    source.timeout = .milliseconds(300)
    let error = try #require(fault(of: source))
    #expect("\(error)".contains("gave no answer"))
  }

  @Test func `what answers anything else is ended`() throws {
    let workers = MediaWorkers()
    try workers.start(["/bin/sh", "-c", "exec head -c 100000000 /dev/urandom >&0"])
    let path = try Recording(frames: 4_000).write(to: "a.flac", in: folder)
    for _ in 0..<20 {
      #expect(throws: MediaError.self) {
        try WorkerSource(path: path, workers: workers, interruption: interruption)
      }
    }
  }

  @Test func `a program that does not start is named`() throws {
    let workers = MediaWorkers()
    try workers.start(["/nonexistent/tutti", "media-worker"])
    let path = try Recording(frames: 4_000).write(to: "a.flac", in: folder)
    let error = #expect(throws: MediaError.self) {
      try WorkerSource(path: path, workers: workers, interruption: interruption)
    }
    #expect("\(try #require(error))".contains("does not start"))
  }

  @Test func `a read of a silent server is abandoned at once`() throws {
    let path = try Recording(rate: 48_000, frames: 400_000).write(to: "a.flac", in: folder)
    let bytes = try folder.bytes(of: "a.flac")
    let server = try TestServer { request, connection in
      connection.head("200 OK", ["Content-Length: \(bytes.count)"])
      connection.send(bytes.prefix(bytes.count / 3))
      connection.fallSilent()
    }
    defer { server.stop() }
    let source = try openAddress(server.url("a.flac"))
    let interruption = interruption
    Thread.detachNewThread {
      while !interruption.isWaiting { usleep(1_000) }
      interruption.abandonRead()
    }
    let start = ContinuousClock.now
    _ = fault(of: source)
    #expect(ContinuousClock.now - start < .seconds(8))
    _ = path
  }

  @Test(.timeLimit(.minutes(3)), arguments: Attack.lists)
  func `what names itself or others is refused through another process`(attack: Attack) throws {
    let files = attack.files
    let server = try TestServer { request, connection in
      guard let file = files.first(where: { "/" + $0.name == request.path }) else {
        return connection.head("404 Not Found")
      }
      connection.send(file: Array(file.text.utf8), from: request.rangeStart)
    }
    defer { server.stop() }
    for file in files { try folder.write(Array(file.text.utf8), to: file.name) }
    #expect(throws: MediaError.self) { try openAddress(server.url(files[0].name)) }
    #expect(throws: MediaError.self) { try open(folder.file(files[0].name)) }
  }
}
