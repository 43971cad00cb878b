/// How much an event matters, for a program's log: `for await event in player.events where event.level >= .notice`.
///
/// There are no events for single packets. The receivers' programs have logs of their own.
public enum EventLevel: Int, Hashable, Comparable, Sendable, CaseIterable {
  /// Steps of rooms, and edits that the program made itself.
  case debug
  /// Things that happen as they should: an item begins, a room is connected.
  case info
  /// Things that a listener may hear, and that mend themselves: a source that is late, a room that is gone.
  case notice
  /// A listener misses something until somebody helps: an item that cannot be played, a room that refuses.
  case warning
  /// It plays no further.
  case error

  public static func < (a: EventLevel, b: EventLevel) -> Bool { a.rawValue < b.rawValue }
}

extension PlayerEvent {
  /// How much it matters.
  public var level: EventLevel {
    switch self {
    case .playlistChanged, .itemDescribed: .debug
    case .started, .paused, .resumed, .itemStarted, .itemEnded, .stopped, .buffered: .info
    case .buffering, .sourceNotice: .notice
    case .itemFailed: .warning
    case .room(let event): event.level
    }
  }
}

extension AudioRendererEvent {
  /// How much it matters.
  public var level: EventLevel {
    switch self {
    case .started, .ended: .info
    case .late: .notice
    case .failed: .error
    case .room(let event): event.level
    }
  }
}

extension RoomEvent {
  /// How much it matters.
  public var level: EventLevel {
    switch change {
    case .changed(.noDevice, _), .refused, .replaced: .warning
    case .changed(.starved, _), .gone, .unreachable, .flushedAutomatically: .notice
    case .changed: .debug
    case .connected, .namedTwice: .info
    }
  }
}
