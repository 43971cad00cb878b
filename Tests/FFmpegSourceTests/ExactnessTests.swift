import Clock
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// Tests with a sine in several files, and with files of popular encoders.
@Suite struct ExactnessTests {
  private static let rate = 48_000
  private static let pieces = [0..<50_021, 50_021..<96_800, 96_800..<150_000]

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// 997 Hz at half of full scale: no period is a whole number of frames.
  private static func sine(_ frame: Int) -> Double {
    sin(2 * .pi * 997 * Double(frame) / Double(rate)) * 0.5
  }

  private static var recording: Recording {
    var recording = Recording(rate: rate, frames: 0)
    recording.samples = (0..<150_000).flatMap { frame in
      let sample = Int32((sine(frame) * 32_768).rounded())
      return [sample, sample]
    }
    return recording
  }

  private static let losslessNames = ["a.wav", "a.aiff", "a.flac", "a.wv", "a.tta", "alac.m4a"]

  @Test(arguments: losslessNames)
  func `a sine cut into lossless files joins to the very samples`(name: String) throws {
    let codec = name == "alac.m4a" ? ["-c:a", "alac"] : []
    var joined: [Float] = []
    for (number, piece) in Self.pieces.enumerated() {
      let path = try Self.recording.part(piece).write(to: "\(number)-" + name, codec, in: folder)
      joined += try readAll(FileSource(path: path))
    }
    #expect(joined == Self.recording.floats)
  }

  /// A codec cannot know what follows the end of its file. So the last few milliseconds may be less exact,
  /// but must be neither silent nor shifted.
  @Test(
    arguments: [
      ("lame", "cbr.mp3", ["-b", "192"]), ("lame", "vbr.mp3", ["-V", "2"]),
      ("lame", "abr.mp3", ["--abr", "190"]), ("ffmpeg", "a.mp3", ["-b:a", "192k"]),
      ("ffmpeg", "a.m4a", ["-b:a", "192k"]), ("ffmpeg", "a.ogg", ["-c:a", "libvorbis"]),
      ("ffmpeg", "a.opus", ["-b:a", "192k"]),
    ])
  func `a sine cut into lossy files joins without a hole or a shift`(
    tool: String, name: String, arguments: [String]
  ) throws {
    var joined: [Float] = []
    for (number, piece) in Self.pieces.enumerated() {
      let path = try encode(Self.recording.part(piece), tool, "\(number)-" + name, arguments)
      joined += try readAll(FileSource(path: path))
    }
    try #require(joined.count == 2 * 150_000)
    for joint in Self.pieces.dropFirst().map(\.lowerBound) {
      for start in stride(from: joint - 4_800, through: joint + 4_800, by: 96) {
        let level = level(of: joined, at: start, count: 288)
        #expect((0.8...1.2).contains(level), "\(level) at \(start - joint) from the joint")
      }
      for side in [joint - 4_800, joint, joint + 4_800] {
        #expect(abs(shift(of: joined, at: side, count: 4_800)) < 0.1, "at \(side - joint)")
      }
    }
  }

  private func encode(
    _ recording: Recording, _ tool: String, _ name: String, _ arguments: [String]
  ) throws -> String {
    guard tool == "lame" else { return try recording.write(to: name, arguments, in: folder) }
    let wave = try recording.write(to: name + ".wav", in: folder)
    try run("lame", ["--quiet"] + arguments + [wave, folder.file(name)])
    return folder.file(name)
  }

  /// Returns the in-phase and quadrature part of the sine, relative to a full-level sine in its place.
  private func phasor(
    of frames: [Float], at start: Int, count: Int
  ) -> (inPhase: Double, quadrature: Double) {
    var inPhase = 0.0
    var quadrature = 0.0
    for frame in start..<start + count {
      let angle = 2 * .pi * 997 * Double(frame) / Double(Self.rate)
      inPhase += Double(frames[2 * frame]) * sin(angle)
      quadrature += Double(frames[2 * frame]) * cos(angle)
    }
    return (inPhase * 4 / Double(count), quadrature * 4 / Double(count))
  }

  private func level(of frames: [Float], at start: Int, count: Int) -> Double {
    phasor(of: frames, at: start, count: count).inPhase
  }

  /// Returns the shift in frames, modulo a period of 48.
  private func shift(of frames: [Float], at start: Int, count: Int) -> Double {
    let phasor = phasor(of: frames, at: start, count: count)
    return atan2(phasor.quadrature, phasor.inPhase) / (2 * .pi * 997) * Double(Self.rate)
  }

