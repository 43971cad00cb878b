package import Clock
package import Receiver

/// Properties of an opened sound card, or of the device that `PacedOutput` simulates.
package struct DeviceDescription: Hashable, Sendable, CustomStringConvertible {
  /// The source of a position's time.
  package enum PositionTime: Hashable, Sendable {
    /// The driver stamps it with CLOCK_MONOTONIC_RAW.
    case driverRaw
    /// The driver stamps it with CLOCK_MONOTONIC.
    case driverMonotonic
    /// The time is the clock's, read before and after the position.
    case reading
  }

  package var device: String
  /// Identifies the same card from day to day, whatever its number. Key to the stored drift of its crystal.
  package var identity: String
  package var sampleRate: Int
  package var channelCount: Int
  package var format: DeviceFormat
  package var periodFrames: Int
  package var ringFrames: Int
  /// Number of frames that are kept written ahead.
  package var leadFrames: Int
  /// Number of frames of silence with which it is started.
  package var startFrames: Int
  package var canRewind: Bool
  package var positionTime: PositionTime
  /// The smallest step of the position that was seen, in frames: 1 is exact, a whole period is coarse.
  package var positionStep: Int
  /// True if the position moves by milliseconds, as with USB cards: they count the frames of the bus, and their
  /// timestamp is that of the query. At 44.1 kHz, one step in ten is a frame longer than the others.
  package var movesByMilliseconds = false
  /// The time at which frame 0 is heard; nil for real cards, where it is not known exactly.
  package var startsAt: LocalTime?

  package init(
    device: String, identity: String, sampleRate: Int, channelCount: Int, format: DeviceFormat,
    periodFrames: Int, ringFrames: Int, leadFrames: Int, startFrames: Int, canRewind: Bool,
    positionTime: PositionTime, positionStep: Int, startsAt: LocalTime? = nil
  ) {
    self.device = device
    self.identity = identity
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.format = format
    self.periodFrames = periodFrames
    self.ringFrames = ringFrames
    self.leadFrames = leadFrames
    self.startFrames = startFrames
    self.canRewind = canRewind
    self.positionTime = positionTime
    self.positionStep = positionStep
    self.startsAt = startsAt
  }

  /// True if the thread watches for the instant at which the position moves, instead of using the time of a reading.
  /// Used if no timestamp belongs to the position, as long as the steps are small enough for the card to stay
  /// supplied.
  package var movesAreWatched: Bool {
    (positionTime == .reading || movesByMilliseconds) && positionStep * 4 <= leadFrames
  }

  package var traits: CardTraits {
    CardTraits(
      sampleRate: sampleRate, periodFrames: periodFrames, leadFrames: leadFrames,
      canRewind: canRewind,
      positionTime: movesAreWatched ? .watched : positionTime == .reading ? .read : .stamped,
      positionStep: positionStep)
  }

  package var description: String {
    "\(device): \(sampleRate) Hz, \(format.rawValue), \(channelCount) ch, period \(periodFrames), "
      + "ring \(ringFrames), lead \(leadFrames), rewind \(canRewind ? "yes" : "no"), "
      + "position by \(positionTime) in steps of \(positionStep)"
  }
}
