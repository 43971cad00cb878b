import Audio
import Clock
import TestSupport
import Testing

@Suite struct PCMCodecTests {
  @Test(arguments: SampleType.allCases, 1...20 as ClosedRange<UInt64>)
  func `frames come back, in packets of 20 ms and a rest`(type: SampleType, seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let audio = AudioFormat(
      sampleRate: AudioFormat.supportedRates.randomElement(using: &generator) ?? 0,
      channelCount: .random(in: 1...8, using: &generator))
    let frames = Int.random(in: 0...5_000, using: &generator)
    // Steps of 16 bits are exact in every type.
    let input = (0..<frames * audio.channelCount).map { _ in
      Float(Int16.random(in: .min ... .max, using: &generator)) / 32_768
    }
    let packets = try encode(input, PCMEncoder(audio: audio, sampleType: type), &generator)
    #expect(packets.dropLast().allSatisfy { $0.frameCount == audio.sampleRate / 50 })
    #expect(packets.map(\.frameCount).reduce(0, +) == frames)
    #expect(packets.allSatisfy { $0.skippedFrames == 0 && $0.frameCount > 0 })

    let decoder = try PCMDecoder(
      format: StreamFormat(codec: .pcm, audio: audio, sampleType: type))
    var output: [Float] = []
    for packet in packets { try decoder.decode(packet.payload, appendingTo: &output) }
    #expect(output == input)
  }

  @Test(arguments: [0, 1, 3, 5, 7, 4_001])
  func `a payload that is not whole frames is malformed, and the next is not`(count: Int) throws {
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
    let decoder = try PCMDecoder(format: format)
    var output: [Float] = []
    #expect(throws: CodecError.self) {
      try decoder.decode([UInt8](repeating: 1, count: count), appendingTo: &output)
    }
    #expect(output.isEmpty)
    try decoder.decode([0, 0x40, 0, 0xC0], appendingTo: &output)
    #expect(output == [0.5, -0.5])
  }

  @Test func `a decoder refuses what is not PCM of a known shape`() {
    let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
    let formats = [
      StreamFormat(codec: .opus, audio: stereo, sampleType: .int16),
      StreamFormat(
        codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 0), sampleType: .int16),
      StreamFormat(
        codec: .pcm, audio: AudioFormat(sampleRate: 1, channelCount: 2), sampleType: .int16),
    ]
    for format in formats {
      #expect(throws: CodecError.self) { try PCMDecoder(format: format) }
    }
  }
}

/// Feeds the encoder in blocks of random size.
private func encode(
  _ input: [Float], _ encoder: PCMEncoder, _ generator: inout SplitMix64
) throws(CodecError) -> [EncodedPacket] {
  var packets: [EncodedPacket] = []
  var rest = input[...]
  while !rest.isEmpty {
    let size = Int.random(in: 1...2_000, using: &generator) * encoder.format.audio.channelCount
    try encoder.encode(Array(rest.prefix(size)), appendingTo: &packets)
    rest = rest.dropFirst(size)
  }
  try encoder.finish(appendingTo: &packets)
  return packets
}
