package import Clock

/// Something that happens to groups of rooms, and when: a command, or a fault. The simulation draws them, a daemon records
/// them, and both write the same line for each: see docs/testing.md.
package struct Disturbance: Hashable, Sendable {
  /// More than a year, in seconds: no line says a later time or a longer span.
  package static let longest = 36_000_000.0

  /// Seconds since the beginning.
  package var at: Double
  package var kind: Kind
  /// The number of the group that a command is for, or that a room joins or leaves. What happens to rooms and senders
  /// happens to them in whatever group they are.
  package var group: Int

  package init(at: Double, kind: Kind, group: Int = 0) {
    (self.at, self.kind, self.group) = (at, kind, group)
  }

  package enum Kind: Hashable, Sendable {
    case command(Command)
    case join(Int)
    case leave(Int)
    case partition(Int, seconds: Double)
    case stall(Int, seconds: Double)
    case suspend(Int, seconds: Double)
    case clockStep(Int, seconds: Double)
    case unplug(Int, seconds: Double)
    case restart(Int, seconds: Double)
    case killSender
    /// Ends the sender, and starts it again.
    case restartSender(seconds: Double)
    /// A room's link carries so many bytes a second for that long.
    case slowLink(Int, rate: Double, seconds: Double)
    /// The sender's machine sleeps, with its clock.
    case suspendSender(seconds: Double)
    /// Another sender plays in the room, which gives itself back afterwards.
    case visit(Int, seconds: Double)
    /// The room knows no sender, as if somebody had taken its pairings away, and trusts them again afterwards.
    case distrust(Int, seconds: Double)
    /// One of a household's two daemons.
    case daemon(Int, DaemonFault, seconds: Double)

    /// True for what the lines name a group for.
    package var concernsGroup: Bool {
      switch self {
      case .command, .join, .leave: true
      case .partition, .stall, .suspend, .clockStep, .unplug, .restart, .killSender,
        .restartSender, .slowLink, .suspendSender, .visit, .distrust, .daemon:
        false
      }
    }

    /// The room that it happens to; nil if it is not about one.
    package var room: Int? {
      switch self {
      case .join(let room), .leave(let room), .partition(let room, _), .stall(let room, _),
        .suspend(let room, _), .clockStep(let room, _), .unplug(let room, _),
        .restart(let room, _), .slowLink(let room, _, _), .visit(let room, _),
        .distrust(let room, _):
        room
      case .command, .killSender, .restartSender, .suspendSender, .daemon: nil
      }
    }
  }

  /// Commands that decide what sounds, and when.
  package enum Command: Hashable, Sendable {
    case pause
    case resume
    case seek(to: MediaDuration)
    case seekBy(MediaDuration)
    case next
    case previous
    /// Goes to another item of the list.
    case another
    /// Ends the sound until an item is chosen.
    case halt
  }

  package enum DaemonFault: Hashable, Sendable {
    case killed
    /// Its machine has no power.
    case unplugged
    /// It has no network.
    case cutOff
    /// It cannot reach these rooms, and maybe not the other daemon.
    case split(from: Set<Int>, alone: Bool)
  }
}
