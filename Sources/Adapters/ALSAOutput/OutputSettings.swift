package import Clock
package import Receiver

/// What the user wants of the sound card.
package struct OutputSettings: Sendable {
  /// ALSA's name of the device: `hw:0`, `plughw:1,0`, `default` …
  package var device: String
  /// The rate to ask for, in Hz. Where the card lacks it, the nearest that it has.
  package var sampleRate = 48_000
  /// `nil`: the best that the card takes.
  package var format: DeviceFormat?
  /// How often the card interrupts; half a ring at most.
  package var period = Nanoseconds.milliseconds(10)
  /// The card's ring buffer.
  package var ring = Nanoseconds.milliseconds(600)
  /// How much is kept written ahead of the card, where what is written cannot be taken back. It is
  /// both what a stalled machine may eat up unheard and what a flush cannot silence.
  package var lead = Nanoseconds.milliseconds(80)
  /// The same where it can be taken back: machines that many share stall for up to half a second.
  package var rewindableLead = Nanoseconds.milliseconds(500)
  /// How much silence a card is started with, or less where its lead is shorter. Sound cannot begin before it has
  /// passed.
  package var startSilence = Nanoseconds.milliseconds(80)
  /// Whether frames may be taken back on cards that can; off for drivers that only claim to.
  package var usesRewind = true

  package init(device: String) { self.device = device }
}

/// What the card turned out to be.
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
  /// The same for the same card on every day, whatever its number: the key to what was learnt about its
  /// crystal.
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
  /// Whether it moves by milliseconds, as cards on USB do, which count the frames of the bus and stamp when they were asked. At
  /// 44.1 kHz, one step in ten is a frame longer than the others.
  package var movesByMilliseconds = false

  /// Whether the instant at which the position moves is watched, instead of taking the time at which it was read: where
  /// there is no stamp that belongs to it, and while the card is kept supplied.
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
