package import Clock
import WireProtocol

/// Takes an item from its source again, from the middle on, after a program has changed what it has enqueued.
extension GroupSession {
  /// Renews the item begun last from `position` on. Returns the position at which the new audio begins.
  mutating func renew(from position: MediaDuration, at now: LocalTime) -> MediaDuration {
    // Nothing beyond its position was taken from the source yet.
    if let target = restart.target { return max(position, target.position) }
    let earliest = timeline.cutTime(by: commitTime(at: now))
    guard let begun = begun(holding: position, from: earliest) else { return position }
    let asked = begun.start + begun.opened.span(to: position)
    let time = max(asked, earliest)
    let from = place(at: time) ?? position
    makeAnew(
      .init(item: begun.opened.item, position: from, start: time, isChosen: true), from: time,
      after: nil, isRamped: time > asked, at: now)
    return from
  }

  /// Continues the item begun last at `position`, from the next cut on.
  mutating func restart(at position: MediaDuration, now: LocalTime) -> MediaDuration {
    let time = timeline.cutTime(by: commitTime(at: now))
    guard restart.target == nil, let item = begun(at: time)?.opened.item ?? playlist.first else {
      return position
    }
    makeAnew(
      .init(item: item, position: position, start: time, isChosen: true), from: time,
      after: nil, isRamped: true, at: now)
    return position
  }

  /// The generation of audio produced from now on.
  package var generation: UInt32 { timeline.generation }

  /// The generation of the audio that sounds.
  package func soundingGeneration(at now: LocalTime) -> UInt32 {
    timeline.generation(at: mediaTime(at: clock.continuous(now)))
  }

  /// Returns a position that sounds now, or as soon as time runs, with its time and with the rate in seconds of the
  /// item per second; nil if time stands still according to the last decision.
  package func running(
    at now: LocalTime
  ) -> (position: MediaDuration, time: LocalTime, rate: Double)? {
    guard case .playing(let anchor) = timeline.state else { return nil }
    let time = max(anchor.groupTime, clock.group(now))
    let mediaTime = anchor.mediaTime(at: time)
    guard let begun = begun(at: mediaTime) else { return nil }
    let position = begun.opened.position(after: mediaTime - begun.start)
    return (position, clock.machine(LocalTime(onSender: time)), begun.opened.rate)
  }

  /// Returns when time stands still according to the last decision; nil if it runs, or has never run.
  package var standing: LocalTime? {
    guard case .paused(let anchor) = timeline.state else { return nil }
    return clock.machine(LocalTime(onSender: anchor.groupTime))
  }

  /// Returns the position in the item at which a cut made now would take effect.
  package func cutPosition(at now: LocalTime) -> MediaDuration {
    place(at: timeline.cutTime(by: commitTime(at: clock.continuous(now)))) ?? .zero
  }

  /// Lets `position` sound at `time` with other effects. Unlike `change(to:)`, it does not depend on when production
  /// answers, so that several groups with the same order keep the same time.
  mutating func change(
    to effects: Effects, from position: MediaDuration, at time: GroupTime, now: LocalTime
  ) -> CommandOutcome {
    let asked = timeline.playhead(at: time)
    let time = max(asked, timeline.cutTime(by: commitTime(at: now)))
    let (here, place) = (begun(at: time), place(at: time))
    let isNew = effects != self.effects || here.map { $0.opened.rate != effects.rate } ?? false
    self.effects = effects
    // If another place is about to begin, or nothing plays, the effects apply to what begins next.
    guard isNew, restart.target == nil, let here, let place, !isStopped(at: now) else {
      return .done
    }
    var from = place
    if case .playing = timeline.state {
      from = position + (time - asked).scaled(by: effects.rate)
    }
    makeAnew(
      .init(item: here.opened.item, position: from, start: time, isChosen: true), from: time,
      after: nil,
      isRamped: true, isCrossed: true, at: now)
    return .renewed(from: from)
  }

  /// True if `cue` can go to `position`: time stands still before it.
  package func mayCue(to position: MediaDuration) -> Bool { cueTarget(of: position) != nil }

  /// Moves to a later place in the enqueued audio while time stands still. Rooms may hold audio before that place, and
  /// never play it. Audio behind it is kept.
  mutating func cue(to position: MediaDuration, at now: LocalTime) {
    guard let target = cueTarget(of: position) else { return }
    if let anchor = timeline.cue(to: target, at: commitTime(at: now)) {
      tellAll(.anchor(anchor), at: now)
    }
  }

  /// Returns the position at which the current item continues: the sounding one or, if time stands still or is about
  /// to, the next to sound.
  package func upcomingPosition(at now: LocalTime) -> MediaDuration {
    switch timeline.state {
    case .starting(let time): place(at: time) ?? .zero
    case .paused(let anchor): place(at: anchor.mediaTime) ?? .zero
    case .playing, .holding: position(at: clock.continuous(now))
    }
  }

  private func cueTarget(of position: MediaDuration) -> MediaTime? {
    guard let begun = begun(holding: position, from: timeline.nextStart) else { return nil }
    let target = begun.start + begun.opened.span(to: position)
    switch timeline.state {
    case .starting: return timeline.anchors.isEmpty ? max(begun.start, target) : nil
    case .paused(let anchor): return target > anchor.mediaTime ? target : nil
    case .playing, .holding: return nil
    }
  }

  private struct Begun {
    var opened: OpenedItem
    var start: MediaTime
  }

  /// Returns the position in the item at `time`; nil if no item was begun.
  private func place(at time: MediaTime) -> MediaDuration? {
    begun(at: time).map { max(.zero, $0.opened.position(after: time - $0.start)) }
  }

  /// Returns the last item that holds `position` among the one that sounds at `time` and those begun later. Earlier
  /// items may hold it too, but are past.
  private func begun(holding position: MediaDuration, from time: MediaTime) -> Begun? {
    let begun = begun
    let ahead = begun[(Self.index(at: time, in: begun) ?? 0)...]
    return ahead.last { $0.opened.position <= position } ?? ahead.first
  }

  private func begun(at time: MediaTime) -> Begun? {
    let begun = begun
    return Self.index(at: time, in: begun).map { begun[$0] } ?? begun.first
  }

  /// The same rule as in `PlaybackTimeline.segmentIndex`.
  private static func index(at time: MediaTime, in begun: [Begun]) -> Int? {
    begun.lastIndex { $0.start < time + PlaybackTimeline.longestFrame }
  }

  /// The items, and parts of items, that were begun. The last one may not be open yet.
  private var begun: [Begun] {
    var begun = timeline.segments.map { Begun(opened: $0.opened, start: $0.start) }
    if case .beginning(let beginning) = production.stage {
      var opened = OpenedItem(
        item: beginning.item, duration: nil, position: beginning.position, isSeekable: true,
        metadata: ItemMetadata())
      opened.rate = effects.rate
      begun.append(Begun(opened: opened, start: beginning.start))
    }
    return begun
  }
}
