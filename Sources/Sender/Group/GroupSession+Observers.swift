import Clock
import WireProtocol

/// Reports what sounds, and when that changes. The schedule decides it, not what was produced or sent.
extension GroupSession {
  /// A client that wants the position reported at an interval.
  struct Observation {
    let interval: Nanoseconds
    var next: LocalTime?
  }

  func soundingItem(at now: LocalTime) -> OpenedItem? {
    guard !isStopped(at: now) else { return nil }
    return timeline.segment(at: mediaTime(at: now))?.opened
  }

  func position(at now: LocalTime) -> MediaDuration {
    let playhead = mediaTime(at: now)
    guard !isStopped(at: now), let segment = timeline.segment(at: playhead) else { return .zero }
    return max(.zero, segment.opened.position(after: playhead - segment.start))
  }

  /// Returns how far production has come in the sounding item, and whether that is all of it.
  func arrival(at now: LocalTime) -> (position: MediaDuration, isAll: Bool)? {
    let playhead = mediaTime(at: now)
    guard !isStopped(at: now), let segment = timeline.segment(at: playhead) else { return nil }
    let next = timeline.segments.first { $0.start > segment.start && !$0.continuesItem }
    let end = max(segment.start, next?.start ?? store.end ?? segment.start)
    return (
      max(.zero, segment.opened.position(after: end - segment.start)),
      next.map { !$0.isChosen } ?? production.hasEndedItem
    )
  }

  /// Returns the position to which a seek goes that is not heard yet; nil if there is none.
  func target(at now: LocalTime) -> MediaDuration? {
    guard let aim = aim(at: now) else { return nil }
    guard let sounding = soundingItem(at: now) else {
      return aim.position > .zero ? aim.position : nil
    }
    let here = position(at: now)
    return aim.item == sounding.item && aim.position == here ? nil : aim.position
  }

  /// True if there is no current item: everything has sounded, and nothing is on its way.
  func isStopped(at now: LocalTime) -> Bool {
    if let end = timeline.end { return mediaTime(at: now) >= end }
    if case .notBegun = production.stage { return isHalted || playlist.first == nil }
    return false
  }

  /// Emits events for items that have begun and ended, and handles the end of the list.
  mutating func announce(at now: LocalTime) {
    let time = GroupTime(ofSender: now)
    let playhead = timeline.playhead(at: time)
    if timeline.isSounding(at: time) {
      for segment in timeline.segmentsBegun(by: playhead) { announce(segment) }
      observePosition(at: now)
    }
    guard let end = timeline.end, playhead >= end, toldEnd != timeline.generation else { return }
    switch timeline.state {
    case .paused: break
    case .playing, .holding: announceEnd(at: end, now: now)
    case .starting:
      // No item of the list could be played.
      if configuration.endsWithPlaylist { finish(at: now) }
    }
  }

  private mutating func announce(_ segment: PlaybackTimeline.Segment) {
    let opened = segment.opened
    guard !segment.continuesItem else { return emit(.event(.itemDescribed(opened))) }
    if let startedItem, !segment.isChosen { emit(.event(.itemEnded(startedItem))) }
    let isSeek = segment.isChosen && opened.item == startedItem && opened.position > .zero
    if !isSeek { emit(.event(.itemStarted(opened))) }
    startedItem = opened.item
  }

  private mutating func announceEnd(at end: MediaTime, now: LocalTime) {
    // An item that was cut off has not come to its end.
    let isWhole = production.cut == nil || timeline.cuts.last?.isRamped == false
    if let startedItem, isWhole { emit(.event(.itemEnded(startedItem))) }
    startedItem = nil
    guard !configuration.endsWithPlaylist else { return finish(at: now + .milliseconds(50)) }
    if !configuration.holdsAtCuts {
      // Other groups keep the same time, so it runs on.
      toldEnd = timeline.generation
    } else if let anchor = timeline.stop(at: end) {
      tellAll(.anchor(anchor), at: now)
    }
    emit(.event(.stopped))
  }

  private mutating func observePosition(at now: LocalTime) {
    guard let observation, observation.next ?? now <= now else { return }
    self.observation?.next = now + observation.interval
    guard let item = soundingItem(at: now) else { return }
    emit(.event(.position(item.item, position(at: now))))
  }

  /// The next time at which something happens without an input: an item begins to sound, the last one
  /// ends, or a position is due.
  var nextBoundary: LocalTime? {
    guard finishTime == nil else { return nil }
    let next = [
      timeline.nextSegmentStart.flatMap { timeline.groupTime(passing: $0) }, endTime,
    ].compactMap { $0 }.min()
    // Group times are rounded down: one nanosecond later the event has certainly happened.
    return [next.map { LocalTime(onSender: $0) + Nanoseconds(1) }, nextPosition]
      .compactMap { $0 }.min()
  }

  private var endTime: GroupTime? {
    switch timeline.state {
    case .starting, .paused: nil
    case .playing, .holding:
      toldEnd == timeline.generation ? nil : timeline.end.flatMap { timeline.groupTime(of: $0) }
    }
  }

  private var nextPosition: LocalTime? {
    guard let observation, case .playing(let anchor) = timeline.state else { return nil }
    let begun = LocalTime(onSender: anchor.groupTime) + Nanoseconds(1)
    return observation.next.map { max($0, begun) } ?? begun
  }
}
