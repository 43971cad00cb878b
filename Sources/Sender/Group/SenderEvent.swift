package import Audio
package import Clock
package import WireProtocol

/// An event that people may want to read.
package enum SenderEvent: Hashable, Sendable {
  case room(Room, RoomChange)
  case started
  case paused
  case resumed
  /// All rooms stand still: the source delivers later than it is to sound. They go on by themselves, from the same frame.
  case buffering(Buffering)
  /// They go on, after this long a silence.
  case buffered(after: Nanoseconds)
  /// The item's first frame sounds now: it is the current one from here on.
  case itemStarted(OpenedItem)
  /// The current item says something else of itself from here on, as a radio station does.
  case itemDescribed(OpenedItem)
  /// The item's last frame has sounded. Not said of an item that was skipped or stopped.
  case itemEnded(PlayItem)
  /// The item cannot be played, or, if a part of it was heard, not any further.
  case itemFailed(PlayItem, MediaError)
  case playlistChanged
  /// Where the current item is; only where `observePosition` has asked for it.
  case position(PlayItem, MediaDuration)
  /// The list has come to its end, and the group waits for more.
  case stopped
  /// Everything has sounded, or playing was stopped.
  case finished

  package struct Room: Hashable, Sendable {
    package var id: RoomID
    /// The name for people; the address until the room has sent its name.
    package var name: String

    package init(id: RoomID, name: String) { (self.id, self.name) = (id, name) }
  }

  package enum RoomChange: Hashable, Sendable {
    case connected
    /// The room is gone and is tried again. So it is after the next three; each is sent once for each new reason.
    case gone(reason: String)
    case unreachable(reason: String)
    case refused(reason: String)
    /// Its user must pair this machine with the room first, as the advice says.
    case notPaired(advice: String)
    /// Another sender has the room now; it is not tried again.
    case replaced(reason: String)
    /// Another name or address led to this room as well. It plays once, and that one is a room no more.
    case namedTwice(as: RoomID)
    case state(RoomStatus.State, detail: String)
    /// The room has lost buffered audio, and gets it again.
    case flushed
    /// The room does not decode this codec of the enqueued audio, which is encoded anew for all rooms.
    case recoded(from: Codec)
    /// The link to the room carries less than the music takes, so it gets a small encoding in this codec.
    case weak(getting: Codec)
    /// The room gets what the others get again.
    case recovered
    /// The live source has this latency from now on, in all rooms, because of this one.
    case choseLatency(Nanoseconds)
  }
}

extension SenderEvent.RoomChange {
  /// The reason why a room is gone that said nothing for as long as `ProtocolLimits.silence`.
  static let silence = "nothing heard for 10 s"

  /// True if the room is gone because nothing was heard of it, and not because it ended its connections.
  package var isSilence: Bool { self == .gone(reason: Self.silence) }
}
