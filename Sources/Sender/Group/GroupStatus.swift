package import Clock
package import WireProtocol

/// What a display shows: the group at one instant.
package struct GroupStatus: Hashable, Sendable {
  package enum State: String, Sendable {
    /// Rooms are getting ready.
    case starting
    case playing
    /// All rooms stand still until more has come from the source.
    case buffering
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
    /// Why it is away; nil where it is not, or nothing is known.
    package var trouble: RoomTrouble?
    /// As last set from here or told by the room; nil before it was connected.
    package var settings: RoomSettings?
  }

  package var state: State
  /// What sounds, or is about to; nil before the first item is open, and where there is no current item.
  package var item: OpenedItem?
  /// Number of the item in the list, from 1, and how many there are; 0 where it is not, or not any more, in it.
  package var itemNumber: Int
  package var itemCount: Int
  /// What a listener has chosen last, where it does not sound yet; else what sounds.
  package var chosen: PlayItem?
  /// What plays after that; nil where nothing does.
  package var next: Upcoming?
  package var repetition: Playlist.Repetition
  /// In the item, from its beginning.
  package var position: MediaDuration
  /// Where in it a seek goes that is under way; in what is to sound next where that is another item.
  package var target: MediaDuration?
  /// Of the item: as it says itself, or as it turned out once all of it had come. Nil where neither is known yet, as
  /// of a radio station.
  package var duration: MediaDuration?
  /// How far into the item the part of it reaches that has come so far.
  package var arrived: MediaDuration?
  /// What is waited for before the group starts or goes on; nil where the source is not what it waits for.
  package var buffering: Buffering?
  /// What is done to the sound of what is opened.
  package var effects: Effects
  /// When `position` sounds, on the sender's clock; nil while media time stands still.
  package var presentationTime: LocalTime?
  /// Seconds of the item in one second while it plays: of what sounds, until other effects are heard.
  package var rate: Double
  /// How long after it is asked for a change is heard, in all rooms at once.
  package var outputLatency: Nanoseconds
  /// How long after it has come what plays is heard; nil where it is not heard as it happens.
  package var liveLatency: Nanoseconds?
  /// The room for which that was chosen last; nil where nobody chooses, and before.
  package var latencyDecider: RoomID?
  /// How far the audio that is produced reaches beyond what sounds.
  package var produced: MediaDuration
  package var rooms: [Room]
}

/// What is to play later.
package struct Upcoming: Hashable, Sendable {
  package var item: PlayItem
  /// Nil where it has not been opened yet.
  package var opened: OpenedItem?
}

package struct Playhead: Hashable, Sendable {
  /// Nil where nothing is to sound.
  package var item: PlayItem?
  package var position: MediaDuration
  /// False while the group is paused, starts, or stands still at a cut.
  package var isMoving: Bool
  /// Seconds of the item in one second while it plays.
  package var rate = 1.0
}

extension GroupSession {
  package func status(at local: LocalTime) -> GroupStatus {
    let now = local + asleep
    let item = soundingItem(at: now)
    let playhead = mediaTime(at: now)
    let items = playlist.items
    let index = item.flatMap { item in items.firstIndex { $0.id == item.item.id } }
    let arrival = arrival(at: now)
    return GroupStatus(
      state: displayState(at: now), item: item, itemNumber: index.map { $0 + 1 } ?? 0,
      itemCount: items.count, chosen: aim(at: now)?.item, next: upcoming(at: now),
      repetition: playlist.repetition, position: position(at: now),
      target: target(at: now),
      duration: item?.duration ?? (arrival?.isAll == true ? arrival?.position : nil),
      arrived: arrival?.position, buffering: isStopped(at: now) ? nil : buffering(at: now),
      effects: effects,
      presentationTime: timeline.isSounding(at: GroupTime(ofSender: now)) && item != nil
        ? local : nil,
      rate: item?.rate ?? effects.rate, outputLatency: commitHorizon,
      liveLatency: live?.latency, latencyDecider: live?.decider,
      produced: max(.zero, (store.end ?? playhead) - playhead), rooms: rooms.links.map(\.displayed))
  }

  /// When this place in the current item sounds, or sounded lately, by what is decided now: a pause or a seek moves
  /// it. Nil while the group stands still, and for what does not come.
  package func presentationTime(of position: MediaDuration, at now: LocalTime) -> LocalTime? {
    let now = now + asleep
    let time = GroupTime(ofSender: now)
    guard !isStopped(at: now),
      let segment = timeline.segment(at: timeline.playhead(at: time))
    else { return nil }
    let span = segment.opened.span(to: position)
    // What no schedule of this item reaches overflows no arithmetic either.
    guard abs(span.flicks) < ProtocolLimits.mediaTime.upperBound / 2 else { return nil }
    return timeline.groupTime(of: segment.start + span).map { LocalTime(onSender: $0) - asleep }
  }

  /// Where the group is now, without all that a status holds.
  package func playhead(at now: LocalTime) -> Playhead {
    let now = now + asleep
    let sounding = soundingItem(at: now)
    return Playhead(
      item: sounding?.item, position: position(at: now),
      isMoving: timeline.isSounding(at: GroupTime(ofSender: now)), rate: sounding?.rate ?? 1)
  }

  /// Whether media time runs, or is about to.
  package var isRunning: Bool {
    if case .playing = timeline.state { true } else { false }
  }

  /// When what is produced so far will have sounded; nil where all of the list is, and while time stands still.
  package func suppliedUntil(at now: LocalTime) -> LocalTime? {
    guard timeline.end == nil, case .playing(let anchor) = timeline.state else { return nil }
    return anchor.groupTime(of: max(anchor.mediaTime, store.end ?? .zero))
      .map { LocalTime(onSender: $0) - asleep }
  }

  /// Whether anything has sounded, or is about to.
  package var hasBegun: Bool { !timeline.anchors.isEmpty }

  /// Whether something is there to begin with, and a room that could play it.
  package var isPrimed: Bool {
    guard production.cut == nil, let end = store.end else { return false }
    return end > timeline.nextStart && rooms.links.contains(where: \.isReady)
  }

  /// Whether every room could play.
  package var allRoomsAreReady: Bool { rooms.links.allSatisfy(\.isReady) }

  /// The receivers that there is a session with, in the order of the rooms.
  package var receivers: [Identifier] {
    rooms.links.compactMap { $0.live == nil ? nil : $0.receiverID }
  }

  /// What people call a room; nil where it is none of the group.
  package func name(of room: RoomID) -> String? { rooms[room]?.name }

  /// The receiver that the room has turned out to be; nil where it was not reached yet.
  package func receiver(of room: RoomID) -> Identifier? { rooms[room]?.receiverID }

  private func upcoming(at now: LocalTime) -> Upcoming? {
    guard let aim = aim(at: now), let item = playlist.successor(of: aim.item) else { return nil }
    let opened = timeline.segments.last { $0.opened.item.id == item.id }?.opened
    return Upcoming(item: item, opened: opened)
  }

  private func displayState(at now: LocalTime) -> GroupStatus.State {
    if isFinished { return .finished }
    if isStopped(at: now) { return .stopped }
    return switch timeline.state {
    case .starting: isHeld ? .paused : .starting
    case .playing: .playing
    case .holding: bufferingTime == nil ? .buffering : .playing
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
    return .init(
      id: id, name: name, connection: connection, trouble: trouble, settings: live?.settings)
  }
}
