import Audio
import Clock
import Codecs
import TestSupport
import Testing

@Suite struct OpusDecoderTests {
  private func stream(channels: Int) throws -> (StreamFormat, [EncodedPacket]) {
    let encoder = try OpusEncoder(channelCount: channels)
    return (
      encoder.format,
      try encodeAll(smoothNoise(9_600, channels: channels, seed: 1), with: encoder)
    )
  }

  @Test(arguments: UInt64(1)...40)
  func `random packets are refused or decoded, and never more than 120 ms`(seed: UInt64) throws {
    let channels = seed.isMultiple(of: 2) ? 2 : 6
    let (format, packets) = try stream(channels: channels)
    let decoder = try OpusDecoder(format: format)
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var payload = (0..<Int.random(in: 0...400, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { payload = Array(packets[3].payload.prefix(30)) + payload }
      var decoded: [Float] = []
      _ = try? decoder.decode(payload, appendingTo: &decoded)
      #expect(decoded.count <= channels * 5_760)
    }
    var decoded: [Float] = []
    try decoder.decode(packets[4].payload, appendingTo: &decoded)
    #expect(decoded.count == channels * 960)
  }

  @Test func `a packet of no bytes is malformed`() throws {
    let decoder = try OpusDecoder(format: try stream(channels: 2).0)
    var decoded: [Float] = []
    #expect(throws: CodecError.malformed("an Opus packet of 0 bytes")) {
      try decoder.decode([], appendingTo: &decoded)
    }
  }

  @Test(arguments: [2, 6])
  func `a random OpusHead is refused or taken`(channels: Int) throws {
    let (format, packets) = try stream(channels: channels)
    for seed in UInt64(1)...300 {
      decodeWithBrokenHead(format, packets[0].payload, seed: seed)
    }
  }

  private func decodeWithBrokenHead(_ sound: StreamFormat, _ payload: [UInt8], seed: UInt64) {
    var format = sound
    var random = SplitMix64(seed: seed)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let place = Int.random(in: 8..<format.configuration.count, using: &random)
      format.configuration[place] = UInt8.random(in: 0...255, using: &random)
    }
    format.configuration.removeLast(Int(seed % 3))
    guard let decoder = try? OpusDecoder(format: format) else { return }
    var decoded: [Float] = []
    _ = try? decoder.decode(payload, appendingTo: &decoded)
    #expect(decoded.count <= 8 * 5_760)
  }

  @Test func `the header must agree with the format`() throws {
    var format = try stream(channels: 2).0
    format.audio.channelCount = 1
    #expect(throws: CodecError.malformed("OpusHead has 2 channels, the format 1")) {
      try OpusDecoder(format: format)
    }
    format.audio = AudioFormat(sampleRate: 44_100, channelCount: 2)
    #expect(throws: CodecError.unsupported("Opus at 44100 Hz; it runs at 48000 Hz")) {
      try OpusDecoder(format: format)
    }
  }

  @Test func `the gain of the header is applied`() throws {
    var (format, packets) = try stream(channels: 1)
    let plain = try decodeAll(packets, with: OpusDecoder(format: format), channels: 1)
    // 0xF9FB is -1541/256 dB: half.
    format.configuration[16] = 0xFB
    format.configuration[17] = 0xF9
    let halved = try decodeAll(packets, with: OpusDecoder(format: format), channels: 1)
    #expect(zip(plain, halved).allSatisfy { abs($0 / 2 - $1) < 1e-4 })
  }
}
