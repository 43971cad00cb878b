package import Audio
package import Clock
import WireProtocol

/// Packets of the usual encoding, of which small ones are to be made for rooms with weak links.
package struct SmallOrder: Hashable, Sendable {
  /// Rises whenever making begins anew. What was made for an earlier attempt is dropped.
  package var attempt: UInt64
  /// Where the small packets begin.
  package var start: MediaTime
  /// In order. Those that end before `start` only prepare.
  package var pieces: [Piece]
  /// True if there are small packets already behind the last piece.
  package var endsRun = false

  /// A packet of the usual encoding.
  package struct Piece: Hashable, Sendable {
    /// The whole message.
    package var bytes: [UInt8]
    package var format: StreamFormat
    /// Up to where it is heard.
    package var end: MediaTime
  }
}

/// The small packets that were made for one order.
package struct SmallBatch: Hashable, Sendable {
  package var attempt: UInt64
  package var packets: [Packet] = []
  /// True if more comes of the packets that were ordered, once others follow them.
  package var isUnderWay = false

  package init(attempt: UInt64, packets: [Packet] = [], isUnderWay: Bool = false) {
    (self.attempt, self.packets, self.isUnderWay) = (attempt, packets, isUnderWay)
  }

  package struct Packet: Hashable, Sendable {
    package var produced: ProducedPacket
    package var format: StreamFormat
  }
}
