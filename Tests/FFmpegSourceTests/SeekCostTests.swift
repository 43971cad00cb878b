import Audio
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// A seek over the network costs a few requests, and does not read the data before the place.
@Suite struct SeekCostTests {
  private static let rate = 48_000
  private static let seconds = 90
  /// Bytes that one connection may be sent beyond what its client reads; the test's server counts them
  /// too.
  private static let slack = 500_000

  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  struct File: Sendable, CustomTestStringConvertible {
    var name: String
    var arguments: [String] = []
    /// Largest number of requests for any seek.
    var requests: Int
    /// True if a seek leads to the exact frame.
    var isExact = true

    var testDescription: String { ([name] + arguments).joined(separator: " ") }
  }

  static let files = [
    File(name: "cbr.mp3", arguments: ["-b:a", "320k"], requests: 1),
    File(name: "plain.mp3", arguments: ["-b:a", "320k", "-write_xing", "0"], requests: 1),
    File(name: "vbr.mp3", arguments: ["-q:a", "0"], requests: 2, isExact: false),
    File(
      name: "plainvbr.mp3", arguments: ["-q:a", "0", "-write_xing", "0"], requests: 2,
      isExact: false),
    File(name: "a.aac", arguments: ["-b:a", "320k", "-aac_pns", "0"], requests: 1, isExact: false),
    File(name: "a.mp2", arguments: ["-b:a", "320k"], requests: 1),
    File(name: "a.ac3", arguments: ["-b:a", "448k"], requests: 1),
    File(name: "a.eac3", arguments: ["-b:a", "448k"], requests: 1),
    File(name: "a.m4a", arguments: ["-b:a", "320k", "-aac_pns", "0"], requests: 1),
    File(name: "a.wav", requests: 1), File(name: "a.flac", requests: 3),
    File(name: "a.ogg", arguments: ["-b:a", "320k"], requests: 12),
  ]

  private func open(_ url: String) throws(MediaError) -> NetworkSource {
    try NetworkSource(url: url, settings: .withoutPauses, interruption: interruption)
  }

  private func bytes(of file: File) throws -> [UInt8] {
    try Recording(rate: Self.rate, frames: Self.rate * Self.seconds).write(
      to: file.name, file.arguments, in: folder)
    return try folder.bytes(of: file.name)
  }

