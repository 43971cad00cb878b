/// Decoded frames on their way to the render thread: one producer, one consumer, memory allocated once.
///
/// All frames lie on one grid. *Stream frame* `j` sounds at media time `j` times the frame duration of the rate at
/// which the sound card runs. Frames travel in blocks that know their place in the stream, and the empty blocks
/// travel back: two queues, of which neither can ever be full. The consumer looks frames up by their place, may do
/// so twice, and gives blocks back in any order, so a flush makes room at once behind what is still to be heard.
///
/// Unchecked because the compiler cannot see the rule that makes it safe: each block is in one of the queues or
/// with one of the two threads, and the queues' counters are atomic.
@safe
package final class FrameRing: @unchecked Sendable {
  /// Frames in a full block: 5 ms at 48 kHz, so that little is wasted by packets that do not fill their last one.
  package static let blockFrames = 256

  package let channelCount: Int
  package let blockCount: Int
  /// Block `b` begins at sample `b * blockFrames * channelCount`.
  let samples: UnsafeMutablePointer<Float>
  let filled: UnsafeMutablePointer<FilledBlock>
  let empty: UnsafeMutablePointer<Int>
  let counters: UnsafeMutablePointer<FrameRingCounters>

  /// Allocates room for at least `minimumCapacity` frames. The consumer keeps frames that may be rendered again,
  /// so this should be more than twice what is written ahead to the sound card.
  package init(minimumCapacity: Int, channelCount: Int) {
    self.channelCount = channelCount
    blockCount = max(4, (minimumCapacity + Self.blockFrames - 1) / Self.blockFrames)
    let sampleCount = blockCount * Self.blockFrames * channelCount
    unsafe samples = .allocate(capacity: sampleCount)
    unsafe samples.initialize(repeating: 0, count: sampleCount)
    unsafe filled = .allocate(capacity: blockCount)
    unsafe filled.initialize(repeating: FilledBlock(), count: blockCount)
    unsafe empty = .allocate(capacity: blockCount)
    for block in 0..<blockCount { unsafe (empty + block).initialize(to: block) }
    unsafe counters = .allocate(capacity: 1)
    unsafe counters.initialize(to: FrameRingCounters())
    unsafe counters.pointee.empty.publish(put: Int64(blockCount))
  }

  deinit {
    unsafe samples.deallocate()
    unsafe filled.deallocate()
    unsafe empty.deallocate()
    unsafe counters.deinitialize(count: 1)
    unsafe counters.deallocate()
  }
}

struct FrameRingCounters: ~Copyable {
  /// From the producer to the consumer.
  let filled = QueueCounters()
  /// From the consumer to the producer.
  let empty = QueueCounters()
}

struct FilledBlock {
  /// Index of the block in the ring's memory.
  var index = 0
  /// 1...`FrameRing.blockFrames`.
  var count = 0
  /// Stream frame of its first frame.
  var streamFrame: Int64 = 0
  var generation: UInt32 = 0
}

/// The producer's end of a `FrameRing`; there is one per ring.
@safe
package struct FrameRingWriter: ~Copyable {
  private let ring: FrameRing
  /// Number of blocks taken from the empty ones, which is also the number of those that were filled.
  private var usedCount: Int64 = 0

  package init(_ ring: FrameRing) { self.ring = ring }

  /// Number of frames that one call of `write` would accept now.
  package var freeFrames: Int {
    let free = unsafe ring.counters.pointee.empty.put() - usedCount
    return Int(free) * FrameRing.blockFrames
  }

  /// Copies as many leading frames as there is room for, and returns their number. The caller offers the rest
  /// again later. Each call begins a new block, so small pieces waste room.
  ///
  /// The consumer must know the cut that begins a generation before the first frame of that generation is written.
  ///
  /// - Parameters:
  ///   - frames: Interleaved, full scale ±1; a whole number of frames.
  ///   - streamFrame: The stream frame of the first of them; within ±2^60, else none are accepted.
  package mutating func write(
    _ frames: Span<Float>, at streamFrame: Int64, generation: UInt32
  ) -> Int {
    guard streamFrame.magnitude < 1 << 60 else { return 0 }
    let accepted = min(frames.count / ring.channelCount, freeFrames)
    var done = 0
    while done < accepted {
      let count = min(FrameRing.blockFrames, accepted - done)
      let slot = Int(usedCount % Int64(ring.blockCount))
      let index = unsafe ring.empty[slot]
      copy(frames, from: done, count: count, toBlock: index)
      unsafe ring.filled[slot] = FilledBlock(
        index: index, count: count, streamFrame: streamFrame + Int64(done), generation: generation)
      done += count
      usedCount += 1
    }
    unsafe ring.counters.pointee.empty.publish(taken: usedCount)
    unsafe ring.counters.pointee.filled.publish(put: usedCount)
    return accepted
  }

  private func copy(_ frames: Span<Float>, from first: Int, count: Int, toBlock index: Int) {
    let channels = ring.channelCount
    unsafe frames.withUnsafeBufferPointer { source in
      guard let base = source.baseAddress else { return }
      let place = unsafe ring.samples + index * FrameRing.blockFrames * channels
      unsafe place.update(from: base + first * channels, count: count * channels)
    }
  }
}
