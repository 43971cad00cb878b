package import Clock

/// How far ahead of its sound a group works, in one place: what is gained against stalls and outages is lost on the way
/// from a source to the ear. A sender and its rooms have the same one.
package struct LatencyProfile: Hashable, Sendable {
  /// How long the first room that is ready waits for the others at a start.
  package var startGrace: Nanoseconds
  /// How long audio is kept behind the playhead, for rooms and devices that come back.
  package var keepAfter: MediaDuration
  /// How much earlier than needed decoding begins, so that codecs with memory have settled.
  package var preroll: MediaDuration
  /// How far decoding runs ahead of what sounds: what is written ahead to the card, and more for a machine that stalls.
  package var decodeAhead: MediaDuration
  /// Decoded audio that makes a room ready for a start.
  package var startThreshold: MediaDuration
  /// Length of the ring of decoded frames: more than is decoded ahead, and what may be rendered again.
  package var frameRing: MediaDuration
  /// Written ahead to a card where it can be taken back: machines that many share stall for up to half a second.
  package var rewindableLead: Nanoseconds
  /// The same where it cannot: both what a stalled machine may eat up unheard and what a cut cannot silence. The silence
  /// that a card is started with is as long.
  package var fixedLead: Nanoseconds
  /// The commit horizon that is reckoned with while no device is open.
  package var expectedHorizon: Nanoseconds
  /// How often a card interrupts.
  package var period = Nanoseconds.milliseconds(10)
  /// Written ahead where there is no card. All of it can be rendered again until it is heard, so a deep lead costs
  /// nothing but that work when frames come that were missing. Of a live stream they always come late: little is written
  /// ahead, or all of it would be rendered over and over. From two of `pacedPeriod` to a second.
  package var pacedLead: Nanoseconds
  /// From the arrival of a frame at the sender to its sound; nil where it sounds when all are ready for it.
  package var latency: Nanoseconds?

  /// How often an output without a card looks at the time. Shorter than `live.pacedLead`, so that it never runs dry.
  package static let pacedPeriod = Nanoseconds.milliseconds(10)
  /// How long before it is heard a frame must be there for an output without a card: its thread looks a period earlier,
  /// and may wake half a period late on a busy machine.
  package static let pacedWrittenAhead = Nanoseconds(pacedPeriod.count * 3 / 2)
  /// Channels that every room is rendered in, interleaved. Outputs make the card's own number of them.
  package static let renderedChannels = 2

  /// Length of the ring of a clip's decoded frames: what may be rendered again, and as much ahead.
  package static let clipRing = MediaDuration.milliseconds(1500)

  /// Minutes of music, which outages of minutes do not reach.
  package static let deep = LatencyProfile(
    startGrace: .seconds(2), keepAfter: .milliseconds(500), preroll: .milliseconds(100),
    decodeAhead: .milliseconds(1500), startThreshold: .milliseconds(100), frameRing: .seconds(3),
    rewindableLead: .milliseconds(500), fixedLead: .milliseconds(80),
    expectedHorizon: .milliseconds(40), pacedLead: .milliseconds(150))

  /// Sources that are heard as they happen.
  package static let live = LatencyProfile(
    startGrace: .milliseconds(200), keepAfter: .milliseconds(100), preroll: .milliseconds(40),
    decodeAhead: .milliseconds(120), startThreshold: .milliseconds(40),
    frameRing: .milliseconds(300), rewindableLead: .milliseconds(40), fixedLead: .milliseconds(40),
    expectedHorizon: .milliseconds(40), pacedLead: .milliseconds(20))

  /// Each frame sounds `latency` after it has arrived at the sender, in all rooms: cards are written ahead no more than
  /// three short periods, for what comes through the network has to fit in as well. Wi-Fi holds packets for up to 80 ms:
  /// from 150 ms on that fits beside longer periods, which cost the processor less.
  package static func live(latency: Nanoseconds) -> LatencyProfile {
    var profile = live
    profile.latency = latency
    profile.period = latency < .milliseconds(150) ? .microseconds(2_500) : .milliseconds(5)
    profile.fixedLead = Nanoseconds(3 * profile.period.count)
    profile.rewindableLead = profile.fixedLead
    profile.expectedHorizon = profile.fixedLead
    return profile
  }
}

extension MediaDuration {
  /// Frames that it takes at a sample rate, rounded down.
  package func frames(at sampleRate: Int) -> Int {
    Int(flicks / MediaDuration(frames: 1, at: sampleRate).flicks)
  }
}
