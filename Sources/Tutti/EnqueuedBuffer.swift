internal import Audio
internal import FFmpegSource
internal import Sender

/// The common properties of consecutive buffers that one source gives.
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

  /// The shape of a pause between packets.
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

  /// Length of the audio before a place that prepares a decoder.
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
    /// `trimAtStart` is the number of inaudible frames at the beginning.
    case packet([UInt8], trimAtStart: Int)
  }

  /// Tolerance for containers, which round times to milliseconds.
  private static let rounding = Duration.milliseconds(2)

  let shape: BufferShape
  private(set) var content: Content
  /// Frame number at the sample rate of `shape`.
  let startFrame: Int64
  private(set) var frameCount: Int

  init(_ buffer: AudioBuffer) {
    shape = .samples(buffer.format)
    content = .samples(buffer.samples)
    (startFrame, frameCount) = (buffer.startFrame, buffer.frameCount)
  }

  /// - Parameter last: the buffer that was enqueued before it.
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
    // Estimated overhead of a packet, in bytes.
    case .packet(let bytes, _): bytes.count + 128
    }
  }

  /// Returns the buffer without the part at and after `time`; nil if nothing is left.
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

  /// Returns the packet, audible from this frame on; nil for samples.
  func packet(from frame: Int64) -> EncodedPacket? {
    guard case .packet(let bytes, let trim) = content else { return nil }
    let late = Int(min(max(0, frame - startFrame), Int64(frameCount)))
    return EncodedPacket(
      payload: bytes, skippedFrames: trim + late, frameCount: frameCount - late)
  }
}

private func abs(_ span: Duration) -> Duration { span < .zero ? .zero - span : span }
