import Audio
import Codecs
import Testing

@Suite struct OpusEncoderTests {
  @Test(
    arguments: OpusSettings.PacketLength.allCases, [0, 1, 120, 648, 961, 9_601])
  func `as many frames come out as went in`(
    length: OpusSettings.PacketLength, count: Int
  ) throws {
    let encoder = try OpusEncoder(channelCount: 2, settings: .init(packetLength: length))
    let packets = try encodeAll(smoothNoise(count, channels: 2, seed: 1), with: encoder)
    #expect(packets.map(\.frameCount).reduce(0, +) == count)
    #expect(packets.allSatisfy { $0.skippedFrames + $0.frameCount <= length.rawValue })
    let decoder = try OpusDecoder(format: encoder.format)
    #expect(try decodeAll(packets, with: decoder, channels: 2).count == 2 * count)
  }

  @Test func `the delay of the codec is skipped, once, and OpusHead says the same`() throws {
    let encoder = try OpusEncoder(channelCount: 2)
    let packets = try encodeAll(smoothNoise(5_000, channels: 2, seed: 2), with: encoder)
    let head = encoder.format.configuration
    #expect(packets[0].skippedFrames == Int(head[10]) | Int(head[11]) << 8)
    #expect(packets.dropFirst().allSatisfy { $0.skippedFrames == 0 })
  }

  @Test(arguments: OpusSettings.PacketLength.allCases)
  func `what comes out lies exactly over what went in`(length: OpusSettings.PacketLength) throws {
    let frames = smoothNoise(16_000, channels: 1, seed: 3)
    let encoder = try OpusEncoder(
      channelCount: 1, settings: .init(packetLength: length, bitrate: 160_000))
    let packets = try encodeAll(frames, with: encoder)
    let decoder = try OpusDecoder(format: encoder.format)
    let decoded = try decodeAll(packets, with: decoder, channels: 1)
    let errors = (-5...5).map { lag in (lag, noiseToSignal(decoded, over: frames, shiftedBy: lag)) }
    let best = try #require(errors.min { $0.1 < $1.1 })
    #expect(best.0 == 0)
    #expect(best.1 < 0.02, "signal to noise above 17 dB")
  }

  @Test(arguments: 1...8)
  func `each channel stays in its place`(channels: Int) throws {
    let frames = smoothNoise(12_000, channels: channels, seed: 4)
    let encoder = try OpusEncoder(
      channelCount: channels, settings: .init(bitrate: 128_000 * channels))
    let packets = try encodeAll(frames, with: encoder)
    let decoder = try OpusDecoder(format: encoder.format)
    let decoded = try decodeAll(packets, with: decoder, channels: channels)
    for output in 0..<channels where output != lowFrequencyChannel(of: channels) {
      let errors = (0..<channels).map { input in
        noiseToSignal(
          channel(output, of: channels, decoded), over: channel(input, of: channels, frames),
          shiftedBy: 0)
      }
      #expect(errors.indices.min { errors[$0] < errors[$1] } == output)
      #expect(errors[output] < 0.2)
    }
  }

  @Test(arguments: [0, 9])
  func `a count of channels that Opus cannot carry is refused`(channels: Int) {
    #expect(throws: CodecError.unsupported("Opus with \(channels) channels")) {
      try OpusEncoder(channelCount: channels)
    }
  }

  @Test func `a setting out of range is refused by its name`() {
    #expect(throws: CodecError.failed(call: "OPUS_SET_COMPLEXITY(11)", reason: "invalid argument"))
    {
      try OpusEncoder(channelCount: 2, settings: .init(complexity: 11))
    }
  }

  /// The channel that the codec cuts at 120 Hz.
  private func lowFrequencyChannel(of channels: Int) -> Int? { channels >= 6 ? 3 : nil }

  private func channel(_ channel: Int, of channels: Int, _ frames: [Float]) -> [Float] {
    stride(from: channel, to: frames.count, by: channels).map { frames[$0] }
  }

  private func noiseToSignal(
    _ decoded: [Float], over frames: [Float], shiftedBy lag: Int
  ) -> Float {
    var noise: Float = 0
    var signal: Float = 0
    for index in 1_000..<frames.count - 1_000 {
      let difference = decoded[index + lag] - frames[index]
      noise += difference * difference
      signal += frames[index] * frames[index]
    }
    return noise / signal
  }
}
