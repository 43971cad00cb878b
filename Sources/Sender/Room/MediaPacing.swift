package import Clock

/// Decides how fast to fill the deep buffer of one room: as fast as its network path allows without a queue. A queue in
/// a router delays everything: most of all the packets of others, and our own time requests.
///
/// It watches the delay, as RFC 6817 (LEDBAT) does, because the delay grows as soon as a queue does, long before
/// packets are lost.
///
/// On a slow path, packets go in turns, with pauses between them. A radio keeps packets in order, so that each one
/// holds up those behind it. Packets spread evenly would delay every time request a little.
package struct MediaPacing: Sendable {
  /// Interval at which the driver looks at the path.
  package static let interval = Nanoseconds.milliseconds(50)
  /// Bytes per second that mean no limit: no home network reaches them.
  package static let fastest = 100e6
  /// A longer queue is made by our own packets; a radio's own jitter is mostly shorter.
  private static let tolerated = Nanoseconds.milliseconds(8)
  /// With a shorter queue the path has room for more. Between both, the rate stays.
  private static let calm = Nanoseconds.milliseconds(4)
  /// The lowest rate: twice what the smallest encoding takes.
  private static let slowest = 2 * SmallEncoding.byteRate
  /// Taking off a quarter empties a queue within a second; adding a tenth finds a free path again within two.
  private static let decrease = 0.75
  private static let increase = 1.1

  /// Time from the start of one turn to the next.
  package static let turnInterval = Nanoseconds.milliseconds(250)
  /// The part of the interval that a turn lasts. Measured with `run.py --scenario wifi-bad`: docs/adr/0011.
  private static let turnShare = 0.25
  package static let turnTime = Nanoseconds(Int64(Double(turnInterval.count) * turnShare))
  /// A room that was sent this much more than it has played can wait for its turn.
  package static let turnLead = MediaDuration.seconds(5)

  /// Bytes per second, on average.
  package private(set) var rate = Self.fastest

  package init() {}

  /// Adapts the rate. `roundTrip` is the present one, `shortest` that of a path without queues. `deliveryRate` is what
  /// arrived lately in bytes per second, 0 if not known. The music takes `needed` bytes per second as this room
  /// gets it; the rate never falls below twice that, so that the buffer still fills.
  package mutating func observed(
    roundTrip: Nanoseconds, shortest: Nanoseconds, deliveryRate: UInt64, needed: Double
  ) {
    let queue = roundTrip - shortest
    let least = min(max(2 * needed, Self.slowest), Self.fastest)
    if queue > Self.tolerated {
      let present = deliveryRate > 0 ? min(rate, Double(deliveryRate)) : rate
      rate = max(present * Self.decrease, least)
    } else if queue < Self.calm {
      rate = min(max(rate * Self.increase, least), Self.fastest)
    }
  }

  /// Bytes per second while packets are sent.
  package var sendingRate: Double { min(rate / Self.turnShare, Self.fastest) }

  /// Bytes to send in one turn; nil if the path is fast enough for everything at once.
  package var turnBytes: Int? {
    rate < Self.fastest ? Int(rate * Self.turnInterval.seconds) : nil
  }
}
