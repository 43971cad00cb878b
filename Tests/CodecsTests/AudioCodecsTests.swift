import Audio
import Codecs
import Testing

@Suite struct AudioCodecsTests {
  @Test func `each codec that is said to be decodable is decoded`() throws {
    let flac = try FLACEncoder(
      audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
    let opus = try OpusEncoder(channelCount: 2)
    let frames = smoothNoise(5_000, channels: 2, seed: 1)
    for encoder in [flac, opus] as [any AudioEncoder] {
      #expect(AudioCodecs.decodable.contains(encoder.format.codec))
      let decoder = try AudioCodecs.makeDecoder(for: encoder.format)
      let packets = try encodeAll(frames, with: encoder)
      #expect(try decodeAll(packets, with: decoder, channels: 2).count == frames.count)
    }
  }

  @Test func `PCM is left to Audio`() {
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
    #expect(!AudioCodecs.decodable.contains(.pcm))
    #expect(throws: CodecError.self) { try AudioCodecs.makeDecoder(for: format) }
  }
}
