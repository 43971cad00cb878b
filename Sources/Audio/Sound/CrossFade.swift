/// A change from one way of making the same sound to another, tied to device frames, so that frames rendered again are
/// the same.
package struct CrossFade: Sendable {
  /// The first frame of the change; `Int64.max` while it is not known, `Int64.min` for one that was made long ago.
  package private(set) var start = Int64.min
  private let frames: Int64
  /// The part of the new way at the start, and at the end.
  private var from: Float
  package private(set) var to: Float

  /// Begins with a change to `share` that is over. `sampleRate` is in Hz.
  package init(sampleRate: Int, share: Float = 0) {
    // 50 ms: long enough that no change of the sound clicks, short enough to seem immediate.
    frames = Int64(max(1, sampleRate / 20))
    (from, to) = (share, share)
  }

  /// Changes to `share` from the frame on.
  @_noLocks @_noAllocation
  package mutating func begin(_ share: Float, at frame: Int64) {
    (from, to, start) = (to, share, frame)
  }

  /// Tells the first frame of a change that began with `Int64.max`.
  @_noLocks @_noAllocation
  package mutating func place(at frame: Int64) { start = frame }

  /// Is at `share` for ever.
  @_noLocks @_noAllocation
  package mutating func stay(at share: Float) { (from, to, start) = (share, share, .min) }

  /// True if the change is complete for all frames from this one on.
  @_noLocks @_noAllocation
  package func isOver(before frame: Int64) -> Bool {
    start == .min || start < frame - frames
  }

  @_noLocks @_noAllocation
  package func share(at frame: Int64) -> Float {
    guard frame > start else { return from }
    // From here on the difference cannot overflow: frames are numbered from zero.
    guard start > .min, frame - start < frames else { return to }
    return from + (to - from) * fadeIn(at: Double(frame - start) / Double(frames))
  }
}
