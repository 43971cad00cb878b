import Audio
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// Files of many formats give what was put into them.
@Suite struct FormatTests {
  private static let tone = 997.0
  private static let level = 0.5

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The tone, in the channels that are named of those that there are.
  private static func recording(
    seconds: Double, rate: Int = 48_000, channels: Int = 2, in sounding: Set<Int> = [0, 1]
  ) -> Recording {
    var recording = Recording(rate: rate, channels: channels, frames: 0)
    recording.samples = (0..<Int(seconds * Double(rate))).flatMap { frame in
      let sample = level * sin(2 * .pi * tone * Double(frame) / Double(rate))
      return (0..<channels).map { channel in
        sounding.contains(channel) ? Int32((sample * 32_768).rounded()) : 0
      }
    }
    return recording
  }

  /// The frequency of a part of one channel in Hz, and the level that a sine of its power has.
  private static func sound(
    _ frames: [Float], _ part: Range<Double>, rate: Int, channel: Int = 0
  ) -> (frequency: Double, level: Double) {
    let (first, last) = (
      Int(part.lowerBound * Double(rate)),
      min(frames.count / 2, Int(part.upperBound * Double(rate)))
    )
    let heard = (first..<max(first + 1, last)).map { Double(frames[2 * $0 + channel]) }
    let rises = zip(heard, heard.dropFirst()).count { $0 < 0 && $1 >= 0 }
    let power = heard.reduce(0) { $0 + $1 * $1 } / Double(heard.count)
    return (Double(rises * rate) / Double(heard.count), (2 * power).squareRoot())
  }

  // MARK: - Lossless

  @Test(arguments: [48_000, 88_200, 96_000, 176_400, 192_000])
  func `FLAC of 24 bits gives each sample as it was, at any rate`(rate: Int) throws {
    let recording = Recording(rate: rate, bits: 24, frames: 60_000)
    let path = try recording.write(
      to: "a.flac", ["-sample_fmt", "s32", "-bits_per_raw_sample", "24"], in: folder)
    let source = try FileSource(path: path)
    #expect(source.format == AudioFormat(sampleRate: rate, channelCount: 2))
    #expect(source.sampleType == .int24 && source.isLossless)
    #expect(try readAll(source) == recording.floats)
  }

  @Test(arguments: [("a.wav", "pcm_f32le"), ("a.aiff", "pcm_f32be"), ("a.au", "pcm_s16be")])
  func `samples in other forms are as they were`(name: String, codec: String) throws {
    let recording = Recording(frames: 20_011)
    let path = try recording.write(to: name, ["-c:a", codec], in: folder)
    let source = try FileSource(path: path)
    #expect(source.isLossless)
    #expect(try readAll(source) == recording.floats)
  }

  // MARK: - Lossy

  @Test(arguments: [
    "a.mp3", "a.mp2", "a.m4a", "a.aac", "a.ac3", "a.eac3", "a.wma", "a.ogg", "a.opus",
  ])
  func `a tone keeps its pitch and its level`(name: String) throws {
    let path = try Self.recording(seconds: 1.2).write(to: name, ["-b:a", "192k"], in: folder)
    let source = try FileSource(path: path)
    let frames = try readAll(source)
    #expect(source.format == AudioFormat(sampleRate: 48_000, channelCount: 2))
    for channel in 0...1 {
      let heard = Self.sound(frames, 0.2..<1, rate: 48_000, channel: channel)
      #expect(abs(heard.frequency - Self.tone) < 2, "\(heard)")
      // LAME makes all quieter by 3 %.
      let tolerance = name == "a.mp3" ? 0.05 : 0.02
      #expect(abs(heard.level / Self.level - 1) < tolerance, "\(heard)")
    }
  }

  @Test func `a chain whose rate changes plays on at its pitch`() throws {
    var chain: [UInt8] = []
    for (name, rate) in [("1.ogg", 44_100), ("2.ogg", 48_000)] {
      try Self.recording(seconds: 2, rate: rate).write(
        to: name, ["-c:a", "libvorbis", "-b:a", "192k"], in: folder)
      chain += try folder.bytes(of: name)
    }
    let source = try FileSource(path: folder.write(chain, to: "a.ogg"))
    #expect(source.format.sampleRate == 44_100)
    let frames = try readAll(source)
    #expect(abs(Double(frames.count / 2) / 44_100 - 4) < 0.1)
    for part in [0.5..<1.5, 2.5..<3.5] {
      let heard = Self.sound(frames, part, rate: 44_100)
      #expect(abs(heard.frequency - Self.tone) < 2, "\(part): \(heard)")
      #expect(abs(heard.level / Self.level - 1) < 0.05, "\(part): \(heard)")
    }
  }

  // MARK: - Channels and films

  /// Front, centre, and back: the one for low frequencies is left out, as usual.
  @Test(arguments: [(0, [true, false]), (1, [false, true]), (2, [true, true])])
  func `each of six channels is heard on its side`(channel: Int, sides: [Bool]) throws {
    for channel in channel == 2 ? [2] : [channel, channel + 4] {
      let path = try Self.recording(seconds: 0.5, channels: 6, in: [channel])
        .write(to: "\(channel).flac", in: folder)
      let frames = try readAll(try FileSource(path: path))
      let heard = (0...1).map {
        Self.sound(frames, 0.1..<0.4, rate: 48_000, channel: $0).level / Self.level
      }
      for (share, sounds) in zip(heard, sides) {
        #expect(sounds ? share > 0.25 && share <= 1 : share < 0.001, "\(channel): \(heard)")
      }
      if channel == 2 { #expect(abs(heard[0] - heard[1]) < 0.001) }
    }
  }

  @Test(arguments: [("film.mkv", "flac"), ("film.mp4", "alac"), ("film.ts", "mp2")])
  func `the sound of a film is that which it was made with`(name: String, codec: String) throws {
    let recording = Self.recording(seconds: 2)
    let sound = try recording.write(to: "a.wav", in: folder)
    let path = folder.file(name)
    try run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "testsrc=d=2:s=64x64", "-i", sound, "-map", "0",
        "-map", "1", "-c:v", "mpeg4", "-c:a", codec, path,
      ])
    let source = try FileSource(path: path)
    #expect(source.metadata.hasVideo)
    let frames = try readAll(source)
    // Testing would compare two arrays that differ for minutes.
    let isEqual = frames == recording.floats
    #expect(isEqual || !source.isLossless)
    let heard = Self.sound(frames, 0.5..<1.5, rate: 48_000)
    #expect(abs(heard.frequency - Self.tone) < 1, "\(heard)")
    #expect(abs(heard.level / Self.level - 1) < 0.02, "\(heard)")
  }
}
