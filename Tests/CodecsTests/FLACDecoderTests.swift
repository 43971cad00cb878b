import Audio
import Clock
import Codecs
import TestSupport
import Testing

@Suite struct FLACDecoderTests {
  /// Returns a stereo stream of 10 packets, and its frames.
  private func stream() throws -> (StreamFormat, [EncodedPacket], [Float]) {
    let frames = wholeSamples(2 * 20_480, bits: 16, seed: 7)
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
    return (encoder.format, try encodeAll(frames, with: encoder), frames)
  }

  @Test func `a decoder may begin with any packet and skip some`() throws {
    let (format, packets, frames) = try stream()
    let decoder = try FLACDecoder(format: format)
    for index in [7, 3, 9, 0, 8] {
      var decoded: [Float] = []
      try decoder.decode(packets[index].payload, appendingTo: &decoded)
      #expect(decoded == Array(frames[index * 4_096..<(index + 1) * 4_096]))
    }
  }

  @Test func `a broken packet is refused, adds nothing, and the next one is decoded`() throws {
    let (format, packets, frames) = try stream()
    let decoder = try FLACDecoder(format: format)
    var random = SplitMix64(seed: 8)
    var decoded: [Float] = []
    for _ in 0..<300 {
      var payload = packets[5].payload
      let place = Int.random(in: 0..<payload.count, using: &random)
      payload[place] ^= UInt8.random(in: 1...255, using: &random)
      #expect(throws: CodecError.self) { try decoder.decode(payload, appendingTo: &decoded) }
      #expect(decoded.isEmpty)
    }
    try decoder.decode(packets[6].payload, appendingTo: &decoded)
    #expect(decoded == Array(frames[6 * 4_096..<7 * 4_096]))
  }

  @Test func `a packet that is cut short is refused`() throws {
    let (format, packets, _) = try stream()
    let decoder = try FLACDecoder(format: format)
    var decoded: [Float] = []
    for count in stride(from: 0, to: packets[0].payload.count, by: 61) {
      #expect(throws: CodecError.self) {
        try decoder.decode(Array(packets[0].payload.prefix(count)), appendingTo: &decoded)
      }
    }
    #expect(decoded.isEmpty)
  }

  @Test(arguments: UInt64(1)...5)
  func `random bytes are refused or decoded, and never more than one block`(seed: UInt64) throws {
    let (format, packets, _) = try stream()
    let decoder = try FLACDecoder(format: format)
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      var payload = (0..<Int.random(in: 0...600, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { payload = Array(packets[0].payload.prefix(6)) + payload }
      var decoded: [Float] = []
      _ = try? decoder.decode(payload, appendingTo: &decoded)
      #expect(decoded.count <= 2 * 65_535)
    }
  }

  @Test func `a frame of another shape than the stream's is refused`() throws {
    let (format, _, _) = try stream()
    let decoder = try FLACDecoder(format: format)
    let mono = try FLACEncoder(
      audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    let packets = try encodeAll(wholeSamples(5_000, bits: 16, seed: 9), with: mono)
    var decoded: [Float] = []
    #expect(throws: CodecError.malformed("FLAC frame: its format is not that of the stream")) {
      try decoder.decode(packets[0].payload, appendingTo: &decoded)
    }
    #expect(decoded.isEmpty)
  }

  @Test func `a random STREAMINFO is refused or taken`() throws {
    let (format, packets, _) = try stream()
    for seed in UInt64(1)...300 {
      decodeWithBrokenInfo(format, packets[0].payload, seed: seed)
    }
  }

  private func decodeWithBrokenInfo(_ sound: StreamFormat, _ payload: [UInt8], seed: UInt64) {
    var format = sound
    var random = SplitMix64(seed: seed)
    if seed % 3 == 0 {
      format.configuration = (0..<34).map { _ in UInt8.random(in: 0...255, using: &random) }
    } else {
      let place = Int.random(in: 0..<34, using: &random)
      format.configuration[place] = UInt8.random(in: 0...255, using: &random)
    }
    guard let decoder = try? FLACDecoder(format: format) else { return }
    var decoded: [Float] = []
    _ = try? decoder.decode(payload, appendingTo: &decoded)
    #expect(decoded.count <= 2 * 65_535)
  }

  @Test(arguments: [0, 33, 35])
  func `a configuration of another length is refused`(count: Int) {
    let format = StreamFormat(
      codec: .flac, audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16,
      configuration: [UInt8](repeating: 0, count: count))
    #expect(throws: CodecError.self) { try FLACDecoder(format: format) }
  }
}
