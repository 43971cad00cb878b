package import Audio
package import Clock
package import WireProtocol

/// The state of a group at one instant, for displays.
package struct GroupStatus: Hashable, Sendable {
  package enum State: String, Sendable {
    /// Rooms are getting ready.
    case starting
    case playing
    /// All rooms stand still until the source has delivered more.
    case buffering
    case paused
    /// There is no current item: the list is at its end, and the group waits for more.
    case stopped
    case finished
  }

  package struct Room: Hashable, Sendable {
    package enum Connection: Hashable, Sendable {
      case connecting
      /// The room is not reachable, or it refused, for this reason.
      case away(reason: String)
      case connected(RoomStatus)
    }
    package var id: RoomID
    package var name: String
    package var connection: Connection
    /// The reason why the room is away, as a code; nil if it is not away, or the reason is unknown.
    package var trouble: RoomTrouble?
    /// The settings last set from here or reported by the room; nil before it was connected.
    package var settings: RoomSettings?
    /// True unless it is not known yet whether `settings` have reached the room.
    package var hasTakenSettings = true
    /// The codec of the small encoding that it gets, because its link carries less than the music takes; nil if it gets what
    /// the others get.
    package var smallEncoding: Codec?
  }

  package var state: State
  /// The item that sounds, or is about to; nil before the first item is open, and if there is no current item.
  package var item: OpenedItem?
  /// Number of the item in the list, from 1 to `itemCount`; 0 if the list does not hold it, or no longer.
  package var itemNumber: Int
  package var itemCount: Int
  /// The item that a listener has chosen last, if it does not sound yet; else the one that sounds.
  package var chosen: PlayItem?
  /// The item that plays after `chosen`; nil if none does.
  package var next: Upcoming?
  package var repetition: Playlist.Repetition
  /// Position in the item, from its beginning.
  package var position: MediaDuration
  /// Position to which a pending seek goes: in `item`, or in `chosen` if that is another one.
  package var target: MediaDuration?
  /// Duration of the item: as its file states it, or as counted once all of it has come. Nil while neither is known,
  /// such as for a radio station.
  package var duration: MediaDuration?
  /// Position in the item up to which its audio has come so far.
  package var arrived: MediaDuration?
  /// The audio for which the group waits before it starts or goes on; nil if it does not wait for the source.
  package var buffering: Buffering?
  /// Effects for items that are opened from now on.
  package var effects: Effects
  /// The sender's time at which `position` sounds; nil while media time stands still.
  package var presentationTime: LocalTime?
  /// Seconds of the item per second of playing. It changes when other effects become audible.
  package var rate: Double
  /// Time from a command until all rooms sound its effect at once.
  package var outputLatency: Nanoseconds
  /// Time from the arrival of a live stream's audio at the sender to its sound; nil if the item is not live.
  package var liveLatency: Nanoseconds?
  /// The room for which `liveLatency` was chosen last; nil if it is not chosen automatically, and before the first
  /// choice.
  package var latencyDecider: RoomID?
  /// Length of the produced audio beyond the playhead.
  package var produced: MediaDuration
  package var rooms: [Room]
  /// True if `chosen` begins where somebody has left it, and `target` is not that place.
  package var resumes = false
  /// The part of the station that can be heard again; nil if the item is none, or nothing is kept.
  package var kept: KeptStretch?
}

/// An item that is to play later.
package struct Upcoming: Hashable, Sendable {
  package var item: PlayItem
  /// Nil before the item was opened.
  package var opened: OpenedItem?
}

package struct Playhead: Hashable, Sendable {
  /// Nil if no item is to sound.
  package var item: PlayItem?
  package var position: MediaDuration
  /// False while the group is paused, starts, or stands still at a cut.
  package var isMoving: Bool
  /// Seconds of the item per second of playing.
  package var rate = 1.0
}

