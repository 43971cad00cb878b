/// The consumer's end of a `FrameRing`, on the render thread; there is one per ring. It looks frames up by their
/// place in the stream, so the same frames can be rendered twice, and it gives back blocks that are no longer needed.
///
/// If two generations have the same frame, the older one is heard: it is there only until its cut.
@safe
package struct FrameRingReader: ~Copyable {
  private let ring: FrameRing
  // Copies of the ring's pointers, because access through a class reference would change its reference count.
  private let samples: UnsafeMutablePointer<Float>
  private let filled: UnsafeMutablePointer<FilledBlock>
  private let empty: UnsafeMutablePointer<Int>
  private let counters: UnsafeMutablePointer<FrameRingCounters>
  private let blockCount: Int
  private let channelCount: Int

  /// In the order in which they came.
  private let held: UnsafeMutablePointer<FrameBlock>
  private var heldCount = 0
  private var takenCount: Int64 = 0
  private var returnedCount: Int64
  private let cuts: UnsafeMutablePointer<FrameCut>
  private var cutCount = 0

  package init(_ ring: FrameRing) {
    self.ring = ring
    unsafe samples = ring.samples
    unsafe filled = ring.filled
    unsafe empty = ring.empty
    unsafe counters = ring.counters
    blockCount = ring.blockCount
    channelCount = ring.channelCount
    returnedCount = Int64(ring.blockCount)
    unsafe held = .allocate(capacity: ring.blockCount)
    unsafe cuts = .allocate(capacity: cutCapacity)
  }

  deinit {
    unsafe held.deallocate()
    unsafe cuts.deallocate()
  }

  /// Takes over the blocks that the producer has written.
  @_noLocks @_noAllocation
  package mutating func update() {
    let put = unsafe counters.pointee.filled.put()
    while takenCount < put {
      var block = unsafe FrameBlock(filled[Int(takenCount % Int64(blockCount))])
      for i in 0..<cutCount { unsafe block.apply(cuts[i]) }
      unsafe held[heldCount] = block
      heldCount += 1
      takenCount += 1
    }
    unsafe counters.pointee.filled.publish(taken: takenCount)
  }

  /// Applies a cut to all frames, also those that come later. Cuts come in the order of their generations.
  @_noLocks @_noAllocation
  package mutating func apply(_ cut: FrameCut) {
    if cutCount == cutCapacity {
      for i in 1..<cutCount { unsafe cuts[i - 1] = cuts[i] }
      cutCount -= 1
    }
    unsafe cuts[cutCount] = cut
    cutCount += 1
    for i in 0..<heldCount { unsafe held[i].apply(cut) }
  }
}

// MARK: - Looking frames up

extension FrameRingReader {
  /// Returns the content from `streamFrame` on, up to `limit`, which lies behind it.
  @_noLocks @_noAllocation
  package func run(at streamFrame: Int64, limit: Int64) -> FrameRun {
    guard let holder = holder(of: streamFrame) else {
      return FrameRun(
        place: nil, end: firstStart(after: streamFrame, before: limit, upTo: .max))
    }
    let block = unsafe held[holder]
    // An older generation takes over at its beginning.
    let end =
      block.generation == 0
      ? min(limit, block.end)
      : firstStart(
        after: streamFrame, before: min(limit, block.end), upTo: block.generation - 1)
    let place = block.index * blockFrames + Int(streamFrame - block.start)
    var run = FrameRun(place: place, end: end)
    run.startsRamped = block.rampedStart == streamFrame
    run.endsRamped = block.endsRamped && block.end == end
    return run
  }

  /// Copies `count` frames, interleaved, from the place of a run in the ring's memory.
  @_noLocks @_noAllocation
  package func copy(from place: Int, count: Int, into out: UnsafeMutablePointer<Float>) {
    // A loop, because the library's `update(from:count:)` counts as able to free memory.
    let source = unsafe samples + place * channelCount
    for i in 0..<count * channelCount { unsafe out[i] = source[i] }
  }

  /// Returns the block from which a stream frame is heard.
  @_noLocks @_noAllocation
  private func holder(of streamFrame: Int64) -> Int? {
    var holder: Int?
    var generation = UInt32.max
    for i in 0..<heldCount where unsafe held[i].holds(streamFrame) {
      guard unsafe holder == nil || held[i].generation < generation else { continue }
      holder = i
      generation = unsafe held[i].generation
    }
    return holder
  }

