import Clock
import WireProtocol

/// What the rooms are told of what plays, ahead of time: an announcement for each item, and the pictures that those name.
struct Announcer {
  /// Pictures wait while a room has less music than this ahead.
  private static let artworkLead = MediaDuration.seconds(5)
  /// So long after a start or a cut nothing more is to be expected that they should wait for.
  private static let artworkPatience = Nanoseconds.seconds(5)

  private var artworks = ArtworkStore()
  private var lastCutTime: LocalTime?

  mutating func cut(at now: LocalTime) { lastCutTime = now }

  /// The item as it is kept, and what the rooms are told of it; `segments` are what is enqueued before it.
  mutating func describe(
    _ opened: OpenedItem, after segments: [PlaybackTimeline.Segment]
  ) -> (OpenedItem, ItemDescription) {
    let opened = artworks.sharing(opened, with: segments)
    return (opened, artworks.description(of: opened))
  }

  /// What sounds, and what follows it as far as it is enqueued.
  func announcements(of timeline: PlaybackTimeline) -> [NowPlaying] {
    var announcements: [NowPlaying] = []
    for segment in timeline.segments {
      // Of what could not be played nothing sounds.
      if announcements.last?.from == segment.start { announcements.removeLast() }
      guard announcements.count < ProtocolLimits.announcements else { return announcements }
      announcements.append(
        NowPlaying(
          generation: timeline.generation, from: segment.start, item: segment.description))
    }
    guard let end = timeline.end, announcements.count < ProtocolLimits.announcements else {
      return announcements
    }
    if announcements.last?.from == end { announcements.removeLast() }
    return announcements + [NowPlaying(generation: timeline.generation, from: end, item: nil)]
  }

  /// The pictures that the announcements name, the next first, as far as each room can hold them.
  func pictures(of timeline: PlaybackTimeline) -> [NumberedArtwork] {
    var pictures: [NumberedArtwork] = []
    var byteCount = 0
    for segment in timeline.segments.prefix(ProtocolLimits.announcements) {
      guard let picture = artworks[segment.description.artwork], !pictures.contains(picture) else {
        continue
      }
      byteCount += picture.artwork.bytes.count
      guard byteCount <= ProtocolLimits.announcedArtwork else { break }
      pictures.append(picture)
    }
    return pictures
  }

  /// The lead is half of what the room can hold where that is less than the usual one. What is live never gets that far,
  /// and after a start or a cut there are gaps until it does: then pictures wait for a while.
  func plan(
    for room: LiveRoom?, _ pictures: [NumberedArtwork], _ timeline: PlaybackTimeline,
    _ store: PacketStore, at now: LocalTime
  ) -> ArtworkPlan {
    guard !pictures.isEmpty, let room else { return ArtworkPlan() }
    let held = Double(room.welcome.capacity.bytes) / max(store.byteRate, 1)
    let half = MediaDuration(flicks: Int64(min(held / 2, 60) * 705_600_000))
    let lead =
      timeline.playhead(at: GroupTime(ofSender: now)) + min(Self.artworkLead, half)
    let begun = max(room.began, lastCutTime ?? room.began)
    return ArtworkPlan(
      pictures: pictures, lead: lead,
      fillsGaps: timeline.end != nil || store.end ?? .zero >= lead
        || now - begun >= Self.artworkPatience)
  }
}
