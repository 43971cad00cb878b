import Audio
import Clock
import WireProtocol

/// Decodes the deep buffer as far ahead of the playhead as the profile demands, and knows which part of it is in
/// the ring.
struct DecodeAhead {
  private let profile: LatencyProfile
  /// Codecs without a decoder; their packets are skipped.
  var undecodable = CodecSet([])
  /// The span of media time that was decoded without a jump.
  private var span: (from: MediaTime, until: MediaTime)?
  /// True if a packet should be decoded at once.
  var hasMore = false

  init(_ profile: LatencyProfile) { self.profile = profile }

  mutating func forget() { span = nil }

  /// Drops the decoded span from `time` on; the ring cuts its frames itself.
  mutating func cut(at time: MediaTime, _ stage: DecodeStage?) {
    guard let span, span.until > time else { return }
    stage?.endRun()
    self.span = span.from >= time ? nil : (span.from, time)
  }

  /// Extends the decoded span to `time`, the end of a concealment.
  mutating func concealed(until time: MediaTime) {
    if let span { self.span = (span.from, time) }
  }

  func hasEnoughToStart(_ buffer: PlayoutBuffer) -> Bool {
    guard let span else { return false }
    return span.until - span.from >= profile.startThreshold
      || buffer.endsStream && buffer.upcoming == nil
  }

  mutating func run(
    _ buffer: inout PlayoutBuffer, with stage: DecodeStage, playhead: MediaTime?,
    _ generations: RenderGenerations, _ figures: inout StreamFigures, _ steps: inout [Playout.Step]
  ) {
    if let playhead { figures.lost(buffer.skipLate(before: playhead - profile.preroll)) }
    for _ in 0..<Playout.decodeSlice {
      guard isWanted(buffer.upcoming?.mediaTime, playhead, stage) else { break }
      decodeNext(of: &buffer, with: stage, generations, &figures, &steps)
    }
    hasMore = isWanted(buffer.upcoming?.mediaTime, playhead, stage)
  }

  private func isWanted(_ next: MediaTime?, _ playhead: MediaTime?, _ stage: DecodeStage) -> Bool {
    guard stage.isReadyForMore(), let next else { return false }
    guard let base = playhead ?? span?.from else { return true }
    return next - base < profile.decodeAhead
  }

  private mutating func decodeNext(
    of buffer: inout PlayoutBuffer, with stage: DecodeStage, _ generations: RenderGenerations,
    _ figures: inout StreamFigures, _ steps: inout [Playout.Step]
  ) {
    guard let (packet, format) = buffer.nextToDecode() else { return }
    guard !undecodable.contains(format.codec) else { return }
    let generation = generations.number(of: packet.generation)
    do {
      try stage.prepare(for: packet, format: format, generation: generation)
    } catch {
      undecodable.insert(format.codec)
      return steps.append(.undecodable(format.codec, error))
    }
    let from = span?.until == packet.mediaTime ? span?.from : nil
    span = (
      from ?? packet.mediaTime,
      packet.mediaTime + format.audio.duration(ofFrames: packet.encoded.frameCount)
    )
    do {
      try stage.decode(packet, format: format, generation: generation)
    } catch {
      steps.append(.corrupt(reason: "\(error)", total: figures.countCorrupt()))
    }
  }
}
