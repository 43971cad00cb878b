/// A gain that moves without clicks: each change takes a fixed number of frames along a raised cosine.
package struct GainRamp: Sendable {
  /// The gain of the next frame.
  package private(set) var gain: Float
  package private(set) var target: Float
  private var origin: Float
  private var framesDone = 0
  private var length = 0

  /// Stands at `gain`.
  @_noLocks @_noAllocation
  package init(gain: Float) {
    self.gain = gain
    target = gain
    origin = gain
  }

  package var isMoving: Bool {
    @_noLocks @_noAllocation get { framesDone < length }
  }

  /// Starts to move from where the gain stands now. After `frames` frames it is at the target; with 0 it
  /// is there at once.
  @_noLocks @_noAllocation
  package mutating func move(to target: Float, over frames: Int) {
    self.target = target
    origin = gain
    framesDone = 0
    length = max(frames, 0)
    if length == 0 { gain = target }
  }

  /// Applies the gain to interleaved frames in place, and moves on.
  @_noLocks @_noAllocation
  package mutating func apply(
    to samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int
  ) {
    var frame = 0
    while isMoving, frame < frames {
      for channel in 0..<channelCount {
        unsafe samples[frame * channelCount + channel] *= gain
      }
      advance()
      frame += 1
    }
    guard gain != 1 else { return }
    for index in min(frame, frames) * channelCount..<max(frames, 0) * channelCount {
      unsafe samples[index] *= gain
    }
  }

  @_noLocks @_noAllocation
  private mutating func advance() {
    framesDone += 1
    guard isMoving else {
      gain = target
      return
    }
    gain = origin + (target - origin) * fadeIn(at: Double(framesDone) / Double(length))
  }
}

/// The shape of every fade: half a turn of a raised cosine, from 0 at 0 to 1 at 1. Two of them, one
/// reversed, add up to one, so that a cross-fade between equal signals is not heard.
@_noLocks @_noAllocation
package func fadeIn(at progress: Double) -> Float {
  guard progress > 0 else { return 0 }
  guard progress < 1 else { return 1 }
  return Float(0.5 + 0.5 * sineOfHalfTurns(progress - 0.5))
}
