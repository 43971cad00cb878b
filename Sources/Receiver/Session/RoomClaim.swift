import WireProtocol

/// Decides which senders may play in a receiver.
package enum AccessPolicy: String, CaseIterable, Sendable {
  /// Senders that are paired with it, and those of its own user on this machine.
  case paired
  /// Everybody on the network.
  case open
}

/// The receiver's answer to a sender that wants a busy room without asking to take it over.
package enum BusyPolicy: String, CaseIterable, Sendable {
  case refuse
  case takeOver = "take-over"
  /// The sender with the higher priority gets the room, and gives it back to the other.
  case priority
}

/// The sender that has the room, or for which it is reserved.
struct RoomOwner {
  let senderID: Identifier
  let senderName: String
  let priority: UInt8

  init(_ hello: Hello) {
    (senderID, senderName, priority) = (hello.senderID, hello.senderName, hello.priority)
  }
}

/// The effect of a `hello` on the room's owner.
enum RoomClaim: Hashable {
  /// The owner stays.
  case refused
  case granted
  /// Granted for a while: the owner is told to come back.
  case lent

  init(_ hello: Hello, to owner: RoomOwner?, by policy: BusyPolicy) {
    guard let owner, owner.senderID != hello.senderID else {
      // A short visit, such as for a setting, gives the room back to the other program of its sender.
      self = owner != nil && hello.givesBack ? .lent : .granted
      return
    }
    let outranks = policy == .priority && hello.priority > owner.priority
    let isTaken = hello.takesOver || policy == .takeOver
    guard isTaken || outranks else {
      self = .refused
      return
    }
    self = hello.givesBack || !isTaken ? .lent : .granted
  }
}
