internal import Audio
internal import Sender

/// The queue in the format of the place where it was opened, whatever comes later, so that effects continue
/// through a change of format.
final class SteadySource: MediaSource {
  private static let readFrames = 4_096

  let format: AudioFormat
  let sampleType = SampleType.float32
  let isLossless = true
  let frameCount: Int64? = nil
  let metadata = ItemMetadata()
  let supply = Supply.piped
  private let queue: SampleQueue
  private let generation: UInt32
  private var source: QueueSource
  private var converter: RateConverter
  /// Samples in `format` that were not given yet.
  private var ready: [Float] = []
  private var hasEnded = false

  init(_ queue: SampleQueue, at time: PlaybackTime, in generation: UInt32) {
    self.queue = queue
    self.generation = generation
    source = QueueSource(queue, queue.shape(at: time), in: generation)
    format = source.format
    converter = RateConverter(
      from: format.sampleRate, to: format.sampleRate, channelCount: format.channelCount,
      startingAt: 0)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    while ready.isEmpty {
      var block: [Float] = []
      try source.read(Self.readFrames, appendingTo: &block)
      if !block.isEmpty {
        converter.convert(fitted(block), appendingTo: &ready)
      } else if !hasEnded {
        converter.finish(appendingTo: &ready)
        if let next = source.next { enter(next, at: converter.nextFrame) } else { hasEnded = true }
      } else {
        return
      }
    }
    let given = ready.prefix(count * format.channelCount)
    frames += given
    ready.removeFirst(given.count)
  }

  func seek(toFrame frame: Int64) {
    (ready, hasEnded) = ([], false)
    enter(
      queue.shape(at: PlaybackTime(frame: frame, at: format.sampleRate)), at: frame)
  }

  /// Reads that shape from this frame on, counted at this source's rate.
  private func enter(_ shape: BufferShape, at frame: Int64) {
    let rate = shape.audio.sampleRate
    let first = PlaybackTime(frame: frame, at: format.sampleRate).frameFrom(at: rate)
    source = QueueSource(queue, shape, in: generation)
    source.seek(toFrame: first)
    converter = RateConverter(
      from: rate, to: format.sampleRate, channelCount: format.channelCount, startingAt: first)
    // The frame grids of two rates do not coincide: a frame may be missing between them.
    let missing = Int(max(0, converter.nextFrame - frame)) * format.channelCount
    ready += repeatElement(ready.last ?? 0, count: missing)
  }

  /// Copies mono to all channels, and takes the first for mono; otherwise channels keep their places.
  private func fitted(_ frames: [Float]) -> [Float] {
    let (from, to) = (source.format.channelCount, format.channelCount)
    if from == to { return frames }
    return stride(from: 0, to: frames.count, by: from).flatMap { frame in
      (0..<to).map { channel in
        from == 1 ? frames[frame] : channel < from ? frames[frame + channel] : 0
      }
    }
  }
}
