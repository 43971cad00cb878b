/// Why a room does not play for this sender, for surfaces that have words of their own. Holders are the names of other
/// senders, as they call themselves.
package enum RoomTrouble: Hashable, Sendable {
  /// Nothing answers at its addresses, or nobody knows one.
  case unreachable
  /// It was connected, and the connection broke or the room's program ended.
  case gone
  /// Another sender plays there. It is asked again every few seconds.
  case busy(holder: String)
  /// Another sender has the room for good: it is not asked again before the user wants it.
  case taken(holder: String)
  /// Another sender has the room for a while, and it comes back by itself.
  case lent(holder: String)
  case notPaired
  /// It speaks no version of the protocol that this sender does.
  case otherVersion
  /// It does not keep to the protocol, or another receiver answers at its address.
  case misbehaving
  /// It gave another reason.
  case refused

  /// The sender that has the room; nil where none has it, or it did not say who it is.
  package var holder: String? {
    switch self {
    case .busy(let holder), .taken(let holder), .lent(let holder): holder.isEmpty ? nil : holder
    default: nil
    }
  }
}

extension RoomTrouble {
  /// One line for people about the sender that has the room; `own` is the name of this one.
  func sentence(own: String) -> String {
    let who = holder.map { $0 == own ? "another program of this machine" : $0 } ?? "another sender"
    return switch self {
    case .lent: "\(who) plays there for a while"
    case .taken: "\(who) has taken it over"
    default: "busy: \(who) is playing there"
    }
  }
}
