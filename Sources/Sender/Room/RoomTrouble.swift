/// The reason why a room does not play for this sender, for surfaces that have words of their own. Holders are the
/// names that other senders give themselves.
package enum RoomTrouble: Hashable, Sendable {
  /// No address answers, or none is known.
  case unreachable
  /// It was connected, and the connection broke or the room's program ended.
  case gone
  /// Another sender plays there. This one asks again every few seconds.
  case busy(holder: String)
  /// Another sender has the room for good. This one does not ask again until the user wants it.
  case taken(holder: String)
  /// Another sender has the room for a while, after which it comes back by itself.
  case lent(holder: String)
  case notPaired
  /// It speaks no version of the protocol that this sender speaks.
  case otherVersion
  /// It breaks the protocol, or another receiver answers at its address.
  case misbehaving
  /// It gave another reason.
  case refused

  /// The sender that has the room; nil if none has it, or it did not say who it is.
  package var holder: String? {
    switch self {
    case .busy(let holder), .taken(let holder), .lent(let holder): holder.isEmpty ? nil : holder
    case .unreachable, .gone, .notPaired, .otherVersion, .misbehaving, .refused: nil
    }
  }
}

extension RoomTrouble {
  /// Returns one line for people about the sender that has the room; `own` is the name of this one.
  func sentence(own: String) -> String {
    let who = holder.map { $0 == own ? "another program of this machine" : $0 } ?? "another sender"
    return switch self {
    case .lent: "\(who) plays there for a while"
    case .taken: "\(who) has taken it over"
    case .busy, .unreachable, .gone, .notPaired, .otherVersion, .misbehaving, .refused:
      "busy: \(who) is playing there"
    }
  }
}
