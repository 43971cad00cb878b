package import Clock

/// What a room must know to take a stream's packets as datagrams. See docs/protocol/live.md.
package struct LiveStream: Hashable, Sendable {
  package static let keyByteCount = 32

  /// From the arrival of a frame at the sender to its sound; more than none.
  package var latency: Nanoseconds
  /// Of what the packets decode to, in Hz: the room opens its sound device for it before the first of them.
  package var sampleRate: Int
  /// The sender's UDP port that is asked for packets.
  package var port: UInt16
  /// 32 bytes, the same for all rooms.
  package var key: [UInt8]

  package init(latency: Nanoseconds, sampleRate: Int, port: UInt16, key: [UInt8]) {
    self.latency = latency
    self.sampleRate = sampleRate
    self.port = port
    self.key = key
  }
}

/// How a room has got the packets of a live stream since it said so last.
package struct LiveReport: Hashable, Sendable {
  /// Packets that came in time, and those of them that it had asked for.
  package var received: UInt32
  package var recovered: UInt32
  /// Packets that were missing when they were needed.
  package var concealed: UInt32
  /// How long before it was needed the latest packet came; negative where that was too late.
  package var leastMargin: Nanoseconds

  package init(
    received: UInt32 = 0, recovered: UInt32 = 0, concealed: UInt32 = 0, leastMargin: Nanoseconds
  ) {
    self.received = received
    self.recovered = recovered
    self.concealed = concealed
    self.leastMargin = leastMargin
  }
}

/// A datagram by which a room asks for packets of a live stream, and says where it wants all of them.
package struct LiveAsk: Hashable, Sendable {
  /// Packets that one can ask for: from `first` on, so many.
  package static let span = 192
  /// How often a packet is sent again to a room at most.
  package static let answers = 3

  package var clockID: UInt64
  /// As in `TimeRequest`.
  package var keyID: UInt32
  /// Counts up: one that is not higher than those before it is not answered.
  package var sequence: UInt32
  package var first: UInt64
  /// One bit for each packet, the first one's highest; 24 bytes.
  package internal(set) var bits: [UInt8]

  /// Packets that are not within `span` from the first are left out.
  package init(clockID: UInt64, keyID: UInt32, sequence: UInt32, missing: [UInt64] = []) {
    self.clockID = clockID
    self.keyID = keyID
    self.sequence = sequence
    first = min(missing.first ?? 0, ProtocolLimits.count.upperBound)
    bits = [UInt8](repeating: 0, count: Self.span / 8)
    for number in missing where number >= first && number - first < UInt64(Self.span) {
      let place = Int(number - first)
      bits[place / 8] |= 0x80 >> UInt8(place % 8)
    }
  }

  /// Their numbers, in order.
  package var missing: [UInt64] {
    var numbers: [UInt64] = []
    for place in 0..<Self.span {
      let bit: UInt8 = 0x80 >> UInt8(place % 8)
      if bits[place / 8] & bit != 0 { numbers.append(first + UInt64(place)) }
    }
    return numbers
  }
}

/// A datagram with one packet of a live stream, and perhaps earlier ones; sealed once for all rooms.
package struct LiveDatagram: Hashable, Sendable {
  /// What every network carries in one piece.
  package static let byteLimit = 1_200
  package static let headerByteCount = 24
  package static let tagByteCount = 16
  /// Bytes of one packet's payload that fit, with everything around it.
  package static let payloadLimit = 1_064

  package var clockID: UInt64
  /// The sequence number of the packet.
  package var number: UInt64
  /// Media messages, as on the media connection, and a tag.
  package var sealed: [UInt8]

  package init(clockID: UInt64, number: UInt64, sealed: [UInt8]) {
    self.clockID = clockID
    self.number = number
    self.sealed = sealed
  }
}
