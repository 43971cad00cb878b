package import Clock
package import WireProtocol

/// What a user can ask for while music plays.
package enum PlayerCommand: Hashable, Sendable {
  case pause
  /// The same, not before this time.
  case pauseAt(GroupTime)
  case resume
  /// The same: what is to sound next sounds at this time, or as soon after it as all rooms can.
  case resumeAt(GroupTime)
  /// To a place in the current item, from its beginning; beyond the end means the next item, or the last second where
  /// there is none.
  case seek(to: MediaDuration)
  /// From where the current item is now; before the beginning means the beginning.
  case seekBy(MediaDuration)
  case next
  /// To the beginning of the item, or of the one before where this one has just begun.
  case previous
  /// 0...1000.
  case volume(RoomSelection, UInt16)
  case volumeBy(RoomSelection, Int)
  case mute(RoomSelection, Bool)
  /// In all rooms, besides their own, and only as long as this sender plays there.
  case streamVolume(StreamVolume)
  case delay(RoomSelection, Nanoseconds)
  case channelMap(RoomSelection, RoomSettings.ChannelMap)
  /// To a place in an item, by its identity.
  case jump(to: Int, at: MediaDuration = .zero)
  /// What the item that was begun last gives from this place on has changed: it is taken from its source again, and
  /// what is enqueued before that place plays on. The outcome says from where.
  case renew(from: MediaDuration)
  /// What sounds next, from the first instant on that all rooms can still change, is the item from this place on. Unlike a
  /// jump it is carried out at once, and never joined with others. The outcome names the place.
  case restart(at: MediaDuration)
  /// As `renew`, for effects: `from` sounds with them at this time, or what follows it as soon after that as all rooms can;
  /// where time stands still, they begin there. Time runs on at any cut.
  case effectsAt(Effects, from: MediaDuration, at: GroupTime)
  /// While time stands still: go on here in what is enqueued. Only ahead, and without forgetting anything.
  case cue(to: MediaDuration)
  case edit(PlaylistEdit)
  /// From now on, in the middle of what sounds: where it is played from goes on.
  case effects(Effects)
  /// Tell the position so often while music plays; nil ends it. At least 10 ms.
  case observePosition(every: Nanoseconds?)
  /// Ends what sounds. The list stays, and nothing of it is played before a jump to one of its items.
  case halt
  /// Ends playing in all rooms at one sample, then everything.
  case stop
}

/// All rooms, or one.
package enum RoomSelection: Hashable, Sendable {
  case all
  case room(RoomID)
}

/// Tells the reply to a command from others. Whoever asks numbers the commands, and uses no number twice.
package struct CommandID: Hashable, Sendable {
  package var number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

package typealias CommandReply = Result<CommandOutcome, CommandRefusal>

/// What a command has done.
package enum CommandOutcome: Hashable, Sendable {
  /// Everything that was asked for; nothing, where it was so already.
  case done
  /// Items with these identities are in the list now.
  case added(Range<Int>)
  /// The item is taken from its source again from this place on: the one asked for, or the first that all rooms can
  /// still change.
  case renewed(from: MediaDuration)
}

/// Why a command had no effect.
package enum CommandRefusal: Error, Hashable, Sendable {
  /// The item can only be played from its beginning.
  case notSeekable(PlayItem)
  /// What is heard as it happens goes on with the effects that it began with.
  case isLive(PlayItem)
  /// As does what can only be played from its beginning.
  case cannotBeginAnew(PlayItem)
  /// There is no current item to seek in.
  case nothingPlays
  case noSuchItem(Int)
  case playlistIsFull
  /// The group does not play in this room, or not any more.
  case noSuchRoom(RoomID)
  /// The group has ended.
  case finished
}

extension CommandRefusal: CustomStringConvertible {
  /// One line for people.
  package var description: String {
    switch self {
    case .notSeekable(let item):
      "\(item.saidName) can only be played from its beginning to its end; it plays on"
    case .isLive(let item):
      "\(item.saidName) is heard as it happens, and effects cannot join it; it plays on. Stop it, set them, play it again"
    case .cannotBeginAnew(let item):
      "\(item.saidName) can only be played from its beginning, and effects cannot join it; it plays on"
    case .nothingPlays: "nothing plays; choose an item first"
    case .noSuchItem: "that item is not in the list any more"
    case .playlistIsFull: "the list is full: \(Playlist.limit) items"
    case .noSuchRoom: "that room does not play here any more"
    case .finished: "playing has ended"
    }
  }
}

extension PlayItem {
  /// As its user calls it.
  fileprivate var saidName: String {
    if let title { return title }
    return if case .input(let name) = LiveLocation(location) { name } else { location }
  }
}
