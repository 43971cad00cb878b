package import Audio
import Clock
package import WireProtocol

/// Turns packets into frames of the sound device: decodes them, fits the channels, converts the rate and fills the
/// ring.
/// Session thread only.
package final class DecodeStage {
  package typealias MakeDecoder = @Sendable (StreamFormat) throws(CodecError) -> any AudioDecoder

  /// Frames that wait for space in the ring, with their position.
  private struct Pending {
    let frames: RunConversion.Converted
    /// Number of the frames that are in the ring.
    var written = 0
  }

  /// The run of packets that is being decoded.
  private struct Run {
    let format: StreamFormat
    let decoder: any AudioDecoder
    /// The last skipped frames. They fill the rate converter's filter before the first audible frame.
    var history: [Float] = []
    let generation: UInt32
    /// True until the run has produced an audible frame.
    var isSilent = true
    /// True until a packet is decoded: in the middle of a stream, the first packet may give fewer frames.
    var isFresh = true
    /// Nil unless the stage conceals.
    var concealer: Concealer?
    /// The media time at which the next packet of this run must begin.
    var next: MediaTime
  }

  /// In frames; longer than the history that any rate converter needs.
  private static let historyLimit = 1_024

  /// True if missing packets are concealed, as in a live stream.
  var conceals = false
  private let makeDecoder: MakeDecoder
  private var ring: FrameRingWriter
  private let device: AudioFormat
  private var run: Run?
  private var conversion: RunConversion
  private var pending: [Pending] = []
  private var decoded: [Float] = []

  package init(
    makeDecoder: @escaping MakeDecoder, ring: FrameRing, device: AudioFormat
  ) {
    self.makeDecoder = makeDecoder
    self.ring = FrameRingWriter(ring)
    self.device = device
    conversion = RunConversion(device: device)
  }

  /// Writes waiting frames to the ring. Returns true if all decoded frames are in it, so that the next packet may be
  /// decoded.
  package func isReadyForMore() -> Bool {
    while let front = pending.first {
      let count = front.frames.samples.count / device.channelCount
      let written = front.written
      let taken = ring.write(
        front.frames.samples.span.extracting(droppingFirst: written * device.channelCount),
        at: front.frames.start + Int64(written), generation: front.frames.generation)
      pending[0].written += taken
      guard written + taken == count else { return false }
      pending.removeFirst()
    }
    return true
  }

  /// Makes the decoder for the packet, if it begins a run; `decode` does so too.
  ///
  /// - Throws: `CodecError` if there is no decoder: then no packet of this format can be decoded.
  package func prepare(
    for packet: AudioPacket, format: StreamFormat, generation: UInt32
  ) throws(CodecError) {
    if !continuesRun(packet, format, generation) { try beginRun(packet, format, generation) }
  }

  /// Decodes the packet. `generation` is the packet's, as the render thread numbers it.
  package func decode(
    _ packet: AudioPacket, format: StreamFormat, generation: UInt32
  ) throws(CodecError) {
    try prepare(for: packet, format: format, generation: generation)
    guard var run else { return }
    decoded.removeAll(keepingCapacity: true)
    do {
      try run.decoder.decode(packet.encoded.payload, appendingTo: &decoded)
    } catch {
      // The run ends here: later packets are placed by their own media times.
      self.run = nil
      throw error
    }
    let channels = format.audio.channelCount
    let available = decoded.count / channels - packet.encoded.skippedFrames
    let count = min(packet.encoded.frameCount, max(0, available))
    let isShort = count < packet.encoded.frameCount && !run.isFresh
    run.isFresh = false
    run.next = packet.mediaTime + format.audio.duration(ofFrames: packet.encoded.frameCount)
    let skipped =
      packet.encoded.frameCount == 0 ? decoded.count : packet.encoded.skippedFrames * channels
    let start = min(skipped, decoded.count)
    if run.isSilent { remember(decoded[..<start], channels: channels, in: &run) }
    if count > 0 {
      var frames = ChannelFit.fit(
        decoded[start..<start + count * channels], from: channels, to: device.channelCount)
      run.concealer?.goOn(&frames)
      convert(frames, at: packet.mediaTime, in: &run)
    }
    self.run = run
    if packet.endsStream || count < packet.encoded.frameCount && count > 0 { endRun() }
    guard isShort else { return }
    self.run = nil
    throw .malformed(
      "\(max(0, available)) frames where \(packet.encoded.frameCount) were announced")
  }

  /// Conceals missing packets with a sound that resembles the one before. Returns false if nothing can continue that
  /// run.
  func conceal(from time: MediaTime, for span: MediaDuration) -> Bool {
    guard var run, run.next == time, !run.isSilent, run.concealer != nil, isReadyForMore() else {
      return false
    }
    let count = Int(span.flicks / run.format.audio.duration(ofFrames: 1).flicks)
    let frames = run.concealer?.makeUp(count) ?? []
    convert(frames, at: time, in: &run)
    run.next = time + span
    self.run = run
    return true
  }

  private func convert(_ frames: [Float], at time: MediaTime, in run: inout Run) {
    let frameDuration = run.format.audio.duration(ofFrames: 1)
    conversion.append(
      .init(
        samples: frames, start: time.flicks / frameDuration.flicks,
        rate: run.format.audio.sampleRate, generation: run.generation),
      after: run.history)
    run.isSilent = false
    run.history = []
    takeConverted()
  }

  private func takeConverted() {
    pending += conversion.takeOutput().map { Pending(frames: $0) }
  }

  private func remember(_ skipped: ArraySlice<Float>, channels: Int, in run: inout Run) {
    let frames = skipped.suffix(Self.historyLimit * channels)
    run.history += ChannelFit.fit(frames, from: channels, to: device.channelCount)
    run.history = run.history.suffix(Self.historyLimit * device.channelCount)
  }

  /// Forgets everything, because another stream begins.
  package func reset() {
    run = nil
    conversion.forget()
    pending.removeAll()
  }

  private func continuesRun(
    _ packet: AudioPacket, _ format: StreamFormat, _ generation: UInt32
  ) -> Bool {
    guard let run else { return false }
    return !packet.startsRun && run.format == format && run.generation == generation
      && run.next == packet.mediaTime
  }

  private func beginRun(
    _ packet: AudioPacket, _ format: StreamFormat, _ generation: UInt32
  ) throws(CodecError) {
    run = nil
    run = Run(
      format: format, decoder: try makeDecoder(format), generation: generation,
      concealer: conceals
        ? Concealer(
          AudioFormat(sampleRate: format.audio.sampleRate, channelCount: device.channelCount))
        : nil,
      next: packet.mediaTime)
  }

  /// Ends the run, which no packet continues, and writes out the converter's remaining frames: after a flush, some of
  /// them may lie before the cut.
  package func endRun() {
    run = nil
    conversion.finish()
    takeConverted()
  }
}
