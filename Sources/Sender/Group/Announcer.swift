import Clock
import WireProtocol

/// Tells the rooms ahead of time what plays: an announcement for each item, and the pictures that these name.
struct Announcer {
  /// Pictures wait while a room has less music than this ahead.
  private static let artworkLead = MediaDuration.seconds(5)
  /// Pictures wait at most this long after a start or a cut.
  private static let artworkTimeout = Nanoseconds.seconds(5)

  private var artworks = ArtworkStore()
  private var lastCutTime: LocalTime?

  init() {}

  /// Takes over from a process that had numbered pictures up to `artwork`.
  init(after artwork: UInt32) { artworks = ArtworkStore(after: artwork) }

  /// The number of the picture that was numbered last.
  var lastArtwork: UInt32 { artworks.lastNumber }

  mutating func cut(at now: LocalTime) { lastCutTime = now }

  /// Returns the item as the group keeps it, and its description for the rooms. `segments` are those enqueued before
  /// it.
  mutating func describe(
    _ opened: OpenedItem, after segments: [PlaybackTimeline.Segment]
  ) -> (OpenedItem, ItemDescription) {
    let opened = artworks.sharing(opened, with: segments)
    return (opened, artworks.description(of: opened))
  }

  /// Returns announcements of the item that sounds and of those that follow, as far as they are enqueued.
  func announcements(of timeline: PlaybackTimeline) -> [NowPlaying] {
    var announcements: [NowPlaying] = []
    for segment in timeline.segments {
      // Skip items that could not be played.
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

  /// Returns the pictures that the announcements name, the next first, as far as each room can hold them.
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

  /// Plans when to send pictures to a room. The lead is half of the room's capacity if that is less than the usual
  /// lead. Live streams never get that far ahead, and after a start or a cut the audio has gaps until it does; pictures
  /// then wait for `artworkTimeout`.
  func plan(
    for room: ConnectedRoom?, _ pictures: [NumberedArtwork], _ timeline: PlaybackTimeline,
    _ store: PacketStore, at now: LocalTime
  ) -> ArtworkPlan {
    guard !pictures.isEmpty, let room else { return ArtworkPlan() }
    let held = Double(room.welcome.capacity.bytes) / max(store.byteRate, 1)
    let flicks = min(held / 2, Self.artworkLead.seconds) * Double(MediaDuration.flicksPerSecond)
    let lead =
      timeline.playhead(at: GroupTime(ofSender: now)) + MediaDuration(flicks: Int64(flicks))
    let begun = max(room.began, lastCutTime ?? room.began)
    return ArtworkPlan(
      pictures: pictures, lead: lead,
      fillsGaps: timeline.end != nil || store.end ?? .zero >= lead
        || now - begun >= Self.artworkTimeout)
  }
}
