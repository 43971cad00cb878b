package import Clock

/// The way in which a sound device takes frames and reports its position, as its output found out. The commit
/// horizon and the reading of the device's clock follow from this, for real and simulated cards.
package struct CardTraits: Hashable, Sendable {
  package enum PositionTime: Hashable, Sendable {
    /// The output watches the position move, to a microsecond.
    case watched
    /// The driver stamps each position.
    case stamped
    /// The output reads the clock when it asks for the position.
    case read
  }

  /// In Hz.
  package var sampleRate: Int
  /// The unit in which the device takes frames, in frames.
  package var periodFrames: Int
  /// Number of frames kept written ahead.
  package var leadFrames: Int
  /// True if written frames can be taken back and rendered again.
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

  /// A command's fade and the delay of the output thread.
  private static let fade = Nanoseconds.milliseconds(15)

  /// Time before its sound at which a change must reach the render thread: the frames that cannot be taken back
  /// (even a device that can rewind fetches 20 ms early), a period until the thread wakes, and the fade.
  package var commitHorizon: Nanoseconds {
    let frames = Int64((canRewind ? min(sampleRate / 50, leadFrames) : leadFrames) + periodFrames)
    return Nanoseconds(frames * 1_000_000_000 / Int64(sampleRate)) + Self.fade
  }

  /// In frames; more than the resampler looks ahead.
  private static let lookAhead = 32

  /// Time before its sound at which a frame must be in the ring: the frames written ahead, and a period until the
  /// thread wakes.
  package var writtenAhead: Nanoseconds {
    let frames = leadFrames + periodFrames + Self.lookAhead
    return Nanoseconds(Int64(frames) * 1_000_000_000 / Int64(sampleRate))
  }

  /// The way in which the renderer should read the positions.
  package var clockClass: RenderClock.DeviceClass {
    if positionTime == .watched { return .exact }
    if positionStep <= Self.fineStep { return .fine }
    return positionTime == .stamped ? .edge : .coarse
  }

  /// The output thread takes its turns this far apart once the card's clock is known. Each turn costs the same
  /// whatever it renders, and a crystal does not change within a second.
  private static let restedTurn = Nanoseconds.milliseconds(50)
  /// A tenth of what is written ahead may be played between two turns: a stall of the machine still finds the rest.
  private static let turnsOfLead = 10
  /// For so long after its start the clock of a card is not known well, and for so long after a command the frames that it
  /// has asked for may still be on their way, and fill what was rendered without them. In seconds.
  private static let unsteady = 3

  /// Frames that the device plays between two turns of the output thread, which is as many as its period has while its
  /// clock is not known yet, behind commands, where little is written ahead, and where only the device's interrupt tells its position.
  /// - Parameter steady: frames written since the device was started, and since frames that were written became wrong.
  package func turnFrames(after steady: Int64) -> Int {
    guard clockClass == .exact || clockClass == .fine, steady >= Int64(Self.unsteady * sampleRate)
    else { return periodFrames }
    let rested = Int(Self.restedTurn.count) * sampleRate / 1_000_000_000
    return max(periodFrames, min(rested, leadFrames / Self.turnsOfLead))
  }

  /// In frames: 167 µs at 48 kHz, less than the scatter of a time stamp.
  private static let fineStep = 8
}
