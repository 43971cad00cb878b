import Audio
import Sender
import Testing

@Suite struct RawFormatTests {
  @Test func `rate, bits and channels are read`() {
    let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
    #expect(RawFormat("48000:16:2") == RawFormat(audio: stereo, sampleType: .int16))
    #expect(RawFormat("48000:f32:2") == RawFormat(audio: stereo, sampleType: .float32))
    #expect(RawFormat("8000:24:1")?.sampleType == .int24)
    #expect(RawFormat("192000:32:8")?.sampleType == .int32)
  }

  @Test(
    arguments: [
      "", "48000", "48000:16", "48000:16:2:1", "48000:8:2", "47999:16:2", "48000:16:0",
      "48000:16:9",
      "x:16:2", "48000:16:", "99999999999999999999:16:2",
    ])
  func `anything else is refused`(text: String) {
    #expect(RawFormat(text) == nil)
  }
}