  @Test(arguments: files)
  func `a seek costs as many requests as are said, and few bytes`(file: File) throws {
    let bytes = try bytes(of: file)
    let server = try TestServer { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let source = try open(server.url(file.name))
    let isPassed = file.name != "a.wav" && file.name != "a.mp2"
    let packets = isPassed ? try source.packets() : nil
    let whole =
      file.isExact ? try readAll(FileSource(path: folder.file(file.name)), limit: 40_000_000) : []
    for place in [80, 30, 60, 10] {
      let frame = place * Self.rate + 77
      let before = (server.requestCount(of: file.name), server.byteCount(of: file.name))
      var frames: [Float] = []
      try source.seek(toFrame: Int64(frame))
      try source.read(4_800, appendingTo: &frames)
      let after = (server.requestCount(of: file.name), server.byteCount(of: file.name))
      #expect(
        after.0 - before.0 <= file.requests, "at \(place) s: \(server.starts(of: file.name))")
      #expect(after.1 - before.1 < Self.slack * file.requests, "at \(place) s")
      try #require(frames.count == 9_600)
      if file.isExact {
        let expected = whole[2 * frame..<2 * (frame + 4_800)]
        #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 0.001 }, "at \(place) s")
      }
      guard let packets else { continue }
      try packets.seek(toFrame: Int64(frame))
      #expect(try packets.next() != nil)
      #expect(packets.position >= frame)
      #expect(
        server.requestCount(of: file.name) - after.0 <= file.requests,
        "at \(place) s: \(server.starts(of: file.name))")
    }
  }

  @Test func `in AC-3 whose bit rate changes a seek is exact`() throws {
    var bytes: [UInt8] = []
    for (name, bitRate) in [("1.ac3", "448k"), ("2.ac3", "192k")] {
      try Recording(rate: Self.rate, frames: Self.rate * 20).write(
        to: name, ["-b:a", bitRate], in: folder)
      bytes += try folder.bytes(of: name)
    }
    let path = try folder.write(bytes, to: "a.ac3")
    let whole = try readAll(FileSource(path: path))
    let server = try TestServer { [bytes] in $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let source = try open(server.url("a.ac3"))
    for place in [32, 12, 25] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place * Self.rate))
      try source.read(4_800, appendingTo: &frames)
      let expected = whole[2 * place * Self.rate..<2 * (place * Self.rate + 4_800)]
      #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 0.001 }, "at \(place) s")
    }
  }

  /// Noise with a varying bit rate: at times it has no high frequencies.
  private func changing(_ arguments: [String]) throws -> [UInt8] {
    var recording = Recording(rate: Self.rate, frames: Self.rate * Self.seconds)
    for index in recording.samples.indices where index / 2 / Self.rate % 30 > 12 {
      recording.samples[index] = recording.samples[index / 24 * 24 + index % 2]
    }
    try recording.write(to: "vbr.mp3", arguments, in: folder)
    return try folder.bytes(of: "vbr.mp3")
  }

  @Test func `with a variable bit rate a seek leads about to the place, by the file's own table`()
    throws
  {
    let bytes = try changing(["-q:a", "2"])
    let server = try TestServer { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let whole = try readAll(FileSource(path: folder.file("vbr.mp3")), limit: 40_000_000)
    let source = try open(server.url("vbr.mp3"))
    for place in [75, 20, 50] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place * Self.rate))
      try source.read(Self.rate, appendingTo: &frames)
      let found = try #require(Self.place(of: frames, in: whole, near: place * Self.rate))
      #expect(abs(found - place * Self.rate) < Self.seconds * Self.rate / 100, "at \(place) s")
    }
  }

  @Test func `what has sounded once is found again at the time that it had`() throws {
    let bytes = try changing(["-q:a", "2"])
    let server = try TestServer { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let source = try open(server.url("vbr.mp3"))
    var first: [Float] = []
    try source.seek(toFrame: Int64(60 * Self.rate))
    try source.read(Self.rate, appendingTo: &first)
    while first.count < 16 * Self.rate { try source.read(Self.rate, appendingTo: &first) }
    for back in [61, 65] {
      var again: [Float] = []
      try source.seek(toFrame: Int64(back * Self.rate))
      try source.read(2_000, appendingTo: &again)
      let start = 2 * (back - 60) * Self.rate
      #expect(
        zip(again, first[start...]).allSatisfy { abs($0 - $1) < 0.001 }, "at \(back) s")
    }
  }

  @Test func `after a seek by estimate an item is played to its end`() throws {
    let bytes = try changing(["-q:a", "2"])
    let server = try TestServer { $1.send(file: bytes, from: $0.rangeStart) }
    defer { server.stop() }
    let whole = try readAll(FileSource(path: folder.file("vbr.mp3")), limit: 40_000_000)
    let source = try open(server.url("vbr.mp3"))
    try source.seek(toFrame: Int64(80 * Self.rate))
    let rest = try readAll(source)
    #expect(abs(rest.count - 2 * 10 * Self.rate) < 4 * Self.rate)
    let tail = Array(whole.suffix(20_000).prefix(4_000))
    #expect(Self.place(of: tail, in: rest, near: rest.count / 2 - 10_000) != nil)
  }

  /// Returns the frame of `whole` at which `part` begins, within two seconds of `frame`.
  private static func place(of part: [Float], in whole: [Float], near frame: Int) -> Int? {
    // Skip the frames in which the decoder is still settling.
    let probe = Array(part.dropFirst(1_000).prefix(1_000))
    let range = max(0, frame - 2 * rate)..<max(0, min(whole.count / 2 - 1_000, frame + 2 * rate))
    return range.first { start in
      let base = 2 * start + 1_000
      guard base + probe.count <= whole.count else { return false }
      return probe.indices.allSatisfy { abs(probe[$0] - whole[base + $0]) < 0.001 }
    }
  }
}
