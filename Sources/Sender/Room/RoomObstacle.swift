package import WireProtocol

/// Why a room does not play, for surfaces that have words of their own.
package struct RoomObstacle: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// Nobody answers, or the connection broke.
    case unreachable
    /// It plays for another sender.
    case busy
    /// Another sender has taken it over for good.
    case taken
    /// Another sender has it for a while; it comes back by itself.
    case lent
    case notPaired
    /// It speaks another version of the protocol.
    case version
    /// One of the two did not understand the other.
    case `protocol`
    /// For a reason of its own.
    case refused
  }

  package var kind: Kind
  /// Who plays there instead, where the room has said so.
  package var sender: String?

  package init(_ kind: Kind, sender: String? = nil) { (self.kind, self.sender) = (kind, sender) }

  /// A room that was lent says so only once: asked again, it is busy.
  package init(_ refusal: Refusal, after last: RoomObstacle?) {
    switch refusal.reason {
    case .busy:
      kind = last?.kind == .lent ? .lent : .busy
      sender = refusal.detail.isEmpty ? nil : refusal.detail
    case .unsupportedVersion: kind = .version
    case .protocolViolation: kind = .protocol
    case .notPaired: kind = .notPaired
    case .other: kind = .refused
    }
  }
}
