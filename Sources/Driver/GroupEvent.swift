package import Audio
package import Clock
package import FFmpegSource
package import Sender
package import WireProtocol

/// Something that has happened to a group, as everybody outside is told: terminals, programs, the library.
package struct GroupEvent: Hashable, Sendable {
  /// Grows by one with each event of the group, so that who has missed some can tell. Those that only show how things
  /// are (`position`, `status`, `waiting`) have the revision that they show; 0 is that of `leftOut`, which tells of no group.
  package var revision: UInt64
  package var change: Change

  package init(revision: UInt64, _ change: Change) {
    self.revision = revision
    self.change = change
  }

  package enum Change: Hashable, Sendable {
    case room(Room, RoomChange)
    case started
    case paused
    case resumed
    /// All rooms stand still: the source delivers later than it is to sound.
    case buffering(Buffering)
    /// They go on, after this long a silence.
    case buffered(after: Nanoseconds)
    /// Its first frame sounds now.
    case itemStarted(Item)
    /// It says something else of itself from here on, as a radio station does.
    case itemDescribed(Item)
    /// Its last frame has sounded. Not said of an item that was skipped or stopped.
    case itemEnded(PlayItem)
    /// It cannot be played, or not any further where a part of it was heard.
    case itemFailed(PlayItem, reason: String, hasSounded: Bool)
    case playlistChanged
    case position(PlayItem, MediaDuration)
    /// The list is at its end, and the group waits for more.
    case stopped
    /// Everything has sounded, or playing was stopped.
    case finished
    /// A source on the network waits, or goes on.
    case source(SourceNotice)
    case status(StatusReport)
    /// What keeps the music from beginning.
    case waiting(reason: String)
    /// Nobody has read so many events in time, of which some were positions and the like.
    case leftOut(events: Int, positions: Int)
  }

  package struct Room: Hashable, Sendable {
    package var id: RoomID
    /// As people call it; its address until it has said its name.
    package var name: String
  }

  package enum RoomChange: Hashable, Sendable {
    case connected
    /// It is tried again, as after the next two, each of which is said once for each new reason.
    case gone(reason: String)
    case unreachable(reason: String)
    case refused(reason: String)
    /// The user must pair this machine with it first; the advice says how.
    case notPaired(advice: String)
    /// Another sender has the room now, and it is not tried again.
    case replaced(reason: String)
    /// Another name or address led to this room as well; it plays once.
    case namedTwice
    case state(RoomStatus.State, detail: String)
    /// It has lost audio that it held, and gets it again.
    case flushed
    /// It does not decode this codec of what is enqueued, which is encoded anew for all rooms.
    case recoded(from: Codec)
    /// What is heard as it happens has this latency from now on, in all rooms, because of this one.
    case choseLatency(Nanoseconds)
  }

  /// What people may want to know of an item that sounds.
  package struct Item: Hashable, Sendable {
    package var item: PlayItem
    package var title: String?
    package var artist: String?
    package var album: String?
    /// Nil where it is not known.
    package var duration: MediaDuration?
    package var isSeekable = true
    /// On the wire, and why in this one.
    package var codec: Codec?
    package var codecReason: String?
  }
}

extension GroupEvent.Change {
  /// Whether the next one of its kind makes it worthless: who reads late need not have it.
  package var isPassing: Bool {
    switch self {
    case .position, .status: true
    default: false
    }
  }

  /// The only translation of what the session says.
  init(_ event: SenderEvent, name: (RoomID) -> String?) {
    func room(_ id: RoomID, _ change: GroupEvent.RoomChange) -> Self {
      .room(.init(id: id, name: name(id) ?? "room \(id.number)"), change)
    }
    self =
      switch event {
      case .roomConnected(let id): room(id, .connected)
      case .roomGone(let id, let reason): room(id, .gone(reason: reason))
      case .roomUnreachable(let id, let reason): room(id, .unreachable(reason: reason))
      case .roomRefused(let id, let reason): room(id, .refused(reason: reason))
      case .roomNotPaired(let id, let advice): room(id, .notPaired(advice: advice))
      case .roomReplaced(let id, let reason): room(id, .replaced(reason: reason))
      case .roomIsTwin(_, let id): room(id, .namedTwice)
      case .roomState(let id, let state, let detail): room(id, .state(state, detail: detail))
      case .roomFlushed(let id): room(id, .flushed)
      case .recoded(let id, let codec): room(id, .recoded(from: codec))
      case .latencyChosen(let latency, let id): room(id, .choseLatency(latency))
      case .started: .started
      case .paused: .paused
      case .resumed: .resumed
      case .buffering(let buffering): .buffering(buffering)
      case .buffered(let silence): .buffered(after: silence)
      case .itemStarted(let opened): .itemStarted(.init(opened))
      case .itemDescribed(let opened): .itemDescribed(.init(opened))
      case .itemEnded(let item): .itemEnded(item)
      case .itemFailed(let item, let error):
        .itemFailed(item, reason: error.description, hasSounded: error.hasSounded)
      case .playlistChanged: .playlistChanged
      case .position(let item, let position): .position(item, position)
      case .stopped: .stopped
      case .finished: .finished
      }
  }
}

extension GroupEvent.Item {
  package init(_ opened: OpenedItem) {
    let metadata = opened.metadata
    self.init(
      item: opened.item, title: metadata.title, artist: metadata.artist, album: metadata.album,
      duration: opened.duration, isSeekable: opened.isSeekable, codec: opened.wire?.codec,
      codecReason: opened.wire?.description)
  }
}
