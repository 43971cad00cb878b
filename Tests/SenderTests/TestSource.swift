import Audio
import Sender

/// An item in memory: frame `i` has the value `first + i`, times 2^-20, on every channel.
final class TestSource: MediaSource {
  let format: AudioFormat
  let sampleType = SampleType.float32
  let isLossless = true
  let frameCount: Int64?
  var metadata = ItemMetadata(title: "Ramp")
  private let length: Int64
  private let first: Int64
  /// Reading fails at this frame.
  private let brokenAt: Int64?
  let isSeekable: Bool
  let supply: Supply
  /// The codec of its packets, if it can pass any on, and the frame at which they end with an error.
  var passed: (codec: Codec, brokenAt: Int64?)?
  var isReusable = false
  var rate = 1.0
  /// The source that continues where this one ends.
  var next: TestSource?
  private var place: Int64 = 0

  init(
    rate: Int = 48_000, channels: Int = 2, length: Int64, first: Int64 = 0, brokenAt: Int64? = nil,
    isSeekable: Bool = true, supply: Supply = .stored
  ) {
    self.supply = supply
    format = AudioFormat(sampleRate: rate, channelCount: channels)
    self.length = length
    self.first = first
    self.brokenAt = brokenAt
    self.isSeekable = isSeekable
    frameCount = isSeekable ? length : nil
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    if let brokenAt, place >= brokenAt { throw .broken(path: "ramp", reason: "torn") }
    let end = min(place + Int64(count), brokenAt ?? length, length)
    for frame in place..<max(place, end) {
      for _ in 0..<format.channelCount { frames.append(Self.sample(first + frame)) }
    }
    place = max(place, end)
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    guard isSeekable else { throw .notSeekable(path: "ramp") }
    place = min(frame, length)
  }

  static func sample(_ frame: Int64) -> Float { Float(frame) / Float(1 << 20) }

  func packets() throws(PassObstacle) -> any PacketSource {
    guard let passed else { throw .notPassable(codec: "PCM") }
    let source = TestSource(
      rate: format.sampleRate, channels: format.channelCount, length: length, first: first,
      brokenAt: passed.brokenAt)
    return TestPackets(source, as: passed.codec)
  }

  var position: Int64 { place }

  func successor() -> (any MediaSource)? { next }
}

/// Packets of 20 ms of PCM under another name. After a seek, two preparing packets come first.
final class TestPackets: PacketSource {
  let format: StreamFormat
  private let source: TestSource
  private let encoder: PCMEncoder
  private var preparing = 0

  init(_ source: TestSource, as codec: Codec) {
    self.source = source
    encoder = PCMEncoder(audio: source.format, sampleType: .float32)
    format = StreamFormat(codec: codec, audio: source.format, sampleType: .float32)
  }

  var position: Int64 { source.position }

  func next() throws(MediaError) -> EncodedPacket? {
    if preparing > 0 {
      preparing -= 1
      return EncodedPacket(payload: [0], frameCount: 0)
    }
    var frames: [Float] = []
    try source.read(source.format.sampleRate / 50, appendingTo: &frames)
    var packets: [EncodedPacket] = []
    try? encoder.encode(frames, appendingTo: &packets)
    if packets.isEmpty { try? encoder.finish(appendingTo: &packets) }
    return packets.first
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    preparing = 2
    try source.seek(toFrame: frame)
  }
}

/// Like `openTestSource`, with packets to pass on.
func openPassedSource(_ item: PlayItem) throws(MediaError) -> any MediaSource {
  let source = try openTestSource(item)
  (source as? TestSource)?.passed = (.mp3, nil)
  return source
}

/// A radio station with another title at each read.
final class TestStation: MediaSource {
  let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
  let sampleType = SampleType.float32
  let isLossless = false
  let frameCount: Int64? = nil
  let isSeekable = false
  let supply = Supply.live
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
