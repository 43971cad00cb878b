internal import Audio
internal import FFmpegSource
internal import Sender

/// What consecutive buffers have in common that one source gives.
enum BufferShape: Hashable {
  case samples(PCMFormat)
  case packets(CompressedFormat)

  var audio: AudioFormat {
    switch self {
    case .samples(let format): format.audio
    case .packets(let format): format.description.format.audio
    }
  }

  var sampleType: SampleType {
    switch self {
    case .samples(let format): format.sampleType
    case .packets(let format): format.description.format.sampleType
    }
  }

  /// That of a pause between packets.
  var silence: BufferShape {
    switch self {
    case .samples: self
    case .packets(let format):
      (try? PCMFormat(sampleRate: format.sampleRate, channelCount: format.channelCount))
        .map(Self.samples) ?? self
    }
  }

  var isLossless: Bool {
    switch self {
    case .samples: true
    case .packets(let format): format.codec == .flac || format.codec == .alac
    }
  }

  /// How much before a place prepares a decoder.
  var lead: Duration {
    guard case .packets(let format) = self else { return .zero }
    return PlaybackTime(frame: format.description.leadFrames, at: format.sampleRate)
      - PlaybackTime.zero
  }
}

/// A buffer in the queue.
struct EnqueuedBuffer {
  enum Content {
    case samples([Float])
    /// Frames before those that are heard.
    case packet([UInt8], trimAtStart: Int)
  }

  /// Containers round times to milliseconds.
  private static let rounding = Duration.milliseconds(2)

  let shape: BufferShape
  private(set) var content: Content
  /// At the rate of its shape.
  let startFrame: Int64
  private(set) var frameCount: Int

  init(_ buffer: AudioBuffer) {
    shape = .samples(buffer.format)
    content = .samples(buffer.samples)
    (startFrame, frameCount) = (buffer.startFrame, buffer.frameCount)
  }

  /// - Parameter last: the one that was enqueued before it.
  init(_ buffer: CompressedBuffer, after last: EnqueuedBuffer?) {
    shape = .packets(buffer.format)
    content = .packet(buffer.packet, trimAtStart: buffer.trimAtStart)
    frameCount = buffer.frameCount
    let start = buffer.presentationTime
    let isNext = last.map {
      $0.shape == .packets(buffer.format) && abs($0.endTime - start) <= Self.rounding
    }
    startFrame =
      (isNext ?? false ? last?.endFrame : nil) ?? start.frame(at: buffer.format.sampleRate)
  }

  var endFrame: Int64 { startFrame + Int64(frameCount) }
  var startTime: PlaybackTime { PlaybackTime(frame: startFrame, at: shape.audio.sampleRate) }
  var endTime: PlaybackTime { PlaybackTime(frame: endFrame, at: shape.audio.sampleRate) }
  var duration: Duration { endTime - startTime }

  var byteCount: Int {
    switch content {
    case .samples(let samples): samples.count * MemoryLayout<Float>.size
    // What a packet takes besides its bytes.
    case .packet(let bytes, _): bytes.count + 128
    }
  }

  /// Without what lies at or after `time`; nil where that is all of it.
  func prefix(until time: PlaybackTime) -> EnqueuedBuffer? {
    if startTime < time, endTime <= time { return self }
    let kept = time.frameFrom(at: shape.audio.sampleRate) - startFrame
    guard kept > 0 else { return nil }
    var prefix = self
    prefix.frameCount = min(frameCount, Int(kept))
    if case .samples(let samples) = content {
      prefix.content = .samples(Array(samples.prefix(prefix.frameCount * shape.audio.channelCount)))
    }
    return prefix
  }

  /// The packet, heard from this frame on; nil where it is none.
  func packet(from frame: Int64) -> EncodedPacket? {
    guard case .packet(let bytes, let trim) = content else { return nil }
    let late = Int(min(max(0, frame - startFrame), Int64(frameCount)))
    return EncodedPacket(
      payload: bytes, skippedFrames: trim + late, frameCount: frameCount - late)
  }
}

private func abs(_ span: Duration) -> Duration { span < .zero ? .zero - span : span }
