import Audio
import Driver
import FFmpegSource
import Foundation
import Glibc
import Sender
import TestSupport
import Testing

/// Tests of a decoding process that was taken over: what it can do, and what it can send.
@Suite struct HostileWorkerTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  private func status(of process: Int32) throws -> [String: String] {
    let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    return Dictionary(
      text.split(separator: "\n").map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
      }, uniquingKeysWith: { first, _ in first })
  }

  @Test func `what decodes can open, start and reach nothing`() throws {
    let path = try Recording(frames: 400_000).write(to: "a.flac", in: folder)
    let source = try WorkerSource(
      path: path, workers: WorkerSourceTests.workers, interruption: interruption)
    let process = try #require(source.process)
    let status = try status(of: process)
    #expect(status["Seccomp"] == "2")
    #expect(status["NoNewPrivs"] == "1")
    #expect(status["Threads"] == "1")
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap
    {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
    }
    // Open descriptors: the socket, /dev/null twice for its output, its own pipe, and the file.
    #expect(open.filter { $0.hasPrefix("/") && $0 != "/dev/null" } == [path])
    #expect(open.filter { $0.hasPrefix("socket:") }.count == 1)
    let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
    for (name, limit) in [
      ("Max data size", "536870912"), ("Max file size", "0"), ("Max core file size", "0"),
      ("Max processes", "0"), ("Max open files", "16"),
    ] {
      let line = limits.split(separator: "\n").first { $0.hasPrefix(name) }
      let values = line?.dropFirst(name.count).split(separator: " ").map(String.init) ?? []
      #expect(Array(values.prefix(2)) == [limit, limit], "\(name)")
    }
  }

  /// Makes a Matroska file with attachments of zeros, which takes no space on the disk.
  private func bomb(count: Int, size: Int) throws -> String {
    try Recording(rate: 48_000, frames: 48_000).write(
      to: "a.mka", ["-c:a", "flac", "-live", "1"], in: folder)
    let whole = try folder.bytes(of: "a.mka")
    let segment = try #require(whole.firstRange(of: [0x18, 0x53, 0x80, 0x67])).upperBound + 8
    func element(_ id: [UInt8], _ size: Int) -> [UInt8] {
      id + [0x01] + (0..<7).reversed().map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
    }
    func full(_ id: [UInt8], _ text: String) -> [UInt8] {
      element(id, text.utf8.count) + Array(text.utf8)
    }
    let names = full([0x46, 0x6E], "a.ttf") + full([0x46, 0x60], "font/ttf")
    let fileSize = names.count + 10 + size
    let path = try folder.write(
      whole[..<segment] + element([0x19, 0x41, 0xA4, 0x69], count * (fileSize + 10)), to: "bomb.mka"
    )
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    for _ in 0..<count {
      try file.write(
        contentsOf: element([0x61, 0xA7], fileSize) + names + element([0x46, 0x5C], size))
      try file.truncate(atOffset: try file.offset() + UInt64(size))
      try file.seekToEnd()
    }
    try file.write(contentsOf: whole[segment...])
    try file.close()
    return path
  }

  @Test func `pictures without end cost the item, and no more memory than the limit`() throws {
    // Nine attachments of 100 MiB, each below FFmpeg's own limit for one block.
    let path = try bomb(count: 9, size: 100 << 20)
    do throws(MediaError) {
      let source = try WorkerSource(
        path: path, workers: WorkerSourceTests.workers, interruption: interruption)
      let peak = try? status(of: source.process ?? 0)["VmHWM"]
      let kibibytes = peak.flatMap { Int($0.prefix { $0.isNumber }) } ?? .max
      #expect(kibibytes < 700 << 10)
    } catch {
      guard case .unsupported = error else {
        guard case .notAudio = error else { throw error }
        return
      }
    }
  }

  /// A program that reads a request and then sends the result of this Python script.
  private func liar(_ script: String) throws -> MediaWorkers {
    let workers = MediaWorkers()
    let program = """
      import socket, struct
      s = socket.socket(fileno=0)
      def say(b): s.sendall(struct.pack('<I', len(b)) + b)
      def hear():
        length = s.recv(4, socket.MSG_WAITALL)
        if len(length) < 4: raise SystemExit
        n, = struct.unpack('<I', length); return s.recv(n, socket.MSG_WAITALL)
      hear()
      \(script)
      """
    try workers.start(["/usr/bin/python3", "-c", program])
    return workers
  }

  private func fault(_ script: String) throws -> String {
    let path = try Recording(frames: 4_000).write(to: "a.flac", in: folder)
    let workers = try liar(script)
    let error = #expect(throws: MediaError.self) {
      let source = try WorkerSource(path: path, workers: workers, interruption: interruption)
      var frames: [Float] = []
      try source.read(100, appendingTo: &frames)
    }
    return "\(try #require(error))"
  }

  @Test func `who asks without end is ended`() throws {
    #expect(try fault("while True: say(b'\\x25'); hear()").contains("a wrong answer"))
  }

  @Test func `who takes no answers is ended`() throws {
    let error = try fault("while True: say(b'\\x25')")
    #expect(error.contains("wrong answer") || error.contains("crashed"))
  }

  @Test func `a message that is too long is not read`() throws {
    #expect(try fault("s.sendall(b'\\xff\\xff\\xff\\x7f'); hear()").contains("crashed"))
  }

  /// An item of a valid format, followed by more frames than requested, by half a frame, or by an unknown
  /// message.
  @Test(arguments: ["b'\\0' * 804", "b'\\0' * 12", "b''"])
  func `frames that cannot be are not believed`(frames: String) throws {
    let opened =
      "b'\\x01' + struct.pack('>IBB', 44100, 2, 1) + b'\\1' + struct.pack('>qBB', 9, 1, 0)"
    let state = "struct.pack('>qBB', 9, 0, 0)"
    let kind = frames == "b''" ? "b'\\x04'" : "b'\\x02'"
    let error = try fault(
      """
      say(\(opened) + \(state)); hear()
      f = \(frames); say(\(kind) + b'\\0' + \(state) + struct.pack('>I', len(f)) + f); hear()
      """)
    #expect(error.contains("a wrong answer"))
  }

  @Test func `no more connections are opened for a process than the limit`() throws {
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Type: audio/mpeg"])
      connection.fallSilent()
    }
    defer { server.stop() }
    let gate = try NetworkGate(server.url("a"), interruption: interruption) { _ in }
    for _ in 0..<NetworkGate.connectionLimit {
      guard case .opened = gate.answer(.open(url: server.url("a"), SourceOptions())) else {
        throw MediaError.notFound(path: server.url("a"))
      }
    }
    guard case .failed = gate.answer(.open(url: server.url("a"), SourceOptions())) else {
      throw MediaError.notFound(path: "a refusal")
    }
    for place in [
      "file:///etc/passwd", "/etc/passwd", "crypto+file:/etc/passwd", "tcp://127.0.0.1:1",
    ] {
      guard case .failed = gate.answer(.open(url: place, SourceOptions())) else {
        throw MediaError.notFound(path: "a refusal of \(place)")
      }
    }
  }

  @Test func `no more files are kept for a process than the limit`() throws {
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["Content-Length: 1000"])
      connection.send([UInt8](repeating: 1, count: 1_000))
    }
    defer { server.stop() }
    let gate = try NetworkGate(server.url("a"), interruption: interruption) { _ in }
    var kept = 0
    for _ in 0..<4 {
      guard case .opened(let it) = gate.answer(.open(url: server.url("a"), SourceOptions())) else {
        throw MediaError.notFound(path: server.url("a"))
      }
      if case .done = gate.answer(.keep(handle: it.handle)) { kept += 1 }
    }
    #expect(kept == 2)
  }
}
