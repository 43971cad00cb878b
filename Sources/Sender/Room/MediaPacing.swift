package import Clock

/// How fast the deep buffer of one room is filled: as fast as the way to it allows without a queue building up there. A
/// queue in a router delays everything, the other people's packets and our own questions for the time most of all.
///
/// The delay decides, as in RFC 6817 (LEDBAT): it grows as soon as a queue does, long before packets are lost.
///
/// Where that is slow, packets go in turns, with pauses between them. A radio keeps packets in order, so that each one holds
/// up what comes behind it; spread evenly, they would hold up every question for the time a little.
package struct MediaPacing: Sendable {
  /// How often to look.
  package static let interval = Nanoseconds.milliseconds(50)
  /// No limit: what no home network reaches.
  package static let fastest = 100e6
  /// A queue this long is one of ours, and a radio's own scatter is mostly shorter.
  private static let tolerated = Nanoseconds.milliseconds(8)
  private static let calm = Nanoseconds.milliseconds(4)
  /// A quarter off is a queue emptied within a second; a tenth on finds a free way again within two.
  private static let decrease = 0.75
  private static let increase = 1.1

  /// From the start of one turn to the next.
  package static let turnInterval = Nanoseconds.milliseconds(250)
  /// A turn lasts for this part of the interval. `run.py --scenario wifi-bad`, before and after: docs/adr/0011.
  private static let turnShare = 0.25
  package static let turnTime = Nanoseconds(Int64(Double(turnInterval.count) * turnShare))
  /// A room that has been sent this much more than it has played can wait for its turn.
  package static let patientLead = MediaDuration.seconds(5)

  /// Bytes a second, on average.
  package private(set) var rate = Self.fastest

  package init() {}

  /// `roundTrip` is the present one, `shortest` that of a way without queues, `deliveryRate` what has arrived of late in
  /// bytes a second, 0 if not known. `needed` bytes a second are what the music takes: twice that is never given up,
  /// so that the buffer still fills.
  package mutating func observed(
    roundTrip: Nanoseconds, shortest: Nanoseconds, deliveryRate: UInt64, needed: Double
  ) {
    let queue = roundTrip - shortest
    let least = min(max(2 * needed, 64e3), Self.fastest)
    if queue > Self.tolerated {
      let present = deliveryRate > 0 ? min(rate, Double(deliveryRate)) : rate
      rate = max(present * Self.decrease, least)
    } else if queue < Self.calm {
      rate = min(max(rate * Self.increase, least), Self.fastest)
    }
  }

  /// Bytes a second while packets are sent.
  package var sendingRate: Double { min(rate / Self.turnShare, Self.fastest) }

  /// What may be sent in one turn, in bytes; nil where the way is fast enough for all at once.
  package var turnBytes: Int? {
    rate < Self.fastest ? Int(rate * Self.turnInterval.seconds) : nil
  }
}
