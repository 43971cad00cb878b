package import Audio
import Clock
import WireProtocol

/// Makes small packets of the usual ones: decodes them, and encodes their frames. It knows nothing of items, sources and
/// effects, and runs beside the producer, so that the usual packets never wait for it.
package final class SmallEncoder {
  package typealias MakeDecoder = @Sendable (StreamFormat) throws(CodecError) -> any AudioDecoder
  package typealias MakeEncoder = @Sendable (SourceShape) throws(CodecError) -> any AudioEncoder

  /// A multiple of 40 ms, in which frames of all rates coincide; Opus needs 80 ms.
  static let leadIn = MediaDuration.milliseconds(120)

  private let makeDecoder: MakeDecoder
  private let makeEncoder: MakeEncoder
  private var attempt: UInt64 = 0
  private var decoder: (any AudioDecoder)?
  private var decoderFormat: StreamFormat?
  /// The format whose decoder has failed in this attempt: its packets are not made smaller.
  private var failedFormat: StreamFormat?
  private var run: EncoderRun?
  private var encoded: StreamFormat?
  private var generation: UInt32?
  /// The frames before the next packet, as far as an encoder's beginning needs them.
  private var history: [Float] = []
  private var historyEnd: MediaTime?
  private var historyGeneration: UInt32?
  private var nextFormatID: UInt16 = 0
  private var made: [SmallBatch.Packet] = []

  /// - Parameter makeDecoder: throws for what is not made smaller.
  package init(makeDecoder: @escaping MakeDecoder, makeEncoder: @escaping MakeEncoder) {
    (self.makeDecoder, self.makeEncoder) = (makeDecoder, makeEncoder)
  }

  package func make(_ order: SmallOrder) -> SmallBatch {
    if order.attempt != attempt {
      attempt = order.attempt
      (run, decoder, decoderFormat, failedFormat) = (nil, nil, nil, nil)
      forgetHistory()
    }
    made = []
    for piece in order.pieces { take(piece, from: order.start) }
    if order.endsRun { endRun() }
    return SmallBatch(attempt: attempt, packets: made, isUnderWay: run != nil)
  }

  private func take(_ piece: SmallOrder.Piece, from start: MediaTime) {
    guard let packet = AudioPacket(message: piece.bytes),
      let frames = decode(packet, piece.format, until: piece.end)
    else {
      forgetHistory()
      return endRun()
    }
    defer { keep(frames, of: packet, piece.format) }
    guard piece.end > start || packet.mediaTime >= start else { return }
    if !frames.isEmpty { encode(frames, of: packet, piece.format) }
    if packet.endsStream { endRun(endsStream: true) }
  }

  // MARK: - Decoding

  /// Returns the frames that are heard of the packet, with silence for those that cannot be decoded; nil if no packet of
  /// this format is made smaller.
  private func decode(
    _ packet: AudioPacket, _ format: StreamFormat, until end: MediaTime
  ) -> [Float]? {
    if packet.startsRun || decoder == nil || decoderFormat != format {
      decoder = format == failedFormat ? nil : try? makeDecoder(format)
      decoderFormat = format
    }
    guard let decoder else { return nil }
    var decoded: [Float] = []
    do throws(CodecError) {
      try decoder.decode(packet.encoded.payload, appendingTo: &decoded)
    } catch {
      guard case .malformed = error else {
        (self.decoder, failedFormat) = (nil, format)
        return nil
      }
      decoded = []
    }
    let channels = format.audio.channelCount
    let frame = format.audio.duration(ofFrames: 1).flicks
    let heard = max(0, (end - packet.mediaTime).flicks + frame - 1) / frame
    let count = min(packet.encoded.frameCount, Int(clamping: heard)) * channels
    let skipped = min(decoded.count, packet.encoded.skippedFrames * channels)
    var frames = Array(decoded[skipped...].prefix(count))
    frames += [Float](repeating: 0, count: count - frames.count)
    return frames
  }

  private func forgetHistory() { (history, historyEnd) = ([], nil) }

  private func keep(_ frames: [Float], of packet: AudioPacket, _ format: StreamFormat) {
    if historyEnd != packet.mediaTime || historyGeneration != packet.generation { history = [] }
    historyGeneration = packet.generation
    let count = frames.count / format.audio.channelCount
    historyEnd = packet.mediaTime + format.audio.duration(ofFrames: count)
    let length = Int(clamping: format.audio.frames(in: Self.leadIn)) * format.audio.channelCount
    history = (history + frames).suffix(length)
  }

  // MARK: - Encoding

  private func encode(_ frames: [Float], of packet: AudioPacket, _ format: StreamFormat) {
    let shape = SourceShape(small: format)
    if let run {
      let gap = packet.mediaTime - run.inputEnd
      let frame = format.audio.duration(ofFrames: 1)
      if run.shape != shape || generation != packet.generation || gap >= frame
        || MediaDuration.zero - gap >= frame
      {
        endRun()
      }
    }
    do {
      if run == nil { try begin(shape, at: packet) }
      take(try run?.encode(frames) ?? [])
    } catch {
      run = nil
    }
  }

  private func begin(_ shape: SourceShape, at packet: AudioPacket) throws(CodecError) {
    let encoder = try makeEncoder(shape)
    let length =
      Int(clamping: shape.format.frames(in: Self.leadIn)) * shape.format.channelCount
    let isPrepared =
      historyEnd == packet.mediaTime && historyGeneration == packet.generation
      && history.count == length
    var begun = EncoderRun(
      shape: shape, encoder: encoder, formatID: nextFormatID, generation: packet.generation,
      start: packet.mediaTime, leadIn: isPrepared ? Self.leadIn : .zero)
    nextFormatID = (nextFormatID + 1) % UInt16(ProtocolLimits.formats)
    (encoded, generation) = (encoder.format, packet.generation)
    if isPrepared { take(try begun.encode(history)) }
    run = begun
  }

  private func take(_ packets: [ProducedPacket]) {
    guard let encoded else { return }
    made += packets.map { .init(produced: $0, format: encoded) }
  }

  private func endRun(endsStream: Bool = false) {
    guard var ending = run else { return }
    run = nil
    // If the encoder fails here, the rooms get the usual packets from where its own end.
    take((try? ending.finish(endsStream: endsStream)) ?? [])
  }
}

extension SourceShape {
  /// The shape of frames that were decoded from packets of this format, for the small encoding.
  fileprivate init(small format: StreamFormat) {
    self.init(format: format.audio, sampleType: format.sampleType, isLossless: false)
    isSmall = true
  }
}

extension AudioPacket {
  /// The packet of a whole message; nil if it is another one.
  init?(message bytes: [UInt8]) {
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    framer.append(bytes)
    guard let raw = try? framer.next(), case .packet(let packet)? = try? MediaMessage.decode(raw)
    else { return nil }
    self = packet
  }
}
