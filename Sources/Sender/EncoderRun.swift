import Audio
import Clock

/// One encoder's life: frames of one shape in, packets with media times out. The newest packet is held back
/// until the next one comes, so that the last one of all can be marked.
struct EncoderRun {
  let shape: SourceShape
  let generation: UInt32
  private let encoder: any AudioEncoder
  private let formatID: UInt16
  private let start: MediaTime
  private var converter: RateConverter?
  private var inputFrames: Int64 = 0
  private var outputFrames: Int64 = 0
  private var held: ProducedPacket?
  private var hasBegun = false

  /// Begins at `start`, or at the next whole frame of the encoder's rate.
  init(
    shape: SourceShape, encoder: any AudioEncoder, formatID: UInt16, generation: UInt32,
    start: MediaTime
  ) {
    self.shape = shape
    self.generation = generation
    self.encoder = encoder
    self.formatID = formatID
    let audio = encoder.format.audio
    let frame = audio.duration(ofFrames: 1).flicks
    self.start = MediaTime(flicks: (start.flicks + frame - 1) / frame * frame)
    if audio.sampleRate != shape.format.sampleRate {
      converter = RateConverter(
        from: shape.format.sampleRate, to: audio.sampleRate, channelCount: audio.channelCount,
        startingAt: 0)
    }
  }

  /// Where the frames taken so far end.
  var inputEnd: MediaTime {
    start + MediaDuration(frames: inputFrames, at: shape.format.sampleRate)
  }

  /// Where the packets made so far end.
  var outputEnd: MediaTime {
    start + MediaDuration(frames: outputFrames, at: encoder.format.audio.sampleRate)
  }

  mutating func encode(_ frames: [Float]) throws(CodecError) -> [ProducedPacket] {
    inputFrames += Int64(frames.count / shape.format.channelCount)
    var packets: [EncodedPacket] = []
    var converted: [Float] = []
    if converter != nil { converter?.convert(frames, appendingTo: &converted) }
    try encoder.encode(converter == nil ? frames : converted, appendingTo: &packets)
    return place(packets)
  }

  mutating func finish(endsStream: Bool) throws(CodecError) -> [ProducedPacket] {
    var packets: [EncodedPacket] = []
    var rest: [Float] = []
    converter?.finish(appendingTo: &rest)
    if !rest.isEmpty { try encoder.encode(rest, appendingTo: &packets) }
    try encoder.finish(appendingTo: &packets)
    var placed = place(packets)
    if var last = held {
      last.endsStream = endsStream
      placed.append(last)
      held = nil
    }
    return placed
  }

  private mutating func place(_ packets: [EncodedPacket]) -> [ProducedPacket] {
    var placed: [ProducedPacket] = []
    for encoded in packets {
      if let held { placed.append(held) }
      held = ProducedPacket(
        generation: generation, mediaTime: outputEnd, formatID: formatID, startsRun: !hasBegun,
        endsStream: false,
        duration: encoder.format.audio.duration(ofFrames: encoded.frameCount), encoded: encoded)
      hasBegun = true
      outputFrames += Int64(encoded.frameCount)
    }
    return placed
  }
}
