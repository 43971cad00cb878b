import Audio
import FFmpegDecoder
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

/// HE-AAC made by hand: files of AAC-LC at 22.05 kHz whose configuration is overwritten with one that announces SBR.
/// The decoder then doubles the rate, as it does for packets without SBR data.
@Suite struct HighEfficiencyTests {
  struct Signalling: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var channels: Int
    /// The bytes that FFmpeg's encoder writes, and their replacement.
    var written: [UInt8]
    var replaced: [UInt8]

    static let all = [
      Signalling(
        testDescription: "SBR, hierarchically", channels: 2, written: [0x13, 0x90, 0x56, 0xe5, 0],
        replaced: [0x2b, 0x92, 0x08, 0, 0]),
      Signalling(
        testDescription: "SBR, by the extension", channels: 2,
        written: [0x13, 0x90, 0x56, 0xe5, 0], replaced: [0x13, 0x90, 0x56, 0xe5, 0xa0]),
      // 29 `11101`, 22 050 Hz `0111`, mono `0001`, 44.1 kHz `0100`, AAC-LC `00010`.
      Signalling(
        testDescription: "SBR and PS", channels: 1, written: [0x13, 0x88, 0x56, 0xe5, 0],
        replaced: [0xeb, 0x8a, 0x08, 0, 0]),
    ]
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ signalling: Signalling) throws -> String {
    let recording = Recording(rate: 22_050, channels: signalling.channels, frames: 66_150)
    _ = try recording.write(to: "a.m4a", ["-c:a", "aac", "-aac_pns", "0"], in: folder)
    var bytes = try folder.bytes(of: "a.m4a")
    let place = try #require(
      bytes.indices.dropLast(5).first { Array(bytes[$0..<$0 + 5]) == signalling.written })
    bytes.replaceSubrange(place..<place + 5, with: signalling.replaced)
    return try folder.write(bytes, to: "he.m4a")
  }

  @Test(arguments: Signalling.all)
  func `packets have 2048 frames, and decode to what the file decodes to`(
    signalling: Signalling
  ) throws {
    let source = try FileSource(path: try write(signalling))
    let packets = try source.packets()
    #expect(packets.format.codec == .aac)
    #expect(packets.format.audio == AudioFormat(sampleRate: 44_100, channelCount: 2))
    #expect(packets.format.configuration == signalling.replaced)
    let decoder = try FFmpegDecoder(format: packets.format)
    var sound: [Float] = []
    while let packet = try packets.next() {
      #expect(packet.skippedFrames + packet.frameCount <= 2_048)
      var frames: [Float] = []
      try decoder.decode(packet.payload, appendingTo: &frames)
      #expect(frames.count == 2 * 2_048)
      sound +=
        frames[
          packet.skippedFrames * 2..<(packet.skippedFrames + packet.frameCount) * 2]
    }
    let decoded = try readAll(source)
    #expect(sound.count == decoded.count)
    #expect(largestDifference(sound, decoded) < 1e-4)
  }
}
