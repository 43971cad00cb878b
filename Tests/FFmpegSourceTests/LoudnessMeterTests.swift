import Audio
import Foundation
import Sender
import TestSupport
import Testing

@testable import FFmpegSource

/// Sounds of known loudness, as EBU Tech 3341 has them: a sine of 1 kHz in both channels is as loud as its peaks are high.
@Suite struct LoudnessMeterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a sine in both channels: `level` is that of its peaks at each second, in dB.
  private func sine(
    _ name: String, rate: Int = 48_000, seconds: Int = 20, _ level: (Double) -> Double
  ) throws -> String {
    var recording = Recording(rate: rate, bits: 24, frames: 0)
    recording.samples = (0..<seconds * rate).flatMap { frame in
      let time = Double(frame) / Double(rate)
      let value = sin(2_000 * .pi * time) * pow(10, level(time) / 20)
      let sample = Int32((value * 8_388_607).rounded())
      return [sample, sample]
    }
    return try recording.write(to: name, in: folder)
  }

  private func loudness(of path: String) throws -> Double {
    try #require(try LoudnessMeter.measure(path: path)?.blocks.loudness)
  }

  @Test(arguments: [44_100, 48_000, 96_000])
  func `a sine of 1 kHz at -23 dB in both channels has -23 LUFS`(rate: Int) throws {
    let path = try sine("sine.flac", rate: rate) { _ in -23 }
    let measured = try #require(try LoudnessMeter.measure(path: path))
    let loudness = try #require(measured.blocks.loudness)
    #expect(abs(loudness + 23) <= 0.1, "\(loudness)")
    #expect(abs(20 * log10(measured.peak) + 23) <= 0.1, "\(measured.peak)")
  }

  @Test func `mono is as loud as the two loudspeakers that play it`() throws {
    let both = try sine("both.flac") { _ in -23 }
    let mono = folder.file("mono.flac")
    try run("ffmpeg", ["-v", "error", "-i", both, "-af", "pan=mono|c0=c0", mono])
    #expect(try FileSource(path: mono).format.channelCount == 1)
    #expect(abs(try loudness(of: mono) + 23) <= 0.1)
  }

  @Test func `the quiet around a tone does not count`() throws {
    let path = try sine("gate.flac", seconds: 40) { (10..<30).contains($0) ? -23 : -36 }
    #expect(abs(try loudness(of: path) + 23) <= 0.1)
  }

  @Test func `silence has no loudness, and a broken file says so`() throws {
    let silence = try sine("silence.flac", seconds: 2) { _ in -200 }
    #expect(try LoudnessMeter.measure(path: silence)?.blocks.loudness == nil)
    try folder.write(Array("no music".utf8), to: "broken.flac")
    #expect(throws: MediaError.self) {
      try LoudnessMeter.measure(path: folder.file("broken.flac"))
    }
  }

  @Test func `a file whose tags give its loudness is not measured`() throws {
    let path = folder.file("tagged.flac")
    let plain = try sine("plain.flac", seconds: 1) { _ in -20 }
    try run(
      "ffmpeg", ["-v", "error", "-i", plain, "-metadata", "REPLAYGAIN_TRACK_GAIN=-4.00 dB", path])
    #expect(try LoudnessMeter.measure(path: path) == nil)
  }

  @Test func `what is longer than the limit is not measured, whether it says its length or not`()
    throws
  {
    let long = try sine("long.flac", seconds: 3) { _ in -20 }
    let unsaid = folder.file("unsaid.aac")
    try run("ffmpeg", ["-v", "error", "-i", long, unsaid])
    #expect(try FileSource(path: unsaid).frameCount == nil)
    for path in [long, unsaid] {
      #expect(try LoudnessMeter.measure(path: path, limit: 2) == nil, "\(path)")
      #expect(try LoudnessMeter.measure(path: path, limit: 4) != nil, "\(path)")
    }
  }

  @Test func `a measured crescendo comes to the loudness asked for, and stays one`() throws {
    // It grows by 26 dB in 40 s.
    let path = try sine("crescendo.flac", seconds: 40) { -46 + 26 * $0 / 40 }
    let measured = try #require(try LoudnessMeter.measure(path: path))
    let own = try #require(measured.blocks.loudness)
    var effects = Effects()
    effects.loudness = -30
    func levelled(_ level: ItemLevel?) throws -> FilteredSource {
      try FilteredSource(FileSource(path: path), effects: effects, measured: level, path: path)
    }
    let level = ItemLevel(loudness: own, peak: measured.peak)
    let result = try LoudnessMeter.measure(levelled(level), path: path)
    #expect(abs(try #require(result?.blocks.loudness) + 30) <= 0.3)
    let frames = try readAll(levelled(level))
    try #require(frames.count == 40 * 96_000)
    #expect(abs(rise(of: frames) - 26 * 38 / 40) < 0.1, "\(rise(of: frames)) dB")
    // A filter that levels on the way flattens it: the test would see that.
    let flattened = try readAll(levelled(nil), limit: 37 * 96_000)
    #expect(rise(of: flattened) < 15)
  }

  /// The last whole second's level over the second one's, in dB.
  private func rise(of frames: [Float]) -> Double {
    func power(_ second: Int) -> Double {
      frames[second * 96_000..<(second + 1) * 96_000].reduce(0) { $0 + Double($1) * Double($1) }
    }
    return 10 * log10(power(frames.count / 96_000 - 1) / power(1))
  }

  @Test func `peaks stay within full scale`() throws {
    let path = try sine("loud.flac", seconds: 5) { _ in -3 }
    var effects = Effects()
    effects.loudness = -5
    let level = ItemLevel(loudness: -20, peak: 0.708)
    let source = try FilteredSource(
      FileSource(path: path), effects: effects, measured: level, path: path)
    let highest = try readAll(source).max() ?? 0
    #expect(abs(highest - 1) < 0.001, "\(highest)")
  }
}
