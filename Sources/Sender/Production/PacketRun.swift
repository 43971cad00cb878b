import Audio
import Clock

/// Gives consecutive packets of one format their media times. Holds back the newest one until the next comes, so that
/// the last one can be marked.
struct PacketRun {
  let format: StreamFormat
  let formatID: UInt16
  let generation: UInt32
  let start: MediaTime
  private var frames: Int64 = 0
  /// Frames that only prepare the decoder, before the first one that counts.
  private var leadIn: Int
  private var held: ProducedPacket?
  private var hasBegun = false
  private let holdsBack: Bool

  /// Begins at `start`, or at the next whole frame of the format's rate, with the audio that follows `leadIn` frames.
  /// Packets of a live source are not held back, and none of them is marked.
  init(
    _ format: StreamFormat, formatID: UInt16, generation: UInt32, start: MediaTime,
    leadIn: Int = 0, isLive: Bool = false
  ) {
    holdsBack = !isLive
    self.leadIn = leadIn
    self.format = format
    self.formatID = formatID
    self.generation = generation
    let frame = format.audio.duration(ofFrames: 1).flicks
    self.start = MediaTime(flicks: (start.flicks + frame - 1) / frame * frame)
  }

  /// The media time at which the packets placed so far end.
  var end: MediaTime { start + MediaDuration(frames: frames, at: format.audio.sampleRate) }

  /// Gives the packet its media time. Returns the packet placed before it or, if none is held back, this one.
  mutating func place(_ encoded: EncodedPacket) -> ProducedPacket? {
    let before = held
    let dropped = min(leadIn, encoded.frameCount)
    leadIn -= dropped
    var encoded = encoded
    encoded.skippedFrames += dropped
    encoded.frameCount -= dropped
    held = ProducedPacket(
      generation: generation, mediaTime: end, formatID: formatID, startsRun: !hasBegun,
      endsStream: false, duration: format.audio.duration(ofFrames: encoded.frameCount),
      encoded: encoded)
    hasBegun = true
    frames += Int64(encoded.frameCount)
    return holdsBack ? before : held.take()
  }

  /// Returns the last packet, marked if it ends the stream.
  mutating func finish(endsStream: Bool) -> ProducedPacket? {
    held?.endsStream = endsStream
    defer { held = nil }
    return held
  }
}
