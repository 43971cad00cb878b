package import Audio
package import Clock

/// What crosses to the render thread, in order, besides the frames of `FrameRing`. Plain values.
package enum RenderCommand: Sendable {
  /// Holds from its group time on; up to four wait at a time, later ones replace waiting ones that begin
  /// at or after them.
  case anchor(Anchor)
  /// Forgets all anchors: silence.
  case unanchor
  /// The newest view of the group's clock. `isStep` where it does not continue the one before.
  case clock(ClockEstimate, isStep: Bool)
  /// Frames of older generations at and after `from` may not be heard.
  case cut(from: MediaTime, generation: UInt32, isRamped: Bool)
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
  }
  package var activity: Activity
  /// What sounds at `at`.
  package var playhead: MediaTime
  package var at: LocalTime
  /// Scheduled less real, positive is early.
  package var syncError: Nanoseconds
  /// The device's rate against this machine's clock, dimensionless, 1e-6 is one ppm.
  package var deviceDrift: Double
  /// Since the device was opened.
  package var underruns: UInt32
  package var starvations: UInt32
  package var replacements: UInt32
}
