import Audio
import Clock
import WireProtocol

/// Sends music and pictures to the rooms.
extension RoomSet {
  /// Returns the media time up to which the room was sent the packets in `store`; nil while nothing
  /// is sent to it.
  func position(of id: RoomID, in store: PacketStore) -> MediaTime? {
    self[id]?.connected?.media?.position(in: store)
  }

  /// Rooms that are sent nothing more until they are `drained`.
  var awaitingDrain: [RoomID] { links.filter { $0.connected?.media?.isFull ?? false }.map(\.id) }

  /// Sends each room the packets and pictures that it lacks, as far as its credit allows.
  mutating func send(
    from store: PacketStore, by timeline: PlaybackTimeline, with announcer: Announcer,
    at now: LocalTime
  ) {
    let pictures = announcer.pictures(of: timeline)
    for index in links.indices {
      let codecs = links[index].codecs ?? .all
      let plan = announcer.plan(for: links[index].connected, pictures, timeline, store, at: now)
      let schedule = schedule(for: links[index].connected, timeline, at: now)
      guard
        let bytes = links[index].connected?.media?.nextBytes(
          from: store, schedule, decodedAs: codecs, plan),
        !bytes.isEmpty
      else { continue }
      links[index].sent()
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
    return MediaSchedule(
      now: now, timeline: timeline, horizon: (room.horizon ?? .zero) - room.settings.delay,
      end: playhead + MediaDuration(flicks: max(capacity, 1)),
      skipsLive: room.livePath.isOpen(at: now) || room.livePath.isAwaited(at: now))
  }
}
