package import Clock
package import Receiver

/// Properties of the opened card.
package struct DeviceDescription: Hashable, Sendable, CustomStringConvertible {
  /// Where the time of a position comes from.
  package enum PositionTime: Hashable, Sendable {
    /// The driver stamps it with CLOCK_MONOTONIC_RAW.
    case driverRaw
    /// The driver stamps it with CLOCK_MONOTONIC.
    case driverMonotonic
    /// The clock is read before and after asking.
    case reading
  }

  package var device: String
  /// Identifies the same card from day to day, whatever its number; the key to the stored drift of its crystal.
  package var identity: String
  package var sampleRate: Int
  package var channelCount: Int
  package var format: DeviceFormat
  package var periodFrames: Int
  package var ringFrames: Int
  /// How many frames are kept written ahead.
  package var leadFrames: Int
  /// How many frames of silence it is started with.
  package var startFrames: Int
  package var canRewind: Bool
  package var positionTime: PositionTime
  /// The smallest step of the position that was seen, in frames. 1 is exact, a period is coarse.
  package var positionStep: Int
  /// Whether it moves by milliseconds, as USB cards do: they count the frames of the bus, and their timestamp is that
  /// of the query. At 44.1 kHz, one step in ten is a frame longer than the others.
  package var movesByMilliseconds = false
  /// When frame 0 is heard, where that is known exactly: a device that is made up.
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

  /// Whether the instant at which the position moves is watched, instead of taking the time of a reading. Used if no
  /// timestamp belongs to the position, and while the card is kept supplied.
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
