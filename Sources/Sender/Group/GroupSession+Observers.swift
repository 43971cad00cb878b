import Clock
import WireProtocol

/// Reports what sounds, and when that changes. The schedule decides it, not what was produced or sent.
extension GroupSession {
  /// State of the reports to those who follow what sounds.
  struct Observers {
    /// The item that sounds, as it was announced.
    var item: PlayItem?
    /// The generation whose end was announced, if media time runs on behind it.
    var endedGeneration: UInt32?
    /// Interval at which the position is reported, and the next time; nil if nobody wants it.
    fileprivate var position: (interval: Nanoseconds, next: LocalTime?)?

    /// Shortest interval of reports. It bounds the events of a client that asks for too many.
    private static let shortestInterval = Nanoseconds.milliseconds(10)

    mutating func observePosition(every interval: Nanoseconds?) {
      position = interval.map { (max($0, Self.shortestInterval), nil) }
    }
  }

  /// Time after the last frame until the rooms are released: it has sounded in all of them by then.
  private static let endMargin = Nanoseconds.milliseconds(50)

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
    guard let end = timeline.end, isOver(at: playhead, end),
      observers.endedGeneration != timeline.generation
    else {
      return
    }
    switch timeline.state {
    case .paused: break
    case .playing, .holding: announceEnd(at: end, now: now)
    case .starting:
      // No item of the list could be played.
      if configuration.endsWithPlaylist { finish(at: now) }
    }
  }

  /// True if all has sounded before `end`. Where the rooms stand still for more, a part of a frame is nothing to play.
  private func isOver(at playhead: MediaTime, _ end: MediaTime) -> Bool {
    if case .holding = timeline.state { return playhead + PlaybackTimeline.longestFrame > end }
    return playhead >= end
  }

  mutating func announce(_ segment: PlaybackTimeline.Segment) {
    let opened = segment.opened
    guard !segment.continuesItem else { return emit(.event(.itemDescribed(opened))) }
    if let item = observers.item, !segment.isChosen { emit(.event(.itemEnded(item))) }
    let isSeek = segment.isChosen && opened.item == observers.item && opened.position > .zero
    if !isSeek { emit(.event(.itemStarted(opened))) }
    observers.item = opened.item
  }

  private mutating func announceEnd(at end: MediaTime, now: LocalTime) {
    // An item that was cut off has not come to its end.
    let isWhole = production.cut == nil || timeline.cuts.last?.isRamped == false
    if let item = observers.item, isWhole { emit(.event(.itemEnded(item))) }
    observers.item = nil
    guard !configuration.endsWithPlaylist else { return finish(at: now + Self.endMargin) }
    if !configuration.holdsAtCuts {
      // Other groups keep the same time, so it runs on.
      observers.endedGeneration = timeline.generation
    } else if let anchor = timeline.stop(at: end) {
      tellAll(.anchor(anchor), at: now)
    }
    emit(.event(.stopped))
  }

  private mutating func observePosition(at now: LocalTime) {
    guard let position = observers.position, position.next ?? now <= now else { return }
    observers.position?.next = now + position.interval
    guard let item = soundingItem(at: now) else { return }
    emit(.event(.position(item.item, self.position(at: now))))
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
      observers.endedGeneration == timeline.generation
        ? nil : timeline.end.flatMap { timeline.groupTime(of: $0) }
    }
  }

  private var nextPosition: LocalTime? {
    guard let position = observers.position, case .playing(let anchor) = timeline.state else {
      return nil
    }
    let begun = LocalTime(onSender: anchor.groupTime) + Nanoseconds(1)
    return position.next.map { max($0, begun) } ?? begun
  }
}
