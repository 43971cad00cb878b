import Clock
import WireProtocol

/// Telling the rooms what plays from which media time on, ahead of time, and sending them the pictures.
extension GroupSession {
  /// Pictures wait while a room has less music than this ahead.
  private static let artworkLead = MediaDuration.seconds(5)
  /// So long after a start or a cut nothing more is to be expected that they should wait for.
  private static let artworkPatience = Nanoseconds.seconds(5)

  /// What sounds, and what follows it as far as it is enqueued.
  private var announcements: [NowPlaying] {
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

  /// Brings what each room was told into line with what is enqueued.
  mutating func describe(at now: LocalTime) {
    let announcements = announcements
    for index in links.indices {
      for message in links[index].live?.announced.replace(with: announcements) ?? [] {
        tell(index, .nowPlaying(message), at: now)
      }
    }
  }

  /// The pictures that the announcements name, the next first, as far as each room can hold them.
  var artworkToSend: [NumberedArtwork] {
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
  func plan(for index: Int, _ pictures: [NumberedArtwork], at now: LocalTime) -> ArtworkPlan {
    guard !pictures.isEmpty, let room = links[index].live else { return ArtworkPlan() }
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

/// What one room was told, in order of media time.
struct AnnouncedItems {
  private var announced: [NowPlaying] = []

  /// The room forgets what it was told of `time` and later.
  mutating func flush(from time: MediaTime) { announced.removeAll { $0.from >= time } }

  /// The messages that make it so.
  mutating func replace(with wanted: [NowPlaying]) -> [NowPlaying] {
    if let first = wanted.first { announced.removeAll { $0.from < first.from } }
    var common = 0
    while common < min(announced.count, wanted.count),
      announced[common].says(wanted[common])
    {
      common += 1
    }
    var messages = Array(wanted[common...])
    // What is taken back and replaced by nothing yet.
    if messages.isEmpty, common < announced.count, announced[common].item != nil {
      messages = [announced[common]]
      messages[0].item = nil
    }
    guard !messages.isEmpty else { return [] }
    announced = announced[..<common] + messages
    return messages
  }
}

extension NowPlaying {
  /// Generations aside: what an older one says holds until a flush takes it back.
  fileprivate func says(_ other: NowPlaying) -> Bool { from == other.from && item == other.item }
}
