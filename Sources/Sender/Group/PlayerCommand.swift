package import Clock
package import WireProtocol

/// The commands that a user can give while music plays.
package enum PlayerCommand: Hashable, Sendable {
  case pause
  /// Like `pause`, but not before this time of the machine's clock.
  case pauseAt(LocalTime)
  case resume
  /// Like `resume`, but sounds at this time, or as soon after it as all rooms can.
  case resumeAt(LocalTime)
  /// Seeks to a position in the current item, from its beginning. Beyond the end, goes to the next item, or to the last
  /// second if there is none.
  case seek(to: MediaDuration)
  /// Seeks relative to the current position, and not before the beginning.
  case seekBy(MediaDuration)
  /// Goes on where a station is that was paused or sought back.
  case live
  case next
  /// Goes to the beginning of the item, or to the item before if this one has just begun. In a station whose last hour is
  /// kept, its titles are items.
  case previous
  /// Volume, 0...1000.
  case volume(RoomSelection, UInt16)
  case volumeBy(RoomSelection, Int)
  case mute(RoomSelection, Bool)
  /// Volume in all rooms, on top of their own, and only as long as this sender plays there.
  case streamVolume(StreamVolume)
  /// The volume in all rooms rises from this time of the machine's clock on, and is full after this long. Rooms know it
  /// ahead, and need nobody for it then.
  case rise(from: LocalTime, over: Nanoseconds)
  case delay(RoomSelection, Nanoseconds)
  case channelMap(RoomSelection, RoomSettings.ChannelMap)
  /// The highest volume that rooms take from anybody, within `ProtocolLimits.volumeLimit`. Rooms that are louder are
  /// turned down to it.
  case volumeLimit(RoomSelection, UInt16)
  /// The sound that rooms keep. Its values were checked.
  case sound(RoomSelection, SoundChange)
  /// The highest volume that this group asks of any of its rooms from now on, 0...1000. Rooms that are louder are turned
  /// down, and those that join. They do not know of it, so others may pass it.
  case volumeCap(UInt16)
  /// Jumps to a position in the item with this identity. Nil is where somebody has left it, else its beginning; of the
  /// current item it is always the beginning.
  case jump(to: Int, at: MediaDuration? = nil)
  /// Takes the item begun last from its source again, from this position on, because its audio has changed. Enqueued
  /// audio before that position plays on. The outcome says where the new audio begins.
  case renew(from: MediaDuration)
  /// Lets the item continue at this position, from the first instant that all rooms can still change. Unlike a jump, it
  /// is carried out at once and never merged with other commands. The outcome names the position.
  case restart(at: MediaDuration)
  /// Like `renew`, for effects: `from` sounds with them at this time, or what follows it as soon after that as all
  /// rooms can. If time stands still, the effects begin at `from`. Time never stands still for a cut.
  case effectsAt(Effects, from: MediaDuration, at: LocalTime)
  /// While time stands still: continues at this position of the enqueued audio. Only forwards, and keeps what is
  /// enqueued.
  case cue(to: MediaDuration)
  case edit(PlaylistEdit)
  /// Applies these effects from now on, in the middle of the sounding item, which continues at its position.
  case effects(Effects)
  /// Reports the position at this interval while music plays; nil ends it. At least 10 ms.
  case observePosition(every: Nanoseconds?)
  /// Sends a clip to rooms; the outcome is its number. Nil for the volume: as loud as each room.
  case offerClip(Clip, volume: UInt16?, to: [RoomID])
  /// Lets a clip sound at this time, in the rooms that are ready for it.
  case beginClip(UInt32, at: LocalTime)
  /// Ends a clip, or forgets it.
  case withdrawClip(UInt32)
  /// Ends the sound. The list stays, and none of it plays until a jump to one of its items.
  case halt
  /// Ends playing in all rooms at the same sample, then ends the group.
  case stop
}

/// All rooms, or one.
package enum RoomSelection: Hashable, Sendable {
  case all
  case room(RoomID)
}

/// Matches a reply to its command. The caller numbers its commands, and uses no number twice.
package struct CommandID: Hashable, Sendable {
  package var number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

package typealias CommandReply = Result<CommandOutcome, CommandRefusal>

/// The result of a command that was carried out.
package enum CommandOutcome: Hashable, Sendable {
  /// All of it was carried out, or it was so already.
  case done
  /// The list now holds items with these identities.
  case added(Range<Int>)
  /// The item is taken from its source again from this position on: the one asked for, or the first that all rooms can
  /// still change.
  case renewed(from: MediaDuration)
  /// The clip has this number.
  case offered(UInt32)
}

/// The reason why a command had no effect.
package enum CommandRefusal: Error, Hashable, Sendable {
  /// The item can only be played from its beginning.
  case notSeekable(PlayItem)
  /// The item is no station, or nothing of it is kept.
  case hasNoLive(PlayItem)
  /// A live item keeps the effects with which it began.
  case isLive(PlayItem)
  /// An item that can only be played from its beginning keeps its effects, too.
  case cannotBeginAnew(PlayItem)
  /// There is no current item to seek in.
  case nothingPlays
  case noSuchItem(Int)
  case playlistIsFull
  /// The group does not play in this room, or no longer.
  case noSuchRoom(RoomID)
  /// The receiver's own user has fixed the volume limit of the room with this name.
  case volumeLimitIsFixed(String)
  /// The receiver of the room with this name is of an older version, which keeps no limit.
  case keepsNoVolumeLimit(String)
  /// The receiver of the room with this name is of an older version, which keeps no sound.
  case keepsNoSound(String)
  /// The receiver of the room with this name was given no FIR filter.
  case hasNoFIR(String)
  /// The group has ended.
  case finished
}

extension CommandRefusal: CustomStringConvertible {
  /// One line for people.
  package var description: String {
    switch self {
    case .notSeekable(let item):
      "\(item.saidName) can only be played from its beginning to its end; it plays on"
    case .hasNoLive(let item): "\(item.saidName) is no station that can be paused; it plays on"
    case .isLive(let item):
      "\(item.saidName) is heard as it happens, so effects cannot be set while it plays; stop it, set them, and play it again"
    case .cannotBeginAnew(let item):
      "\(item.saidName) can only be played from its beginning, so effects cannot be set while it plays; it plays on"
    case .nothingPlays: "nothing plays; choose an item first"
    case .noSuchItem: "that item is not in the list any more"
    case .playlistIsFull: "the list is full: \(Playlist.limit) items"
    case .noSuchRoom: "that room does not play here any more"
    case .volumeLimitIsFixed(let name):
      "the volume limit of \(name) is fixed by its receiver; change it there: tutti-receiver --volume-limit"
    case .keepsNoVolumeLimit(let name):
      "the receiver of \(name) keeps no volume limit; update it"
    case .keepsNoSound(let name): "the receiver of \(name) keeps no sound of its own; update it"
    case .hasNoFIR(let name):
      "the receiver of \(name) has no FIR filter; give it one there: tutti-receiver --fir FILE.wav"
    case .finished: "playing has ended"
    }
  }
}

extension PlayItem {
  /// The name by which its user knows it.
  fileprivate var saidName: String {
    if let title { return title }
    return if case .input(let name) = LiveLocation(location) { name } else { location }
  }
}
