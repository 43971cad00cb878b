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
      let wasWeak = links[index].weakness.isWeak
      if links[index].codecs?.contains(small) == true {
        links[index].weakness.judge(
          isTooSlow: links[index].isTooSlow(at: now), lead: end - playhead, at: now)
      } else {
        links[index].weakness = WeakLink()
      }
      let isWeak = links[index].weakness.isWeak
      if isWeak != wasWeak { tellOf(links[index].id, isWeak ? .weak(getting: small) : .recovered) }
    }
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
