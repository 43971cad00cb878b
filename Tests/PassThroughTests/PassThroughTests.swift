import Audio
import Codecs
import FFmpegDecoder
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// A file for pass-through: how it is made, and how it appears on the wire.
struct PassedFile: Sendable, CustomTestStringConvertible {
  var name: String
  var codec: Codec
  var rate = 44_100
  var arguments: [String] = []
  /// Arguments for files that `lame` writes.
  var lame: [String]?
  /// Frames in a packet.
  var step: Int

  var testDescription: String { name }

  static let all = [
    PassedFile(name: "cbr.mp3", codec: .mp3, lame: ["-b", "128"], step: 1_152),
    PassedFile(name: "vbr.mp3", codec: .mp3, lame: ["-V", "2"], step: 1_152),
    PassedFile(name: "low.mp3", codec: .mp3, rate: 22_050, lame: ["-b", "80"], step: 576),
    PassedFile(
      name: "plain.mp3", codec: .mp3, arguments: ["-write_xing", "0", "-q:a", "3"], step: 1_152),
    PassedFile(name: "lc.m4a", codec: .aac, arguments: aac, step: 1_024),
    PassedFile(name: "lc.aac", codec: .aac, arguments: aac, step: 1_024),
    PassedFile(name: "lc.ts", codec: .aac, arguments: aac, step: 1_024),
    PassedFile(name: "lc.mka", codec: .aac, arguments: aac, step: 1_024),
    PassedFile(name: "alac.m4a", codec: .alac, arguments: ["-c:a", "alac"], step: 4_096),
    PassedFile(name: "a.flac", codec: .flac, step: 4_608),
    PassedFile(name: "flac.ogg", codec: .flac, arguments: ["-c:a", "flac"], step: 4_608),
    PassedFile(name: "a.opus", codec: .opus, rate: 48_000, step: 960),
    PassedFile(name: "opus.mka", codec: .opus, rate: 48_000, arguments: opus, step: 960),
    PassedFile(name: "a.ogg", codec: .vorbis, arguments: ["-c:a", "libvorbis"], step: 0),
    PassedFile(name: "vorbis.mka", codec: .vorbis, arguments: ["-c:a", "libvorbis"], step: 0),
    PassedFile(name: "a.ac3", codec: .ac3, arguments: dolby, step: 1_536),
    PassedFile(name: "a.eac3", codec: .eac3, arguments: dolby, step: 1_536),
    PassedFile(
      name: "ac3.mka", codec: .ac3, rate: 48_000, arguments: ["-c:a", "ac3"] + dolby, step: 1_536),
  ]

  /// Without noise substitution, whose noise differs each time it is decoded.
  private static let aac = ["-c:a", "aac", "-b:a", "128k", "-aac_pns", "0"]
  /// A high bit rate, so that the decoder fills nothing with noise.
  private static let dolby = ["-b:a", "640k"]
  private static let opus = ["-c:a", "libopus", "-b:a", "128k"]

  /// True if the file states its number of frames.
  var isExact: Bool {
    ["cbr.mp3", "vbr.mp3", "low.mp3", "a.opus", "opus.mka", "a.ogg"].contains(name)
      || codec == .alac || codec == .flac
  }

  /// Opus is decoded here by another library than when a file is read; the two round differently.
  var tolerance: Float { codec == .opus ? 3e-3 : 1e-4 }

  func write(_ recording: Recording, as name: String, in folder: TemporaryFolder) throws -> String {
    guard let lame else { return try recording.write(to: name, arguments, in: folder) }
    let wave = try recording.write(to: name + ".wav", in: folder)
    try run("lame", ["--quiet"] + lame + [wave, folder.file(name)])
    return folder.file(name)
  }
}

@Suite struct PassThroughTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ file: PassedFile, seconds: Int = 4) throws -> String {
    let recording = Recording(rate: file.rate, frames: file.rate * seconds + 1_234)
    return try file.write(recording, as: file.name, in: folder)
  }

  @Test(arguments: PassedFile.all)
  func `packets are byte for byte those of the file`(file: PassedFile) throws {
    let path = try write(file)
    let packets = try packets(of: FileSource(path: path).packets())
    let copied = try copiedPackets(of: path, file, in: folder)
    #expect(packets.flatMap(\.payload) == copied)
    #expect(packets.count > 20)
  }

  @Test(arguments: PassedFile.all)
  func `what they decode to is what the file decodes to`(file: PassedFile) throws {
    let path = try write(file)
    let source = try FileSource(path: path)
    let packets = try source.packets()
    #expect(packets.format.codec == file.codec)
    #expect(packets.format.audio == AudioFormat(sampleRate: file.rate, channelCount: 2))
    let passed = try decodeAll(packets)
    let decoded = try readAll(source)
    #expect(passed.count == decoded.count)
    #expect(largestDifference(passed, decoded) < file.tolerance)
  }

  @Test(arguments: PassedFile.all)
  func `a seek begins with the very frame`(file: PassedFile) throws {
    let path = try write(file)
    let source = try FileSource(path: path)
    let packets = try source.packets()
    let whole = try readAll(source)
    for frame in [100_003, 40_001, 150_000, 17, 0, file.rate * 2 + 1] where frame < whole.count / 2
    {
      try packets.seek(toFrame: Int64(frame))
      var passed: [Float] = []
      let decoder = try makeDecoder(packets.format)
      while passed.count < 2 * 6_000, let packet = try packets.next() {
        passed += try decode(packet, decoder, packets.format)
      }
      #expect(packets.position == Int64(frame + passed.count / 2), "\(frame)")
      let expected = Array(whole[(frame * 2)...].prefix(passed.count))
      #expect(passed.count == expected.count, "\(frame)")
      #expect(largestDifference(passed, expected) < file.tolerance, "\(frame)")
    }
  }

  @Test(arguments: [88_200, 96_000, 192_000])
  func `FLAC of 24 bits passes, and decodes to each sample as it was`(rate: Int) throws {
    let recording = Recording(rate: rate, bits: 24, frames: 60_000)
    let path = try recording.write(
      to: "a.flac", ["-sample_fmt", "s32", "-bits_per_raw_sample", "24"], in: folder)
    let packets = try FileSource(path: path).packets()
    #expect(packets.format.audio == AudioFormat(sampleRate: rate, channelCount: 2))
    #expect(packets.format.sampleType == .int24)
    #expect(try decodeAll(packets) == recording.floats)
  }

  private func packets(of source: any PacketSource) throws -> [EncodedPacket] {
    var packets: [EncodedPacket] = []
    while let packet = try source.next() { packets.append(packet) }
    return packets
  }
}
