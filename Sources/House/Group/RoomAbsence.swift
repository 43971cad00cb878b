package import Clock
package import Sender
import WireProtocol

/// Lets a group wait while no room can hear it: it is paused once what the rooms held when they went must have sounded,
/// and goes on when one is back. Of a pause that the user asked for it knows nothing.
package struct RoomAbsence {
  package enum Order: Hashable {
    case pause
    case resume
  }

  /// A room that goes and comes at once plays on meanwhile.
  private static let grace = Nanoseconds.seconds(10)

  /// Whatever a room says, in seconds.
  private static let longest = 3600.0

  /// The music that the rooms held when they were last there.
  private var held = Nanoseconds.zero
  /// When to pause; nil while a room is there.
  package private(set) var deadline: LocalTime?
  /// True if the group is paused by this.
  package private(set) var hasPaused = false

  /// - Parameter held: what rooms hold that no session was held with yet.
  package init(held: Nanoseconds = .zero) { self.held = held }

  /// The user has given an order of another kind.
  package mutating func userDecided() { (deadline, hasPaused) = (nil, false) }

  /// A room was lent to something else. Music that the other rooms do not hear waits at once: the room does not play on.
  ///
  /// - Parameter status: without that room.
  package mutating func lent(_ status: GroupStatus) -> Order? {
    let isHeard = status.rooms.contains { $0.status != nil }
    guard !isHeard, status.state == .playing || status.state == .buffering else { return nil }
    (held, deadline, hasPaused) = (.zero, nil, true)
    return .pause
  }

  /// Returns what to do now, if anything. The group plays, or is paused.
  package mutating func order(_ status: GroupStatus, at now: LocalTime) -> Order? {
    let held = status.rooms.compactMap { room -> Nanoseconds? in
      guard case .connected(let status) = room.connection else { return nil }
      let span = (status.bufferedUntil - status.playhead).seconds
      return Nanoseconds.seconds(Int64(min(span, Self.longest)))
    }
    if let most = held.max() {
      self.held = max(most, .zero)
      deadline = nil
      defer { hasPaused = false }
      return hasPaused && status.state == .paused ? .resume : nil
    }
    guard status.state == .playing || status.state == .buffering else {
      deadline = nil
      return nil
    }
    let time = deadline ?? now + max(self.held, Self.grace)
    deadline = time
    guard time <= now else { return nil }
    (deadline, hasPaused) = (nil, true)
    return .pause
  }
}
