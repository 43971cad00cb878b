/// A block of frames in the ring as the consumer knows it, with the cuts that apply to it.
struct FrameBlock {
  /// Index of the block in the ring's memory.
  let index: Int
  let start: Int64
  /// One past the last stream frame that may be heard.
  private(set) var end: Int64
  /// One past the last stream frame that may fade out behind a cut.
  private(set) var tailEnd: Int64
  let generation: UInt32
  /// True if a ramped cut lies right behind its last frame.
  private(set) var endsRamped = false
  /// Stream frame of the ramped cut that began its generation; `Int64.min` if there is none.
  private(set) var rampedStart = Int64.min
  var isKept = false

  @_noLocks @_noAllocation
  init(_ filled: FilledBlock) {
    index = filled.index
    start = filled.streamFrame
    end = filled.streamFrame + Int64(filled.count)
    tailEnd = end
    generation = filled.generation
  }

  @_noLocks @_noAllocation
  mutating func apply(_ cut: FrameCut) {
    if generation == cut.generation { rampedStart = cut.isRamped ? cut.from : .min }
    if generation < cut.generation, cut.from <= end {
      endsRamped = cut.isRamped
      end = cut.from
      tailEnd = min(tailEnd, cut.from + cut.crossFrames)
    }
  }

  @_noLocks @_noAllocation
  func holds(_ streamFrame: Int64) -> Bool { start <= streamFrame && streamFrame < end }
}

/// Frames of generations before `generation` may not be heard at or after `from`.
package struct FrameCut: Hashable, Sendable {
  package var from: Int64
  package var generation: UInt32
  /// True if the old frames fade out before `from` and the new ones fade in behind it.
  package var isRamped: Bool
  /// Over so many frames from `from` on the old frames fade out while the new ones fade in, if all of these old frames are
  /// there: in the place of a ramp. 0 is no cross-fade.
  package var crossFrames: Int64

  @_noLocks @_noAllocation
  package init(from: Int64, generation: UInt32, isRamped: Bool, crossFrames: Int64 = 0) {
    self.from = from
    self.generation = generation
    self.isRamped = isRamped
    self.crossFrames = crossFrames
  }
}

/// The ring's content from a stream frame on: frames of one block, or a hole.
package struct FrameRun: Hashable, Sendable {
  /// Place of the first frame in the ring's memory, in frames; nil for a hole.
  package var place: Int?
  /// One past the run's last stream frame.
  package var end: Int64
  /// True if a ramped cut lies at the run's first frame, or right behind its last.
  package var startsRamped = false
  package var endsRamped = false

  @_noLocks @_noAllocation
  init(place: Int?, end: Int64) {
    self.place = place
    self.end = end
  }
}
