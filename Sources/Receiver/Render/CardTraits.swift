package import Clock

/// How a sound device takes frames and tells its position, as its output found out. The schedule of commands and the
/// reading of its clock follow from this, on real cards and on simulated ones.
package struct CardTraits: Hashable, Sendable {
  package enum PositionTime: Hashable, Sendable {
    /// The output watches the position move, to a microsecond.
    case watched
    /// The driver stamps each position.
    case stamped
    /// The output reads the clock when it asks for the position.
    case read
  }

  /// Frames a second.
  package var sampleRate: Int
  /// The device takes frames in units of so many.
  package var periodFrames: Int
  /// Frames that are kept written ahead.
  package var leadFrames: Int
  /// Whether written frames can be taken back and rendered anew.
  package var canRewind: Bool
  package var positionTime: PositionTime
  /// The smallest step of the position, in frames.
  package var positionStep: Int

  package init(
    sampleRate: Int, periodFrames: Int, leadFrames: Int, canRewind: Bool,
    positionTime: PositionTime, positionStep: Int
  ) {
    self.sampleRate = sampleRate
    self.periodFrames = periodFrames
    self.leadFrames = leadFrames
    self.canRewind = canRewind
    self.positionTime = positionTime
    self.positionStep = positionStep
  }

  /// A command's fade, and the time that the output thread takes.
  private static let fade = Nanoseconds.milliseconds(15)

  /// How long before it is heard a change must reach the render thread: frames that cannot be taken back, of which a
  /// device fetches 20 ms early, a period until the thread wakes, and the fade.
  package var commitHorizon: Nanoseconds {
    let frames = Int64((canRewind ? min(sampleRate / 50, leadFrames) : leadFrames) + periodFrames)
    return Nanoseconds(frames * 1_000_000_000 / Int64(sampleRate)) + Self.fade
  }

  /// More frames than the resampler looks ahead.
  private static let lookAhead = 32

  /// How long before it is heard a frame must be there: when it is written, and a period until the thread wakes.
  package var writtenAhead: Nanoseconds {
    let frames = leadFrames + periodFrames + Self.lookAhead
    return Nanoseconds(Int64(frames) * 1_000_000_000 / Int64(sampleRate))
  }

  /// How the renderer should read the positions.
  package var clockClass: RenderClock.DeviceClass {
    if positionTime == .watched { return .exact }
    if positionStep <= Self.fineStep { return .fine }
    return positionTime == .stamped ? .edge : .coarse
  }

  /// Frames: 167 µs at 48 kHz, less than a stamp scatters.
  private static let fineStep = 8
}
