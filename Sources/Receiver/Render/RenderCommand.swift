package import Audio
package import Clock

/// A command to the render thread, which takes them in order. Plain values; frames come through `FrameRing` instead.
package enum RenderCommand: Sendable {
  /// Applies from its group time on. Up to four anchors wait at a time; a new one replaces waiting ones that begin at
  /// or after it.
  case anchor(Anchor)
  /// Forgets all anchors and the clock: silence until both are known again. Sent when another clock begins, or none.
  case forgetSchedule
  /// The newest clock estimate. `isStep` is true if it does not continue the one before.
  case clock(ClockEstimate, isStep: Bool)
  /// Frames of older generations at and after `from` must not be heard; if `isCrossed`, but for those that fade out.
  case cut(from: MediaTime, generation: UInt32, isRamped: Bool, isCrossed: Bool = false)
  /// The stream ends here, so that silence is no fault. A later cut at or before this time withdraws the end; a cut
  /// after it ends the silence.
  case end(at: MediaTime)
  /// Gain to ramp to, 0...1.
  case gain(Float)
  /// The room's delay; positive sounds later.
  case delay(Nanoseconds)
  case channelMap(left: ChannelMix, right: ChannelMix)
  /// The room's sound, but for its FIR filter.
  case sound(SoundProgram)
  /// True to use the FIR filter that the renderer was made with, if it has one.
  case useFIR(Bool)
  /// Mixes a clip over what plays; it ends one whose time is not over.
  case clip(RenderedClip)
  /// Ends the clip of this number if it sounds, and drops its frames and those of all clips before it.
  case endClip(UInt32)

  /// False for what needs no turn of the render thread before the next that is due.
  package var isUrgent: Bool {
    if case .clock(_, isStep: false) = self { false } else { true }
  }
}

/// A report of the render thread, sent about twenty times a second.
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
    /// Playing, but the due frames are missing.
    case starved
    /// Playing, past the end of the stream.
    case ended
  }
  package var activity = Activity.idle
  /// The media time that sounds at `at`. That time lies ahead by the frames written to the sound card and not heard
  /// yet.
  package var playhead = MediaTime(flicks: 0)
  package var at = LocalTime(nanoseconds: 0)
  /// Scheduled minus actual time of the sound; positive is early.
  package var syncError = Nanoseconds(0)
  /// Deviation of the device's rate from this machine's clock: dimensionless, 1e-6 is one ppm.
  package var deviceDrift = 0.0
  /// The newest cut in effect: its generation, 0 for none yet, and its actual media time, which is later than requested
  /// if that had already sounded.
  package var cutGeneration: UInt32 = 0
  package var cutFrom = MediaTime(flicks: 0)
  // Counters since the device was opened.
  package var underruns: UInt32 = 0
  package var starvations: UInt32 = 0
  /// Number of jumps made because the error was too large to be steered away.
  package var replacements: UInt32 = 0
  /// Reports dropped because their queue was full.
  package var lostReports: UInt32 = 0

  @_noLocks @_noAllocation
  package init() {}
}
