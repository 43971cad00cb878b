/// The term of the daemon that leads a household of two: each take-over has a higher one. 0 stands for a sender that has no
/// second daemon. See docs/protocol/second-sender.md.
package typealias Term = UInt32

/// Asks a receiver which term of this sender it has heard: the only message of its connection.
package struct TermRequest: Hashable, Sendable {
  /// The newest term that the asking daemon knows, or the one that it claims.
  package var term: Term
  /// True if the receiver is to obey `term` from now on, unless it hears a daemon of a lower one.
  package var isClaim: Bool

  package init(term: Term, isClaim: Bool) { (self.term, self.isClaim) = (term, isClaim) }
}

/// The receiver's answer, after which it closes.
package struct TermReply: Hashable, Sendable {
  /// The highest term of this sender that it obeys; 0 if it has heard of none.
  package var term: Term
  /// True if it has a session of that term, and has heard its sender lately.
  package var isHeard: Bool

  package init(term: Term, isHeard: Bool) { (self.term, self.isHeard) = (term, isHeard) }
}

extension TermRequest {
  package init(decoding payload: ArraySlice<UInt8>) throws(DecodeError) {
    var reader = ByteReader(payload)
    term = try reader.uint32("term")
    isClaim = try reader.uint8("flags") & 1 != 0
  }

  /// Returns the message with its framing.
  package func encoded() -> [UInt8] {
    encodedTerm(MessageType.askTerm, term, isClaim)
  }
}

extension TermReply {
  /// Nil for a message of another type.
  package static func decode(_ message: RawMessage) throws(DecodeError) -> TermReply? {
    guard message.type == MessageType.term else { return nil }
    var reader = ByteReader(message.payload)
    let term = try reader.uint32("term")
    return TermReply(term: term, isHeard: try reader.uint8("flags") & 1 != 0)
  }

  /// Returns the message with its framing.
  package func encoded() -> [UInt8] { encodedTerm(MessageType.term, term, isHeard) }
}

private func encodedTerm(_ type: UInt16, _ term: Term, _ flag: Bool) -> [UInt8] {
  var bytes: [UInt8] = []
  ByteWriter.message(type, appendingTo: &bytes) { writer in
    writer.uint32(term)
    writer.uint8(flag ? 1 : 0)
  }
  return bytes
}
