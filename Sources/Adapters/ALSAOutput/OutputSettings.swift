package import Audio
package import Clock
package import Output

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
  /// True to take frames back on cards that can; false for drivers that only claim to.
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
