package import Clock

/// The facts that a room needs to take a stream's packets as datagrams. See docs/protocol/live.md.
package struct LiveStream: Hashable, Sendable {
  package static let keyByteCount = 32

  /// Time from the arrival of a frame at the sender to its sound; above zero.
  package var latency: Nanoseconds
  /// Sample rate of the decoded packets, in Hz. The room opens its sound device for it before the first of
  /// them.
  package var sampleRate: Int
  /// The sender's UDP port at which rooms ask for packets.
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

/// A room's report on the packets of a live stream since its last report.
package struct LiveReport: Hashable, Sendable {
  /// Packets that came in time, and those of them that it had asked for.
  package var received: UInt32
  package var recovered: UInt32
  /// Packets that were missing when they were needed.
  package var concealed: UInt32
  /// Margin of the latest packet: the time from its arrival until it was needed. Negative if it came too
  /// late.
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

/// A datagram by which a room asks for packets of a live stream, and says where to send all of them.
package struct LiveAsk: Hashable, Sendable {
  /// Number of packets, from `first` on, for which one datagram can ask.
  package static let span = 192
  /// Largest number of times that a packet is sent again to a room.
  package static let answers = 3

  package var clockID: UInt64
  /// The same as in `TimeRequest`.
  package var keyID: UInt32
  /// Counts up. An ask whose number is not higher than those before it gets no answer.
  package var sequence: UInt32
  package var first: UInt64
  /// One bit for each packet, the first one's highest; 24 bytes.
  package internal(set) var bits: [UInt8]

  /// Leaves out packets that are not within `span` from the first.
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

  /// Numbers of the missing packets, in order.
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
  /// Bytes that every network carries in one piece.
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
