import Audio
import Clock

/// The life of one encoder: it takes frames of one shape, and returns packets with media times.
struct EncoderRun {
  let shape: SourceShape
  private let encoder: any AudioEncoder
  private var packets: PacketRun
  private var converter: RateConverter?
  private var inputFrames: Int64

  /// Begins at `start`, or at the next whole frame of the encoder's rate.
  ///
  /// - Parameter leadIn: the part of the first frames that lies before `start`, so that codec and resampler have
  ///   settled there: a whole number of frames of both rates.
  init(
    shape: SourceShape, encoder: any AudioEncoder, formatID: UInt16, generation: UInt32,
    start: MediaTime, leadIn: MediaDuration = .zero
  ) {
    self.shape = shape
    self.encoder = encoder
    packets = PacketRun(
      encoder.format, formatID: formatID, generation: generation, start: start,
      leadIn: Int(clamping: encoder.format.audio.frames(in: leadIn)), isLive: shape.isLive)
    inputFrames = -shape.format.frames(in: leadIn)
    let audio = encoder.format.audio
    if audio.sampleRate != shape.format.sampleRate {
      converter = RateConverter(
        from: shape.format.sampleRate, to: audio.sampleRate, channelCount: audio.channelCount,
        startingAt: 0)
    }
  }

  var codec: Codec { encoder.format.codec }

  /// The media time at which the frames taken so far end.
  var inputEnd: MediaTime {
    packets.start + MediaDuration(frames: inputFrames, at: shape.format.sampleRate)
  }

  var start: MediaTime { packets.start }

  /// The media time at which the packets made so far end.
  var outputEnd: MediaTime { packets.end }

  mutating func encode(_ frames: [Float]) throws(CodecError) -> [ProducedPacket] {
    inputFrames += Int64(frames.count / shape.format.channelCount)
    var encoded: [EncodedPacket] = []
    var converted: [Float] = []
    if converter != nil { converter?.convert(frames, appendingTo: &converted) }
    try encoder.encode(converter == nil ? frames : converted, appendingTo: &encoded)
    return place(encoded)
  }

  mutating func finish(endsStream: Bool) throws(CodecError) -> [ProducedPacket] {
    var encoded: [EncodedPacket] = []
    var rest: [Float] = []
    converter?.finish(appendingTo: &rest)
    if !rest.isEmpty { try encoder.encode(rest, appendingTo: &encoded) }
    if endsStream, shape.isLive { try encoder.encode(silence, appendingTo: &encoded) }
    try encoder.finish(appendingTo: &encoded)
    var placed = place(encoded)
    if let last = packets.finish(endsStream: endsStream) { placed.append(last) }
    if endsStream, !placed.isEmpty { placed[placed.count - 1].endsStream = true }
    return placed
  }

  /// A packet of silence that marks the end of a live source, whose last packet has left without the mark.
  private var silence: [Float] {
    [Float](repeating: 0, count: shape.livePacketFrames * encoder.format.audio.channelCount)
  }

  private mutating func place(_ encoded: [EncodedPacket]) -> [ProducedPacket] {
    var placed: [ProducedPacket] = []
    for packet in encoded {
      if let before = packets.place(packet) { placed.append(before) }
    }
    return placed
  }
}
