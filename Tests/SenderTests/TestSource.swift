import Audio
import Sender

/// An item in memory: frame `i` has the value `first + i`, times 2^-20, on every channel.
final class TestSource: MediaSource {
  let format: AudioFormat
  let sampleType = SampleType.float32
  let isLossless = true
  let frameCount: Int64?
  let metadata = ItemMetadata(title: "Ramp")
  private let length: Int64
  private let first: Int64
  /// Reading fails at this frame.
  private let brokenAt: Int64?
  let isSeekable: Bool
  private var next: Int64 = 0

  init(
    rate: Int = 48_000, channels: Int = 2, length: Int64, first: Int64 = 0, brokenAt: Int64? = nil,
    isSeekable: Bool = true
  ) {
    format = AudioFormat(sampleRate: rate, channelCount: channels)
    self.length = length
    self.first = first
    self.brokenAt = brokenAt
    self.isSeekable = isSeekable
    frameCount = isSeekable ? length : nil
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    if let brokenAt, next >= brokenAt { throw .broken(path: "ramp", reason: "torn") }
    let end = min(next + Int64(count), brokenAt ?? length, length)
    for frame in next..<max(next, end) {
      for _ in 0..<format.channelCount { frames.append(Self.sample(first + frame)) }
    }
    next = max(next, end)
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    guard isSeekable else { throw .notSeekable(path: "ramp") }
    next = min(frame, length)
  }

  static func sample(_ frame: Int64) -> Float { Float(frame) / Float(1 << 20) }
}

/// A radio station that says another title with each read.
final class TestStation: MediaSource {
  let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
  let sampleType = SampleType.float32
  let isLossless = false
  let frameCount: Int64? = nil
  let isSeekable = false
  let mayWait = true
  private(set) var metadata = ItemMetadata()
  private(set) var readCount = 0
  private let titles: [String]

  init(titles: [String]) { self.titles = titles }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    guard readCount < titles.count else { return }
    metadata.title = titles[readCount]
    readCount += 1
    frames += [Float](repeating: 0, count: count)
  }

  func seek(toFrame frame: Int64) throws(MediaError) {}
}

/// Opens items by a name like `48000x2:96000`: rate, channels and frames. Everything else is not found.
func openTestSource(_ item: PlayItem) throws(MediaError) -> any MediaSource {
  let parts = item.location.split { "x:".contains($0) }.compactMap { Int64($0) }
  guard parts.count == 3 else { throw .notFound(path: item.location) }
  return TestSource(rate: Int(parts[0]), channels: Int(parts[1]), length: parts[2])
}

/// PCM of the item's own shape.
func makePCMEncoder(_ shape: SourceShape) throws(CodecError) -> any AudioEncoder {
  PCMEncoder(audio: shape.format, sampleType: .float32)
}
