internal import Sender

/// An event of a room. `description` is one line for people, with the room's name.
public struct RoomEvent: Hashable, Sendable, CustomStringConvertible {
  public enum Change: Hashable, Sendable {
    case connected
    /// The room was connected, and is gone; it is tried again.
    case gone(reason: String)
    /// Sent once for each new reason, while the room is tried again.
    case unreachable(reason: String)
    case refused(reason: String)
    /// Another sender has taken the room over, or somebody has silenced it. It is not tried again; remove the room and
    /// add it to play there again.
    case replaced(reason: String)
    /// Another room that was added is the same receiver under another address: that one has been removed, and this one
    /// plays on.
    case namedTwice
    case changed(RoomStatus.State, detail: String)
    /// The room has lost buffered audio, and gets it again by itself: nothing needs to be enqueued again.
    case flushedAutomatically
  }

  public let id: Room.ID
  /// The name for people; the room's address until it has sent its name.
  public let name: String
  public let change: Change

  public var description: String {
    switch change {
    case .connected: "\(name): connected"
    case .gone(let reason), .unreachable(let reason), .refused(let reason), .replaced(let reason):
      "\(name): \(reason)"
    case .namedTwice: "\(name): named twice, and plays once"
    case .changed(let state, let detail):
      detail.isEmpty ? "\(name): \(state)" : "\(name): \(state), \(detail)"
    case .flushedAutomatically: "\(name): lost audio that it held, and gets it again"
    }
  }

  /// True if a later event makes this one obsolete for new listeners.
  func isOutdated(by later: RoomEvent) -> Bool {
    guard id == later.id else { return false }
    switch (change, later.change) {
    case (.flushedAutomatically, _), (.namedTwice, _): return true
    case (_, .flushedAutomatically), (_, .namedTwice): return false
    case (.changed, .changed), (.changed, .gone), (.changed, .replaced): return true
    case (.changed, _): return false
    case (_, .connected), (_, .gone), (_, .unreachable), (_, .refused), (_, .replaced): return true
    case (_, .changed): return false
    }
  }
}

extension RoomEvent {
  /// Returns nil for changes that do not concern the program.
  init?(_ room: SenderEvent.Room, _ change: SenderEvent.RoomChange, id: (RoomID) -> Room.ID) {
    switch change {
    case .connected: self.change = .connected
    case .gone(let reason): self.change = .gone(reason: reason)
    case .unreachable(let reason): self.change = .unreachable(reason: reason)
    case .refused(let reason), .notPaired(let reason): self.change = .refused(reason: reason)
    case .state(let state, let detail): self.change = .changed(.init(state), detail: detail)
    case .flushed: self.change = .flushedAutomatically
    case .replaced(let reason): self.change = .replaced(reason: reason)
    case .namedTwice: self.change = .namedTwice
    case .recoded, .weak, .recovered, .choseLatency: return nil
    }
    (self.id, name) = (id(room.id), room.name)
  }
}
