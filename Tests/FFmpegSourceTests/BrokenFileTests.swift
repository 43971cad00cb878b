import Audio
import Clock
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

@Suite struct BrokenFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failure(at path: String) -> MediaError? {
    do throws(MediaError) {
      _ = try FileSource(path: path)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a missing file is not found`() {
    #expect(failure(at: folder.file("a.mp3")) == .notFound(path: folder.file("a.mp3")))
  }

  @Test func `a folder is not a file`() {
    #expect(failure(at: folder.path) == .unreadable(path: folder.path, reason: "it is a folder"))
  }

  @Test func `an empty file says so`() throws {
    let path = try folder.write([], to: "a.mp3")
    #expect(failure(at: path) == .notAudio(path: path, reason: "the file is empty"))
  }

  @Test func `text and pictures are not audio, in one line`() throws {
    let text = try folder.write(
      Array(String(repeating: "not a song\n", count: 500).utf8), to: "a.mp3")
    let picture = folder.file("a.png")
    try run("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "color=red", "-frames:v", "1", picture])
    for path in [text, picture] {
      let error = try #require(failure(at: path))
      guard case .notAudio = error else { throw error }
      #expect(!"\(error)".contains("\n"))
      #expect("\(error)".hasPrefix(path))
    }
  }

  @Test(arguments: ["a.flac", "a.mp3", "a.aiff", "a.wv"])
  func `a file that is cut short is played up to there, then says so`(name: String) throws {
    try Recording(frames: 200_000).write(to: name, in: folder)
    let bytes = try folder.bytes(of: name)
    let path = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "cut-" + name)
    let source = try FileSource(path: path)
    var frames: [Float] = []
    let error = #expect(throws: MediaError.self) {
      while true {
        let before = frames.count
        try source.read(5_000, appendingTo: &frames)
        if frames.count == before { break }
      }
    }
    #expect((150_000...250_000).contains(frames.count))
    guard let error, error.hasSounded else { throw error ?? .notFound(path: "no error") }
    if name != "a.wv" {
      #expect(
        "\(error)".hasPrefix("\(path): incomplete: played to where the file ends, at 0:02 of 0:04"))
    }
    try source.read(1, appendingTo: &frames)
  }

  @Test(arguments: ["a.flac", "a.mp3", "a.aiff"])
  func `a file that is cut short and sought beyond that says where it ends`(name: String) throws {
    try Recording(frames: 200_000).write(to: name, in: folder)
    let bytes = try folder.bytes(of: name)
    let path = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "cut-" + name)
    let source = try FileSource(path: path)
    try source.seek(toFrame: 150_000)
    var frames: [Float] = []
    #expect(throws: MediaError.endsEarly(path: path, after: 2, of: 4)) {
      try source.read(5_000, appendingTo: &frames)
    }
    #expect(frames.isEmpty)
    try source.seek(toFrame: 44_100)
    try source.read(5_000, appendingTo: &frames)
    #expect(frames.count == 10_000)
  }

  @Test func `an index at the end that was cut off makes the file unreadable`() throws {
    try Recording(frames: 50_000).write(to: "a.m4a", in: folder)
    let bytes = try folder.bytes(of: "a.m4a")
    let path = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "cut.m4a")
    let error = try #require(failure(at: path))
    guard case .notAudio = error else { throw error }
    #expect("\(error)".contains("moov atom not found"))
  }

  @Test(
    arguments: ["a.wav", "a.flac", "a.mp3", "a.ogg", "a.opus", "a.m4a", "a.mka", "a.aiff", "a.wv"])
  func `damaged bytes never stop the program`(name: String) throws {
    try Recording(rate: 48_000, frames: 24_000).write(to: name, in: folder)
    let sound = try folder.bytes(of: name)
    for seed in UInt64(1)...25 {
      var random = SplitMix64(seed: seed)
      var bytes = sound
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let area = Bool.random(using: &random) ? min(600, bytes.count) : bytes.count
        bytes[Int.random(in: 0..<area, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      playThrough(try folder.write(bytes, to: "damaged-" + name), &random)
    }
  }

  @Test func `random bytes never stop the program`() throws {
    for seed in UInt64(1)...20 {
      var random = SplitMix64(seed: seed)
      let starts = ["", "RIFF", "fLaC", "OggS", "ID3", "\u{1A}E", "FORM", "wvpk"]
      var bytes = Array(starts[Int(seed) % starts.count].utf8)
      bytes += (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) }
      playThrough(try folder.write(bytes, to: "random.mp3"), &random)
    }
  }

  /// Opens, reads and seeks. Any error on the way is fine.
  private func playThrough(_ path: String, _ random: inout SplitMix64) {
    guard let source = try? FileSource(path: path) else { return }
    var frames: [Float] = []
    for _ in 0..<6 {
      frames.removeAll()
      _ = try? source.read(20_000, appendingTo: &frames)
      #expect(frames.count <= 20_000 * source.format.channelCount)
      _ = try? source.seek(toFrame: Int64.random(in: 0...48_000, using: &random))
    }
  }
}
