import Audio
import Clock
import WireProtocol

/// Sends music and pictures to the rooms.
extension RoomSet {
  /// Returns the media time up to which the room was sent the packets in `store`; nil while nothing
  /// is sent to it.
  func position(of id: RoomID, in store: PacketStore) -> MediaTime? {
    // Each look happens in place: a link is large, and slow to copy.
    index(of: id).flatMap { links[$0].connected?.media?.position(in: store) }
  }

  /// Rooms that are sent nothing more until they are `drained`.
  var awaitingDrain: [RoomID] {
    links.indices.filter { links[$0].connected?.media?.isFull ?? false }.map { links[$0].id }
  }

  /// Sends each room the packets and pictures that it lacks, as far as its credit allows.
  ///
  /// - Parameters:
  ///   - unsettled: the number of the first packet whose small ones are still to come; nil if none are made.
  ///   - start: where the group is about to begin: no room gets so much that its network holds up the start.
  mutating func send(
    from store: PacketStore, small unsettled: UInt64?, by timeline: PlaybackTimeline,
    awaiting start: MediaTime?, with announcer: Announcer, at now: LocalTime
  ) {
    let pictures = announcer.pictures(of: timeline)
    for index in links.indices {
      let codecs = links[index].codecs ?? .all
      let isSmall =
        links[index].weakness.isWeak
        && (configuration.smallCodec.map { codecs.contains($0) } ?? false)
      let wanted = isSmall ? PacketForm.small : .whole
      let plan = announcer.plan(for: links[index].connected, pictures, timeline, store, at: now)
      var schedule = schedule(for: links[index].connected, timeline, at: now)
      (schedule.unsettled, schedule.awaitedStart) = (unsettled, start)
      guard
        let bytes = links[index].connected?.media?.nextBytes(
          from: store, as: wanted, schedule, decodedAs: codecs, plan),
        !bytes.isEmpty
      else { continue }
      let before = links[index].sentForm
      links[index].sent()
      if let small = configuration.smallCodec, links[index].sentForm != before {
        let getsSmall = links[index].sentForm == .small
        tellOf(links[index].id, getsSmall ? .weak(getting: small) : .recovered)
      }
      outputs.append(.send(links[index].id, .media, bytes))
    }
  }

  private func schedule(
    for room: ConnectedRoom?, _ timeline: PlaybackTimeline, at now: LocalTime
  ) -> MediaSchedule {
    guard let room else { return MediaSchedule() }
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    let capacity = min(
      room.welcome.capacity.duration.flicks, ProtocolLimits.mediaTime.upperBound)
    var reach = MediaDuration(flicks: max(capacity, 1))
    if room.waitsForClock(at: now) {
      reach = min(reach, room.lead(of: WeakLink.musicForClock))
    }
    return MediaSchedule(
      now: now, timeline: timeline, horizon: (room.horizon ?? .zero) - room.settings.delay,
      end: playhead + reach,
      skipsLive: room.livePath.isOpen(at: now) || room.livePath.isAwaited(at: now))
  }
}
