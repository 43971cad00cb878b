package import Audio
package import Clock
package import Receiver

/// Settings of the sound card that the user chooses.
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
  /// How much is written ahead of the card if it cannot be rewound. A stall of the machine up to this long is
  /// inaudible, but a flush cannot silence this much.
  package var lead: Nanoseconds
  /// The same if the card can be rewound.
  package var rewindableLead: Nanoseconds
  /// Silence with which a card is started, or less if its lead is shorter. Sound cannot begin earlier.
  package var startSilence: Nanoseconds
  /// Whether frames may be taken back on cards that can; off for drivers that only claim to.
  package var usesRewind = true

  package init(device: String, profile: LatencyProfile = .deep) {
    self.device = device
    lead = profile.fixedLead
    rewindableLead = profile.rewindableLead
    startSilence = profile.fixedLead
  }

  /// Written ahead as this says, in periods as long as this says.
  package mutating func use(_ profile: LatencyProfile) {
    period = profile.period
    lead = profile.fixedLead
    rewindableLead = profile.rewindableLead
    startSilence = profile.fixedLead
  }
}

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
