import Audio
import Clock
import WireProtocol

/// Decides which rooms get a small encoding because their links are weak.
extension RoomSet {
  /// Judges the links once for each round of reports.
  ///
  /// - Parameter small: the codec of the small encoding. A room that does not decode it gets what the others get.
  mutating func judgeLinks(_ timeline: PlaybackTimeline, small: Codec, at now: LocalTime) {
    guard timeline.isPlaying else { return }
    for index in links.indices where links[index].weakness.needsSmall {
      if links[index].connected == nil { links[index].weakness.isAway(at: now) }
    }
    guard hasReports else { return }
    hasReports = false
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    for index in links.indices {
      guard let end = links[index].connected?.status?.bufferedUntil else { continue }
      if links[index].codecs?.contains(small) == true {
        links[index].weakness.judge(
          isTooSlow: links[index].isTooSlow(at: now), lead: end - playhead, at: now)
      } else {
        links[index].weakness = WeakLink()
      }
    }
  }

  /// Rooms that begin are probed. One that comes back has music, and its reports tell in time.
  func isToBeProbed(_ link: RoomLink) -> Bool {
    guard let small = configuration.smallCodec, link.codecs?.contains(small) == true else {
      return false
    }
    return !link.weakness.needsSmall && link.connected?.welcome.held == nil
  }

  /// Takes the number of bytes that have not arrived in a room, while the music takes `needed` per second.
  mutating func measured(
    _ id: RoomID, waiting: Int, needed: Double, at now: LocalTime
  ) {
    guard needed > 0, let index = index(of: id),
      links[index].connected?.media?.measured(waiting: waiting, needed: needed, at: now) == true
    else { return }
    links[index].weakness.failed(at: now)
  }

  var isProbing: Bool {
    links.indices.contains { links[$0].connected?.media?.isProbed ?? false }
  }

  /// True if a room is there that gets the small encoding.
  var hasWeakLinks: Bool {
    links.indices.contains { links[$0].weakness.isWeak && links[$0].connected != nil }
  }

  /// True if the room is ready, but its link is being probed, or has just been found to be weak. A start in that moment
  /// would leave a hole behind it.
  ///
  /// - Parameter end: of the music, where it is known: no room ever has more.
  func needsTime(_ index: Int, from place: MediaTime, until end: MediaTime?) -> Bool {
    if links[index].connected?.media?.isProbed ?? false { return true }
    guard links[index].weakness.isWeak, let status = links[index].connected?.status else {
      return false
    }
    let wanted = place + WeakLink.musicForStart
    return status.bufferedUntil < min(wanted, end ?? wanted)
  }

  /// The numbers of the packets that rooms with weak links get next, from the first to the last; nil if there is no such
  /// room.
  var smallNeeds: ClosedRange<UInt64>? {
    var needs: ClosedRange<UInt64>?
    // In their places: a link is large, and copied slowly.
    for index in links.indices where links[index].weakness.needsSmall {
      guard let next = links[index].connected?.media?.nextSequence else { continue }
      needs = min(needs?.lowerBound ?? next, next)...max(needs?.upperBound ?? next, next)
    }
    return needs
  }
}
