package import Clock
package import WireProtocol

/// What a display shows: the group at one instant.
package struct GroupStatus: Hashable, Sendable {
  package enum State: String, Sendable {
    /// Rooms are getting ready.
    case starting
    case playing
    case paused
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
  /// What sounds, or sounded last; nil before the first item is open.
  package var item: OpenedItem?
  /// Number of the item in the list, from 1, and how many there are.
  package var itemNumber: Int
  package var itemCount: Int
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
    let number = item.flatMap { item in queue.items.firstIndex { $0.id == item.item.id } } ?? 0
    return GroupStatus(
      state: displayState, item: item, itemNumber: number + 1, itemCount: queue.items.count,
      position: position(at: now), produced: max(.zero, (store.end ?? playhead) - playhead),
      rooms: links.map(\.displayed))
  }

  private var displayState: GroupStatus.State {
    if isFinished { return .finished }
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