extension GroupSession {
  package func status(at local: LocalTime) -> GroupStatus {
    let now = clock.continuous(local)
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
      liveLatency: live.item?.latency, latencyDecider: live.item?.decider,
      produced: max(.zero, (store.end ?? playhead) - playhead),
      rooms: rooms.links.map { $0.displayed(configuration.smallCodec) },
      resumes: aim(at: now)?.resumes ?? false, kept: kept(of: item))
  }

  /// Returns when `position` of the current item sounds, or recently sounded, according to what is decided now; a
  /// pause or a seek moves it. Returns nil while the group stands still, and for positions that will not sound.
  package func presentationTime(of position: MediaDuration, at now: LocalTime) -> LocalTime? {
    let now = clock.continuous(now)
    let time = GroupTime(ofSender: now)
    guard !isStopped(at: now),
      let segment = timeline.segment(at: timeline.playhead(at: time))
    else { return nil }
    let span = segment.opened.span(to: position)
    // No schedule of this item reaches such a position. Refusing it keeps the arithmetic from overflowing.
    guard abs(span.flicks) < ProtocolLimits.mediaTime.upperBound / 2 else { return nil }
    return timeline.groupTime(of: segment.start + span).map {
      clock.machine(LocalTime(onSender: $0))
    }
  }

  /// Returns the place that sounds now. Cheaper than a status.
  package func playhead(at now: LocalTime) -> Playhead {
    let now = clock.continuous(now)
    let media = mediaTime(at: now)
    let segment = isStopped(at: now) ? nil : timeline.segment(at: media)
    // Within a frame of where it begins, a segment counts already, while the sound before it lasts.
    let isAhead = segment.map { media < $0.start } ?? false
    return Playhead(
      item: segment?.opened.item,
      position: isAhead ? segment?.opened.position ?? .zero : position(at: now),
      isMoving: !isAhead && timeline.isSounding(at: GroupTime(ofSender: now)),
      rate: segment?.opened.rate ?? 1)
  }

  /// True if media time runs, or is about to.
  package var isRunning: Bool {
    if case .playing = timeline.state { true } else { false }
  }

  /// Returns when the audio produced so far will have sounded; nil if the whole list is produced, and while time
  /// stands still.
  package func suppliedUntil(at now: LocalTime) -> LocalTime? {
    guard timeline.end == nil, case .playing(let anchor) = timeline.state else { return nil }
    return anchor.groupTime(of: max(anchor.mediaTime, store.end ?? .zero))
      .map { clock.machine(LocalTime(onSender: $0)) }
  }

  /// True if anything has sounded, or is about to.
  package var hasBegun: Bool { !timeline.anchors.isEmpty }

  /// True if there is audio to begin with, and a room that can play it.
  package var isPrimed: Bool {
    guard production.cut == nil, let end = store.end else { return false }
    return end > timeline.nextStart && rooms.links.contains(where: \.isReady)
  }

  /// True if something of what is to sound next has come from its source.
  package var hasAudio: Bool {
    production.cut == nil && store.end.map { $0 > timeline.nextStart } ?? false
  }

  /// True if every room can play, and goes on to.
  package var allRoomsAreReady: Bool {
    rooms.links.indices.allSatisfy {
      rooms.links[$0].isReady && !rooms.needsTime($0, from: timeline.nextStart, until: timeline.end)
    }
  }

  /// Identifiers of the receivers with a session, in the order of the rooms.
  package var receivers: [Identifier] {
    rooms.links.compactMap { $0.connected == nil ? nil : $0.receiverID }
  }

  /// Returns the name that people gave a room; nil if it is not in the group.
  package func name(of room: RoomID) -> String? { rooms[room]?.name }

  /// Returns the identifier of the receiver that the room turned out to be; nil if it was never reached.
  package func receiver(of room: RoomID) -> Identifier? { rooms[room]?.receiverID }

  /// True if the room came with music that it had been sent before: it was not started again.
  package func holdsMusic(_ room: RoomID) -> Bool { rooms[room]?.connected?.welcome.held != nil }

  private func upcoming(at now: LocalTime) -> Upcoming? {
    guard let aim = aim(at: now), let item = playlist.successor(of: aim.item) else { return nil }
    let opened = timeline.segments.last { $0.opened.item.id == item.id }?.opened
    return Upcoming(item: item, opened: opened)
  }

  private func displayState(at now: LocalTime) -> GroupStatus.State {
    if isFinished { return .finished }
    if isStopped(at: now) { return .stopped }
    return switch timeline.state {
    case .starting: start.isHeld ? .paused : .starting
    case .playing: .playing
    case .holding: standstill.tellingTime == nil ? .buffering : .playing
    case .paused: .paused
    }
  }
}

extension RoomLink {
  fileprivate func displayed(_ small: Codec?) -> GroupStatus.Room {
    let connection: GroupStatus.Room.Connection =
      if let status = connected?.status { .connected(status) } else if obstacle.isEmpty {
        .connecting
      } else {
        .away(reason: obstacle)
      }
    return .init(
      id: id, name: name, connection: connection, trouble: trouble, settings: connected?.settings,
      hasTakenSettings: connected?.hasTakenSettings ?? true,
      smallEncoding: connected?.media?.form == .small ? small : nil)
  }
}
