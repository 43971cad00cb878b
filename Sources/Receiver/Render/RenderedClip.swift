import Audio
package import Clock

/// A clip as the render thread knows it: its place in the clips' own media time, and when it sounds. Its frames come
/// through the clips' ring.
package struct RenderedClip: Hashable, Sendable {
  /// Numbers clips from 1, in the order in which they sound; frames of the ring carry it as their generation.
  package var number: UInt32
  package var from: MediaTime
  package var until: MediaTime
  package var begins: GroupTime
  package var ends: GroupTime
  /// 0...1.
  package var gain: Float
  /// Gain of the music below it, 0...1.
  package var musicGain: Float
  /// Length of both ramps of the music.
  package var ramp: Nanoseconds

  @_noLocks @_noAllocation
  package init(
    number: UInt32, from: MediaTime, until: MediaTime, begins: GroupTime, ends: GroupTime,
    gain: Float, musicGain: Float, ramp: Nanoseconds
  ) {
    (self.number, self.from, self.until) = (number, from, until)
    (self.begins, self.ends) = (begins, ends)
    (self.gain, self.musicGain, self.ramp) = (gain, musicGain, ramp)
  }

  /// When the music is as loud again as before.
  var restored: GroupTime { @_noLocks @_noAllocation get { ends + ramp } }

  /// Returns the gain of the music at a time; exactly 1 outside the clip and its ramp.
  @_noLocks @_noAllocation
  func musicGain(at time: GroupTime) -> Float {
    let length = Double(max(ramp.count, 1))
    let lowered = Double((time - begins).count) / length
    let raised = Double((time - ends).count) / length
    return 1 + (musicGain - 1) * fadeIn(at: min(lowered, 1 - raised))
  }

  /// Values that no session makes would overflow.
  var isPlausible: Bool {
    @_noLocks @_noAllocation get {
      begins.nanoseconds.magnitude < 1 << 60 && from.flicks.magnitude < 1 << 60 && from < until
        && begins < ends && until.flicks < 1 << 60 && ends.nanoseconds < 1 << 60
        && ramp.count.magnitude < 1 << 40
    }
  }
}
