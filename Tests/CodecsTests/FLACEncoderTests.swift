import Audio
import Codecs
import Testing

@Suite struct FLACEncoderTests {
  @Test(arguments: [SampleType.int16, .int24], [1, 2, 6, 8])
  func `what comes out is bit for bit what went in`(type: SampleType, channels: Int) throws {
    let frames = wholeSamples(10_007 * channels, bits: type == .int16 ? 16 : 24, seed: 3)
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: 48_000, channelCount: channels), sampleType: type)
    let packets = try encodeAll(frames, with: encoder)
    let decoder = try FLACDecoder(format: encoder.format)
    #expect(try decodeAll(packets, with: decoder, channels: channels) == frames)
  }

  @Test(arguments: AudioFormat.supportedRates)
  func `every rate makes blocks of 20 to 65 ms`(rate: Int) throws {
    let frames = wholeSamples(rate, bits: 16, seed: 4)
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: rate, channelCount: 1), sampleType: .int16)
    let packets = try encodeAll(frames, with: encoder)
    #expect(packets.dropLast().allSatisfy { (20...65).contains($0.frameCount * 1000 / rate) })
    let decoder = try FLACDecoder(format: encoder.format)
    #expect(try decodeAll(packets, with: decoder, channels: 1) == frames)
  }

  @Test func `the packets cover the frames without a gap`() throws {
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: 44_100, channelCount: 2), sampleType: .int16)
    let packets = try encodeAll(wholeSamples(2 * 12_345, bits: 16, seed: 5), with: encoder)
    #expect(packets.map(\.frameCount).reduce(0, +) == 12_345)
    #expect(packets.allSatisfy { $0.skippedFrames == 0 })
  }

  @Test func `the configuration is the 34 bytes of STREAMINFO, known before the first frame`()
    throws
  {
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: 96_000, channelCount: 2), sampleType: .int24)
    #expect(encoder.format.configuration.count == 34)
    #expect(encoder.format.codec == .flac)
  }

  @Test func `what is out of range or no number is limited`() throws {
    let frames: [Float] = [2, -2, .nan, .infinity, -.infinity, 0.5]
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)
    let packets = try encodeAll(frames, with: encoder)
    let top: Float = 32_767 / 32_768
    let decoder = try FLACDecoder(format: encoder.format)
    #expect(try decodeAll(packets, with: decoder, channels: 1) == [top, -1, 0, top, -1, 0.5])
  }

  @Test func `an encoder without frames makes no packet`() throws {
    let encoder = try FLACEncoder(
      audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
    #expect(try encodeAll([], with: encoder).isEmpty)
  }

  @Test func `an encoder may go away before it is finished`() throws {
    var packets: [EncodedPacket] = []
    do {
      let encoder = try FLACEncoder(
        audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
      try encoder.encode(wholeSamples(2_000, bits: 16, seed: 6), appendingTo: &packets)
    }
    #expect(packets.isEmpty)
  }

  @Test func `a rate that nobody has is refused`() {
    #expect(throws: CodecError.unsupported("FLAC at 47999 Hz with 2 channels")) {
      try FLACEncoder(
        audio: AudioFormat(sampleRate: 47_999, channelCount: 2), sampleType: .int16)
    }
  }
}
