package import Clock
package import WireProtocol

/// What a display shows: the group at one instant.
package struct GroupStatus: Hashable, Sendable {
  package enum State: String, Sendable {
    /// Rooms are getting ready.
    case starting
    case playing
    case paused
    /// There is no current item: the list is at its end, and the group waits for more.
    case stopped
    case finished
  }

  package struct Room: Hashable, Sendable {
    package enum Connection: Hashable, Sendable {
      case connecting
      /// Not reachable, or it refused; `reason` says why.
      case away(reason: String)
      case live(RoomStatus)
    }
    package var id: RoomID
    package var name: String
    package var connection: Connection
    /// As last set from here or told by the room; nil before it was connected.
    package var settings: RoomSettings?
  }

  package var state: State
  /// What sounds, or is about to; nil before the first item is open, and where there is no current item.
  package var item: OpenedItem?
  /// Number of the item in the list, from 1, and how many there are; 0 where it is not, or not any more, in it.
  package var itemNumber: Int
  package var itemCount: Int
  package var repetition: Playlist.Repetition
  /// In the item, from its beginning.
  package var position: MediaDuration
  /// How far the audio that is produced reaches beyond what sounds.
  package var produced: MediaDuration
  package var rooms: [Room]
}

extension GroupSession {
  package func status(at now: LocalTime) -> GroupStatus {
    let item = soundingItem(at: now)
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    let items = playlist.items
    let index = item.flatMap { item in items.firstIndex { $0.id == item.item.id } }
    return GroupStatus(
      state: displayState(at: now), item: item, itemNumber: index.map { $0 + 1 } ?? 0,
      itemCount: items.count, repetition: playlist.repetition, position: position(at: now),
      produced: max(.zero, (store.end ?? playhead) - playhead), rooms: links.map(\.displayed))
  }

  private func displayState(at now: LocalTime) -> GroupStatus.State {
    if isFinished { return .finished }
    if isStopped(at: now) { return .stopped }
    return switch timeline.state {
    case .starting: .starting
    case .playing, .holding: .playing
    case .paused: .paused
    }
  }
}

extension RoomLink {
  fileprivate var displayed: GroupStatus.Room {
    let connection: GroupStatus.Room.Connection =
      if let status = live?.status { .live(status) } else if obstacle.isEmpty { .connecting } else {
        .away(reason: obstacle)
      }
    return .init(id: id, name: name, connection: connection, settings: live?.settings)
  }
}
