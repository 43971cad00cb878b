package import Audio
package import Clock
package import FFmpegSource
package import Sender
package import WireProtocol

/// An event of a group, as reported to everything outside: terminals, programs, the library.
package struct GroupEvent: Hashable, Sendable {
  /// Grows by one with each event of the group, so that a reader can tell if it missed some. `position`, `status` and
  /// `waiting`, which only show the present state, have the revision of that state. `leftOut` has 0, because it belongs
  /// to no group.
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
    /// All rooms stand still, because the source delivers too late.
    case buffering(Buffering)
    /// The rooms continue, after a silence of this length.
    case buffered(after: Nanoseconds)
    /// The item's first frame sounds now.
    case itemStarted(Item)
    /// The item has new metadata from here on, as a radio station sends.
    case itemDescribed(Item)
    /// The item's last frame has sounded. Not sent for an item that was skipped or stopped.
    case itemEnded(PlayItem)
    /// The item cannot be played, or, if a part of it was heard, not any further.
    case itemFailed(PlayItem, reason: String, hasSounded: Bool)
    case playlistChanged
    case position(PlayItem, MediaDuration)
    /// The list is at its end, and the group waits for more.
    case stopped
    /// Everything has sounded, or playback was stopped.
    case finished
    /// A source on the network waits, or continues.
    case source(SourceNotice)
    case status(StatusReport)
    /// The music cannot start yet, for this reason.
    case waiting(reason: String)
    /// The reader was too slow for this many events, of which some were positions and the like.
    case leftOut(events: Int, positions: Int)
  }

  package struct Room: Hashable, Sendable {
    package var id: RoomID
    /// The room's name for people; its address until it has sent its name.
    package var name: String
  }

  package enum RoomChange: Hashable, Sendable {
    case connected
    /// The room is gone and is tried again. So it is after the next two; each is sent once for each new reason.
    case gone(reason: String)
    case unreachable(reason: String)
    case refused(reason: String)
    /// The user must pair this machine with the room first, as the advice says.
    case notPaired(advice: String)
    /// Another sender has the room now; it is not tried again.
    case replaced(reason: String)
    /// Another name or address led to this room as well; it plays once.
    case namedTwice
    case state(RoomStatus.State, detail: String)
    /// The room has lost buffered audio, and gets it again.
    case flushed
    /// The room does not decode this codec of the enqueued audio, which is encoded anew for all rooms.
    case recoded(from: Codec)
    /// The live source has this latency from now on, in all rooms, because of this one.
    case choseLatency(Nanoseconds)
  }

  /// Facts about a sounding item, for people.
  package struct Item: Hashable, Sendable {
    package var item: PlayItem
    package var title: String?
    package var artist: String?
    package var album: String?
    /// Nil if not known.
    package var duration: MediaDuration?
    package var isSeekable = true
    /// Codec on the wire, and the reason for it.
    package var codec: Codec?
    package var codecReason: String?
    /// All that the item says of itself; not sent to other processes.
    package var metadata = ItemMetadata()
  }
}

extension GroupEvent.Change {
  /// True if the next event of its kind replaces it, so that a slow reader can do without it.
  package var isPassing: Bool {
    switch self {
    case .position, .status: true
    default: false
    }
  }

  /// Translates an event of the session; there is no other translation.
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
      codecReason: opened.wire?.description, metadata: metadata)
  }
}
