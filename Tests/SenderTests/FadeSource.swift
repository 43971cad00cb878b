import Audio
import Sender

/// An item in memory whose samples a function gives.
final class FadeSource: MediaSource {
  let format: AudioFormat
  let sampleType: SampleType
  let isLossless = true
  let frameCount: Int64?
  let isSeekable: Bool
  var metadata = ItemMetadata()
  /// Frames that it has, whatever it says.
  var length: Int64
  /// Reading fails at this frame.
  var brokenAt: Int64?
  private let sample: (Int64) -> Float
  private var place: Int64 = 0

  init(
    _ length: Int64, rate: Int = 8_000, channels: Int = 1, isKnown: Bool = true,
    sampleType: SampleType = .float32, sample: @escaping (Int64) -> Float
  ) {
    format = AudioFormat(sampleRate: rate, channelCount: channels)
    (self.length, self.sample, self.sampleType) = (length, sample, sampleType)
    (frameCount, isSeekable) = (isKnown ? length : nil, isKnown)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    if let brokenAt, place >= brokenAt { throw .broken(path: "tone", reason: "torn") }
    let end = min(place + Int64(count), brokenAt ?? length, length)
    while place < end {
      let value = sample(place)
      for _ in 0..<format.channelCount { frames.append(value) }
      place += 1
    }
  }

  func seek(toFrame frame: Int64) throws(MediaError) { place = min(max(0, frame), length) }

  func packets() throws(PassObstacle) -> any PacketSource {
    let source = TestSource(
      rate: format.sampleRate, channels: format.channelCount, length: length)
    return TestPackets(source, as: .mp3)
  }
}
