import Audio
import Clock
import Sender

/// A live stream of 8000 Hz. The test decides the packets of one connection after the other; frames continue where
/// those have ended.
final class TestLive: MediaSource {
  let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
  let sampleType = SampleType.float32
  let isLossless = false
  let frameCount: Int64? = nil
  let isSeekable = false
  let supply = Supply.live
  let metadata = ItemMetadata()
  private let length: Int64
  private var connections: [(codec: Codec, frames: Int64)]
  fileprivate(set) var position: Int64 = 0

  init(length: Int64, passing connections: [(codec: Codec, frames: Int64)]) {
    self.length = length
    self.connections = connections
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(position + Int64(count), length)
    for frame in position..<max(position, end) { frames.append(TestSource.sample(frame)) }
    position = max(position, end)
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    guard frame == position else { throw .notSeekable(path: "live") }
  }

  func packets() throws(PassObstacle) -> any PacketSource {
    guard !connections.isEmpty else { throw .isLive }
    let (codec, frames) = connections.removeFirst()
    return Connection(self, codec, end: min(length, position + frames))
  }

  private final class Connection: PacketSource {
    let format: StreamFormat
    private let source: TestLive
    private let end: Int64
    private let encoder: PCMEncoder

    init(_ source: TestLive, _ codec: Codec, end: Int64) {
      (self.source, self.end) = (source, end)
      encoder = PCMEncoder(audio: source.format, sampleType: .float32)
      format = StreamFormat(codec: codec, audio: source.format, sampleType: .float32)
    }

    var position: Int64 { source.position }

    func next() throws(MediaError) -> EncodedPacket? {
      guard source.position < end else { throw .broken(path: "live", reason: "it hung up") }
      var frames: [Float] = []
      source.read(160, appendingTo: &frames)
      var packets: [EncodedPacket] = []
      try? encoder.encode(frames, appendingTo: &packets)
      return packets.first
    }

    func seek(toFrame frame: Int64) throws(MediaError) { try source.seek(toFrame: frame) }
  }
}

/// An input of the daemon that has been open since `time`, and that is heard `latency` later.
final class TestInput: MediaSource {
  let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
  let sampleType = SampleType.int16
  let isLossless = true
  let frameCount: Int64? = nil
  let isSeekable = false
  let supply = Supply.input
  let metadata = ItemMetadata()
  let live: LiveTiming?

  init(at time: LocalTime, latency: Nanoseconds) {
    live = LiveTiming(firstHeard: time + latency, latency: latency)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    frames += [Float](repeating: 0.5, count: count)
  }

  func seek(toFrame frame: Int64) {}
}
