internal import Audio
internal import Clock
internal import FFmpegSource
internal import Sender

/// The queue as an item. It is opened again for each place from which reading continues, and for each change of
/// the format. The first read decides the place, because a seek may come before it.
final class QueueSource: MediaSource {
  let frameCount: Int64? = nil
  let metadata = ItemMetadata()
  let supply = Supply.piped
  private let queue: SampleQueue
  private let shape: BufferShape
  /// The session's generation for which the source was opened.
  private let generation: UInt32
  private var position: Int64 = 0
  private var place: ReadingPlace?
  /// The packets that are passed on instead of frames.
  private var passed: QueuePackets?
  private var decoder: (any AudioDecoder)?
  /// Decoded samples that were not given yet.
  private var ready: [Float] = []

  init(_ queue: SampleQueue, _ shape: BufferShape? = nil, in generation: UInt32 = 0) {
    self.queue = queue
    self.generation = generation
    self.shape = shape ?? .samples(queue.format)
  }

  var format: AudioFormat { shape.audio }
  var sampleType: SampleType { shape.sampleType }
  var isLossless: Bool { shape.isLossless }

  func opened(
    at position: MediaDuration, in generation: UInt32, keepsFormat: Bool
  ) -> any MediaSource {
    let time = PlaybackTime(position)
    return keepsFormat
      ? SteadySource(queue, at: time, in: generation)
      : QueueSource(queue, queue.shape(at: time), in: generation)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    var place = place ?? queue.begin(at: position, as: shape, in: generation)
    switch shape {
    case .samples: queue.read(count, at: &place, appendingTo: &frames)
    case .packets(let format):
      while ready.isEmpty, let packet = queue.readPacket(at: &place) {
        try decode(packet, format.description.format)
      }
      let given = ready.prefix(count * self.format.channelCount)
      frames += given
      ready.removeFirst(given.count)
    }
    self.place = place
  }

  /// Decodes a packet; one that cannot be decoded becomes silence.
  private func decode(_ packet: EncodedPacket, _ format: StreamFormat) throws(MediaError) {
    if decoder == nil {
      do throws(CodecError) {
        decoder = try queue.makeDecoder(format)
      } catch {
        throw .unsupported(path: "what is enqueued", reason: error.description)
      }
    }
    var decoded: [Float] = []
    do { try decoder?.decode(packet.payload, appendingTo: &decoded) } catch { decoded = [] }
    let channels = format.audio.channelCount
    ready += decoded.dropFirst(packet.skippedFrames * channels).prefix(packet.frameCount * channels)
    let missing = packet.frameCount * channels - ready.count
    if missing > 0 { ready += repeatElement(0, count: missing) }
  }

  func seek(toFrame frame: Int64) {
    position = frame
    (place, passed, decoder, ready) = (nil, nil, nil, [])
  }

  /// The shape of the audio after this source's end; nil at the end of all audio.
  var next: BufferShape? { (passed?.place ?? place).flatMap(queue.change) }

  func successor() -> (any MediaSource)? { next.map { QueueSource(queue, $0, in: generation) } }

  func packets() throws(PassObstacle) -> any PacketSource {
    guard case .packets(let format) = shape else { throw .notPassable(codec: "PCM") }
    let packets = QueuePackets(queue, format, from: position, in: generation)
    passed = packets
    return packets
  }
}

/// The queue's packets, unchanged, up to a change of the format.
final class QueuePackets: PacketSource {
  let format: StreamFormat
  private let queue: SampleQueue
  private let shape: BufferShape
  private let generation: UInt32
  private var start: Int64
  private(set) var place: ReadingPlace?

  init(
    _ queue: SampleQueue, _ format: CompressedFormat, from start: Int64, in generation: UInt32
  ) {
    self.queue = queue
    self.generation = generation
    self.start = start
    self.format = format.description.format
    shape = .packets(format)
  }

  var position: Int64 { place?.frame ?? start }

  func next() -> EncodedPacket? {
    var place = place ?? queue.begin(at: start, as: shape, in: generation)
    let packet = queue.readPacket(at: &place)
    self.place = place
    return packet
  }

  func seek(toFrame frame: Int64) { (start, place) = (frame, nil) }
}
