internal import Sender

/// What happens to a room. `description` is one line for people, with the room's name.
public struct RoomEvent: Hashable, Sendable, CustomStringConvertible {
  public enum Change: Hashable, Sendable {
    case connected
    /// It was connected, and is gone; it is tried again.
    case gone(reason: String)
    /// Said once for each new reason, while it is tried again.
    case unreachable(reason: String)
    case refused(reason: String)
    case changed(RoomStatus.State, detail: String)
    /// It has lost audio that it held, and gets it again by itself: nothing needs to be enqueued again.
    case flushedAutomatically
  }

  public let id: Room.ID
  /// As people call it; its address until it has said its name.
  public let name: String
  public let change: Change

  public var description: String {
    switch change {
    case .connected: "\(name): connected"
    case .gone(let reason), .unreachable(let reason), .refused(let reason): "\(name): \(reason)"
    case .changed(let state, let detail):
      detail.isEmpty ? "\(name): \(state)" : "\(name): \(state), \(detail)"
    case .flushedAutomatically: "\(name): lost audio that it held, and gets it again"
    }
  }

  /// Whether a later event makes this one obsolete for those who come after it.
  func isOutdated(by later: RoomEvent) -> Bool {
    guard id == later.id else { return false }
    switch (change, later.change) {
    case (.changed, .changed), (.changed, .gone), (.flushedAutomatically, _): return true
    case (.changed, _): return false
    case (_, .connected), (_, .gone), (_, .unreachable), (_, .refused): return true
    case (_, .changed), (_, .flushedAutomatically): return false
    }
  }
}

extension RoomEvent {
  /// Nil for what does not happen to a room.
  init?(_ event: SenderEvent, name: (RoomID) -> (id: Room.ID, name: String)) {
    let room: RoomID
    switch event {
    case .roomConnected(let id): (room, change) = (id, .connected)
    case .roomGone(let id, let reason): (room, change) = (id, .gone(reason: reason))
    case .roomUnreachable(let id, let reason): (room, change) = (id, .unreachable(reason: reason))
    case .roomRefused(let id, let reason): (room, change) = (id, .refused(reason: reason))
    case .roomState(let id, let state, let detail):
      (room, change) = (id, .changed(.init(state), detail: detail))
    case .roomFlushed(let id): (room, change) = (id, .flushedAutomatically)
    default: return nil
    }
    (id, self.name) = name(room)
  }
}
