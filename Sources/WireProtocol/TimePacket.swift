package import Clock

/// One datagram of the time exchange; requests and answers have one size. See docs/protocol/time-exchange.md.
package enum TimePacket: Hashable, Sendable {
  /// From a receiver.
  case request(TimeRequest)
  /// From the sender.
  case answer(TimeAnswer)
}

package struct TimeRequest: Hashable, Sendable {
  package var clockID: UInt64
  /// Names the key of the tag: the low half of the session's number.
  package var keyID: UInt32
  package var sequence: UInt32
  /// The time at which the receiver sent this, by its own clock; the answer brings it back.
  package var sentAt: LocalTime

  package init(clockID: UInt64, keyID: UInt32, sequence: UInt32, sentAt: LocalTime) {
    self.clockID = clockID
    self.keyID = keyID
    self.sequence = sequence
    self.sentAt = sentAt
  }

  package static func keyID(ofSession session: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: session)
  }
}

package struct TimeAnswer: Hashable, Sendable {
  package var clockID: UInt64
  package var sequence: UInt32
  /// The same as in the request.
  package var requestSentAt: LocalTime
  /// The time at which the request arrived, by the kernel's stamp if there is one.
  package var receivedAt: GroupTime
  /// The time at which this answer was handed to the kernel.
  package var sentAt: GroupTime
  /// The kernel's transmit stamp of the answer before this one to the same receiver, and that answer's number.
  package var previous: TransmitStamp?

  package struct TransmitStamp: Hashable, Sendable {
    package var sequence: UInt32
    package var sentAt: GroupTime

    package init(sequence: UInt32, sentAt: GroupTime) {
      self.sequence = sequence
      self.sentAt = sentAt
    }
  }

  package init(
    clockID: UInt64, sequence: UInt32, requestSentAt: LocalTime, receivedAt: GroupTime,
    sentAt: GroupTime, previous: TransmitStamp?
  ) {
    self.clockID = clockID
    self.sequence = sequence
    self.requestSentAt = requestSentAt
    self.receivedAt = receivedAt
    self.sentAt = sentAt
    self.previous = previous
  }
}
