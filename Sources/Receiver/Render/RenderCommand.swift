package import Audio
package import Clock

/// What crosses to the render thread, in order, besides the frames of `FrameRing`. Plain values.
package enum RenderCommand: Sendable {
  /// Holds from its group time on; up to four wait at a time, later ones replace waiting ones that begin
  /// at or after them.
  case anchor(Anchor)
  /// Forgets all anchors and the clock: silence until both are known again. Another clock begins, or none.
  case forgetSchedule
  /// The newest view of the group's clock. `isStep` where it does not continue the one before.
  case clock(ClockEstimate, isStep: Bool)
  /// Frames of older generations at and after `from` may not be heard.
  case cut(from: MediaTime, generation: UInt32, isRamped: Bool)
  /// There is nothing to play from here on, so that silence is no fault. A later cut at or before it takes it back, one behind it
  /// ends the silence.
  case end(at: MediaTime)
  /// Gain to ramp to, 0...1.
  case gain(Float)
  /// Positive: sounds later.
  case delay(Nanoseconds)
  case channelMap(left: ChannelMix, right: ChannelMix)
}

/// What the render thread tells about, some twenty times a second.
package struct RenderReport: Sendable {
  package enum Activity: Sendable {
    /// No anchor, or no clock.
    case idle
    /// The device clock has not settled.
    case settling
    /// An anchor lies ahead.
    case waiting
    case playing
    case paused
    /// Playing, but the frames due are not there.
    case starved
    /// Playing, past the end of what there is to play.
    case ended
  }
  package var activity = Activity.idle
  /// What sounds at `at`, which lies ahead by what is written to the sound card and not yet heard.
  package var playhead = MediaTime(flicks: 0)
  package var at = LocalTime(nanoseconds: 0)
  /// Scheduled less real, positive is early.
  package var syncError = Nanoseconds(0)
  /// The device's rate against this machine's clock, dimensionless, 1e-6 is one ppm.
  package var deviceDrift = 0.0
  /// The newest cut that took effect: its generation, 0 for none yet, and where it really cut, which is later
  /// than asked for where that had already sounded.
  package var cutGeneration: UInt32 = 0
  package var cutFrom = MediaTime(flicks: 0)
  // Counters, since the device was opened.
  package var underruns: UInt32 = 0
  package var starvations: UInt32 = 0
  /// How often playback jumped to where it should be, because it was too far off to be steered there.
  package var replacements: UInt32 = 0
  /// Reports that found their queue full.
  package var lostReports: UInt32 = 0

  @_noLocks @_noAllocation
  package init() {}
}
