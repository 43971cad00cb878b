import Audio
import Clock
import Sender
import TestSupport
import Testing

@testable import FFmpegSource

/// Reads all frames of a source from its present position, in pieces of odd size.
func readAll(_ source: any MediaSource, limit: Int = 4_000_000) throws(MediaError) -> [Float] {
  var frames: [Float] = []
  while frames.count < limit {
    let before = frames.count
    try source.read(4_999, appendingTo: &frames)
    guard frames.count > before else { break }
  }
  return frames
}

@Suite struct FileSourceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: Encoding.lossless, [16, 24])
  func `lossless files give each sample as it was`(encoding: Encoding, bits: Int) throws {
    let recording = Recording(bits: bits, frames: 20_011)
    let depth =
      switch encoding.name {
      case "a.wav": ["-c:a", "pcm_s\(bits)le"]
      case "a.aiff", "a.caf": ["-c:a", "pcm_s\(bits)be"]
      case "a.flac", "a.m4a":
        [
          "-sample_fmt",
          ["a.flac16": "s16", "a.flac24": "s32", "a.m4a16": "s16p"]["\(encoding.name)\(bits)"]
            ?? "s32p",
        ]
      default: [String]()
      }
    let raw = bits == 24 && encoding.name != "a.wav" ? ["-bits_per_raw_sample", "24"] : []
    let path = try recording.write(to: encoding.name, encoding.arguments + depth + raw, in: folder)
    let source = try FileSource(path: path)
    #expect(source.isLossless)
    #expect(source.format == AudioFormat(sampleRate: 44_100, channelCount: 2))
    #expect(source.frameCount == (encoding.isExact ? 20_011 : nil))
    #expect(try readAll(source) == recording.floats)
    // FFmpeg writes WavPack and TTA with 32 bits here, whatever the samples need.
    if !["a.wv", "a.tta"].contains(encoding.name) {
      #expect(source.sampleType == (bits == 16 ? .int16 : .int24))
    }
  }

  @Test(arguments: Encoding.lossy)
  func `encoder delay and padding are not heard`(encoding: Encoding) throws {
    let recording = Recording(rate: encoding.rate, frames: encoding.rate / 20 * 61)
    let path = try recording.write(to: encoding.name, encoding.arguments, in: folder)
    let source = try FileSource(path: path)
    let frames = try readAll(source)
    #expect(!source.isLossless)
    #expect(source.sampleType == .float32)
    guard encoding.isExact else { return }
    #expect(source.frameCount == Int64(recording.frameCount))
    #expect(frames.count == recording.samples.count)
    // These codecs remove the highest frequencies of noise, but do not shift it.
    let errors = (-3...3).map { error(of: frames, over: recording.floats, shiftedBy: $0) }
    #expect(errors.indices.min { errors[$0] < errors[$1] } == 3)
  }

  @Test(arguments: Encoding.lossless + Encoding.lossy)
  func `a seek leads to the very frame`(encoding: Encoding) throws {
    let recording = Recording(rate: encoding.rate, frames: encoding.rate * 16 + 77)
    let path = try recording.write(to: encoding.name, encoding.arguments, in: folder)
    let whole = try readAll(try FileSource(path: path))
    let source = try FileSource(path: path)
    var random = SplitMix64(seed: 5)
    let places = [
      0, 1, 5_000, encoding.rate * 15, encoding.rate * 16 - 2_000, 31, encoding.rate * 6,
    ]
    for place in places
      + (0..<8).map({ _ in Int.random(in: 0..<encoding.rate * 16, using: &random) })
    {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(1_500, appendingTo: &frames)
      let expected = Array(whole[2 * place..<min(whole.count, 2 * (place + 1_500))])
      try #require(frames.count == expected.count)
      if encoding.isLossless {
        #expect(frames == expected, "at \(place)")
      } else {
        #expect(error(of: frames, over: expected, shiftedBy: 0) < 0.05, "at \(place)")
      }
    }
  }

  @Test func `after the end nothing comes, and a seek brings it back`() throws {
    let recording = Recording(frames: 3_000)
    let source = try FileSource(path: try recording.write(to: "a.flac", in: folder))
    try source.seek(toFrame: 3_000)
    #expect(try readAll(source).isEmpty)
    try source.seek(toFrame: .max)
    #expect(try readAll(source).isEmpty)
    try source.seek(toFrame: 2_990)
    #expect(try readAll(source) == Array(recording.floats.suffix(20)))
    try source.seek(toFrame: -5)
    #expect(try readAll(source) == recording.floats)
  }

  @Test(arguments: ["a.wav", "a.flac", "a.wv"])
  func `a recording cut in two joins without a seam`(name: String) throws {
    let recording = Recording(frames: 30_000)
    let first = try recording.part(0..<12_345).write(to: "1-" + name, in: folder)
    let second = try recording.part(12_345..<30_000).write(to: "2-" + name, in: folder)
    let joined = try readAll(FileSource(path: first)) + readAll(FileSource(path: second))
    #expect(joined == recording.floats)
  }

  @Test func `a rate that sound cards do not know becomes the nearest, and seeks stay exact`()
    throws
  {
    let recording = Recording(rate: 37_800, frames: 37_800 * 8)
    let path = try recording.write(to: "a.flac", in: folder)
    let source = try FileSource(path: path)
    #expect(source.format.sampleRate == 32_000)
    #expect(source.frameCount == 256_000)
    let whole = try readAll(source)
    #expect(whole.count == 2 * 32_000 * 8)
    for place in [100_003, 0, 32_000, 250_001, 7] {
      var frames: [Float] = []
      try source.seek(toFrame: Int64(place))
      try source.read(1_000, appendingTo: &frames)
      let expected = whole[2 * place..<2 * (place + 1_000)]
      #expect(zip(frames, expected).allSatisfy { abs($0 - $1) < 1e-5 }, "at \(place)")
    }
  }

  @Test func `the bits of DSD are kept without loss, at the highest rate that divides theirs`()
    throws
  {
    let path = folder.file("a.dsf")
    try DSDFile.writeSine(441, seconds: 1, to: path)
    let source = try FileSource(path: path)
    #expect(source.isLossless)
    #expect(source.format == AudioFormat(sampleRate: 176_400, channelCount: 2))
    var frames: [Float] = []
    try source.read(176_400, appendingTo: &frames)
    #expect(abs(frames.count / 2 - 176_400) < 2_000)
    // The sine is at half of full scale, with the number of periods that was written.
    let left = stride(from: 40_000, to: 300_000, by: 2).map { frames[$0] }
    #expect(abs(left.max() ?? 0) > 0.4)
    let crossings = zip(left, left.dropFirst(40)).count { $0 < 0 && $1 >= 0 } / 40
    #expect(abs(crossings - 441 * left.count / 176_400) < 20)
  }

  @Test(arguments: [
    (352_800, 176_400), (705_600, 176_400), (384_000, 192_000), (1_411_200, 176_400),
    (37_800, 32_000), (250_000, 192_000), (44_100, 44_100),
  ])
  func `rates that are not played become others`(rate: Int, played: Int) {
    #expect(DecodedAudio.playableRate(for: rate) == played)
  }

  @Test func `six channels become two within full scale, or stay six`() throws {
    var recording = Recording(rate: 48_000, channels: 6, frames: 10_000)
    recording.samples = recording.samples.map { $0 < 0 ? -32_768 : 32_767 }
    let path = try recording.write(to: "a.flac", in: folder)
    let mixed = try FileSource(path: path)
    #expect(mixed.format.channelCount == 2)
    #expect(try readAll(mixed).allSatisfy { abs($0) <= 1.000_01 })
    let kept = try FileSource(path: path, channels: ChannelLimit(maximum: 8))
    #expect(kept.format.channelCount == 6)
    #expect(try readAll(kept) == recording.floats)
  }

  @Test func `tags are read, without what would confuse a terminal`() throws {
    let tags = ["title=One\u{1B}[31mTwo", "artist=Jo Bä", "album=Third"].flatMap {
      ["-metadata", $0]
    }
    for name in ["a.flac", "a.mp3", "a.opus", "a.m4a"] {
      let path = try Recording(rate: 48_000, frames: 9_600).write(to: name, tags, in: folder)
      let metadata = try FileSource(path: path).metadata
      #expect(metadata == ItemMetadata(title: "One [31mTwo", artist: "Jo Bä", album: "Third"))
    }
  }

  @Test(arguments: ["a.flac", "a.mp3", "a.m4a", "a.opus", "a.ogg"])
  func `all that a file tells of itself is read`(name: String) throws {
    let tags = [
      "title=T", "artist=A", "album=B", "album_artist=C", "track=3/12", "disc=2/2", "date=1997",
    ].flatMap { ["-metadata", $0] }
    let path = try Recording(rate: 48_000, frames: 9_600).write(to: name, tags, in: folder)
    var expected = ItemMetadata(title: "T", artist: "A", album: "B")
    expected.albumArtist = "C"
    expected.track = 3
    expected.disc = 2
    expected.date = "1997"
    #expect(try FileSource(path: path).metadata == expected)
  }

  @Test(arguments: ["jpg", "png"], ["a.flac", "a.mp3", "a.m4a"])
  func `the picture is read as it was stored`(kind: String, name: String) throws {
    let picture = folder.file("cover." + kind)
    try run("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc", "-frames:v", "1", picture])
    let sound = try Recording(rate: 48_000, frames: 9_600).write(to: "a.wav", in: folder)
    let path = folder.file(name)
    let map = ["-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic"]
    try run("ffmpeg", ["-v", "error", "-i", sound, "-i", picture] + map + [path])
    let source = try FileSource(path: path)
    let type = kind == "jpg" ? "image/jpeg" : "image/png"
    let artwork = Artwork(bytes: try folder.bytes(of: "cover." + kind), mimeType: type)
    #expect(source.metadata.artwork == artwork)
    #expect(try readAll(source).count == 2 * 9_600)
  }

  @Test func `a picture that is too large is left out`() throws {
    let huge = [UInt8](repeating: 0, count: Artwork.sizeLimit + 1)
    #expect(Artwork(bytes: huge, mimeType: "image/png") == nil)
    #expect(Artwork(bytes: [], mimeType: "image/png") == nil)
  }

  @Test func `the sound of a film is read`() throws {
    let path = folder.file("film.mkv")
    try run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "testsrc=d=1", "-f", "lavfi", "-i", "sine=d=1:r=48000",
        "-c:a", "flac", path,
      ])
    #expect(try readAll(FileSource(path: path)).count == 48_000)
  }

  /// Returns the energy of the difference, relative to that of `expected`.
  private func error(of frames: [Float], over expected: [Float], shiftedBy shift: Int) -> Float {
    var noise: Float = 0
    var signal: Float = 0
    for index in stride(from: 6, to: min(frames.count, expected.count) - 6, by: 1) {
      let difference = frames[index + 2 * shift] - expected[index]
      noise += difference * difference
      signal += expected[index] * expected[index]
    }
    return noise / signal
  }
}