  /// Returns the beginning of the next block of a generation up to `generation`, or `limit`.
  @_noLocks @_noAllocation
  private func firstStart(
    after streamFrame: Int64, before limit: Int64, upTo generation: UInt32
  ) -> Int64 {
    var first = limit
    for i in 0..<heldCount {
      let start = unsafe held[i].start
      guard start > streamFrame, start < first else { continue }
      if unsafe held[i].generation <= generation, unsafe start < held[i].end { first = start }
    }
    return first
  }
}

// MARK: - Cross-fades

extension FrameRingReader {
  /// Returns the newest cut with a cross-fade between `first` and `end`, if all its old frames are there.
  @_noLocks @_noAllocation
  package func crossFade(from first: Int64, to end: Int64) -> FrameCut? {
    for i in 0..<cutCount {
      let cut = unsafe cuts[cutCount - 1 - i]
      guard cut.crossFrames > 0, cut.from < end, cut.from + cut.crossFrames > first else {
        continue
      }
      return isWhole(cut) ? cut : nil
    }
    return nil
  }

  /// True if a cut that may still matter has a cross-fade.
  package var crossesCuts: Bool {
    @_noLocks @_noAllocation get {
      for i in 0..<cutCount where unsafe cuts[i].crossFrames > 0 { return true }
      return false
    }
  }

  @_noLocks @_noAllocation
  private func isWhole(_ cut: FrameCut) -> Bool {
    let end = cut.from + cut.crossFrames
    var frame = cut.from
    while frame < end {
      let run = tail(of: cut, at: frame, limit: end)
      guard case .some = run.place else { return false }
      frame = run.end
    }
    return true
  }

  /// Returns the old frames that fade out behind a cut, from `streamFrame` on, up to `limit`: those that go on from what
  /// was heard before it.
  @_noLocks @_noAllocation
  package func tail(of cut: FrameCut, at streamFrame: Int64, limit: Int64) -> FrameRun {
    guard let last = holder(of: cut.from - 1), unsafe held[last].generation < cut.generation else {
      return FrameRun(place: nil, end: limit)
    }
    let generation = unsafe held[last].generation
    for i in 0..<heldCount {
      let block = unsafe held[i]
      guard block.generation == generation, block.start <= streamFrame,
        streamFrame < block.tailEnd
      else { continue }
      let place = block.index * blockFrames + Int(streamFrame - block.start)
      return FrameRun(place: place, end: min(limit, block.tailEnd))
    }
    return FrameRun(place: nil, end: limit)
  }

  /// Returns a sample of a frame in the ring's memory.
  @_noLocks @_noAllocation
  package func sample(at place: Int, _ channel: Int) -> Float {
    unsafe samples[place * channelCount + channel]
  }
}

// MARK: - Giving blocks back

extension FrameRingReader {
  /// Begins to mark the blocks that must be kept; at first none is marked.
  @_noLocks @_noAllocation
  package mutating func beginRelease() {
    for i in 0..<heldCount { unsafe held[i].isKept = false }
  }

  /// Keeps the frames ahead of a playhead at `streamFrame`. If a cut has ended a generation, keeps only its frames
  /// within the ring's length: a stream that continues elsewhere does not return to them.
  @_noLocks @_noAllocation
  package mutating func keep(from streamFrame: Int64) {
    let newest = unsafe cutCount > 0 ? cuts[cutCount - 1].generation : 0
    let reach = streamFrame + Int64(blockCount * blockFrames)
    for i in 0..<heldCount {
      let block = unsafe held[i]
      guard max(block.start, streamFrame) < block.tailEnd else { continue }
      if block.generation >= newest || block.start < reach { unsafe held[i].isKept = true }
    }
  }

  /// Keeps all frames of `generation` and those after it that no cut forbids.
  @_noLocks @_noAllocation
  package mutating func keepAll(ofGenerationsFrom generation: UInt32) {
    for i in 0..<heldCount {
      let block = unsafe held[i]
      if block.generation >= generation, block.start < block.tailEnd {
        unsafe held[i].isKept = true
      }
    }
  }

  /// Gives the producer all blocks that are not kept.
  @_noLocks @_noAllocation
  package mutating func endRelease() {
    var kept = 0
    for i in 0..<heldCount {
      let block = unsafe held[i]
      if block.isKept {
        unsafe held[kept] = block
        kept += 1
      } else {
        unsafe empty[Int(returnedCount % Int64(blockCount))] = block.index
        returnedCount += 1
      }
    }
    heldCount = kept
    unsafe counters.pointee.empty.publish(put: returnedCount)
  }
}

/// `FrameRing.blockFrames`; a static constant of a class is not accepted on the render thread.
private let blockFrames = 256
/// Cuts that may apply to frames which have not arrived yet. The writer knows of a cut before the reader does, so one
/// would be enough; eight allow for a listener who skips faster than the queue drains.
private let cutCapacity = 8