  @Test(
    arguments: [
      ["-V", "4"], ["-b", "128"], ["--abr", "150"], ["-t", "-V", "4"], ["-t", "-b", "128"],
      ["-V", "4", "--tt", "Title", "--add-id3v2"], ["-V", "4", "--resample", "22.05"],
    ])
  func `the other encoder's MP3 files are as long as they were, and seeks are exact`(
    arguments: [String]
  ) throws {
    let isTagged = !arguments.contains("-t")
    let recording = Recording(rate: Self.rate, frames: Self.rate * 20 + 321)
    let path = try encode(recording, "lame", "a.mp3", arguments)
    let whole = try readAll(FileSource(path: path), limit: 20_000_000)
    let source = try FileSource(path: path)
    let frameCount = whole.count / 2
    if isTagged {
      #expect(source.frameCount == Int64(frameCount))
      #expect(frameCount == recording.frameCount || arguments.contains("--resample"))
    }
    try checkSeeks(source, whole)
  }

  @Test(arguments: ["a.ogg", "a.opus"])
  func `a chain of streams is played whole, and seeks in it are exact`(name: String) throws {
    for (number, piece) in Self.pieces.enumerated() {
      try Self.recording.part(piece).write(to: "\(number)-" + name, in: folder)
    }
    let chain = try (0..<3).flatMap { try folder.bytes(of: "\($0)-" + name) }
    let path = try folder.write(chain, to: name)
    let whole = try readAll(FileSource(path: path))
    #expect(abs(whole.count - 300_000) < 10_000)
    try checkSeeks(FileSource(path: path), whole)
  }

  @Test func `Apple's gapless tag is honoured at both ends`() throws {
    let path = try Self.recording.write(
      to: "a.m4a", ["-b:a", "192k", "-use_editlist", "0"], in: folder)
    #expect(try FileSource(path: path).frameCount == 151_024)
    let tagged = try folder.write(
      insertGaplessTag(into: folder.bytes(of: "a.m4a"), delay: 1_024, frameCount: 150_000),
      to: "b.m4a")
    let source = try FileSource(path: tagged)
    #expect(source.frameCount == 150_000)
    let frames = try readAll(source)
    #expect(frames.count == 300_000)
    #expect(abs(shift(of: frames, at: 75_000, count: 9_600)) < 0.02)
    try checkSeeks(source, frames)
  }

  @Test func `a length that is only estimated is marked as such`() throws {
    for (name, arguments) in [("a.mka", ["-c:a", "flac"]), ("a.ts", ["-c:a", "aac"])] {
      let source = try FileSource(path: try Self.recording.write(to: name, arguments, in: folder))
      #expect(source.frameCount == nil)
      let estimate = try #require(source.estimatedFrameCount)
      #expect(abs(estimate - 150_000) < 4_800)
    }
  }

  private func checkSeeks(_ source: FileSource, _ whole: [Float]) throws {
    var random = SplitMix64(seed: 8)
    let frameCount = whole.count / 2
    let places = (0..<15).map { _ in Int.random(in: 0..<frameCount, using: &random) }
    for place in [0, frameCount - 500, frameCount / 2, 1] + places {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(1_500, appendingTo: &frames)
      let expected = whole[2 * place..<min(whole.count, 2 * (place + 1_500))]
      try #require(frames.count == expected.count, "at \(place)")
      let worst = zip(frames, expected).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
      #expect(worst < 0.001, "at \(place)")
    }
  }

  /// Inserts the tag as iTunes writes it, in front of other tags. The index is at the end of the file, so
  /// no offset changes.
  private func insertGaplessTag(
    into file: [UInt8], delay: Int, frameCount: Int
  ) throws -> [UInt8] {
    func number(_ value: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    func atom(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
      number(8 + bytes.count) + Array(name.utf8) + bytes
    }
    func position(of name: String) throws -> Int {
      let bytes = Array(name.utf8)
      let place = file.indices.dropLast(4).last { Array(file[$0..<$0 + 4]) == bytes }
      return try #require(place) - 4
    }
    let padding = String(repeating: " 00000000", count: 8)
    let text = String(format: " 00000000 %08X 00000000 %016lX", delay, frameCount) + padding
    let tag = atom(
      "----",
      atom("mean", number(0) + Array("com.apple.iTunes".utf8))
        + atom("name", number(0) + Array("iTunSMPB".utf8))
        + atom("data", number(1) + number(0) + Array(text.utf8)))
    var tagged = file
    for name in ["moov", "udta", "meta", "ilst"] {
      let place = try position(of: name)
      let size = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      tagged.replaceSubrange(place..<place + 4, with: number(size + tag.count))
    }
    tagged.insert(contentsOf: tag, at: try position(of: "ilst") + 8)
    return tagged
  }
}
