package import Clock
import WireProtocol

/// Taking an item from its source again, in the middle of it: what a program has enqueued was changed.
extension GroupSession {
  /// The item that was begun last, from `position` on. Returns from where really.
  mutating func renew(from position: MediaDuration, at now: LocalTime) -> MediaDuration {
    // Nothing behind its place was taken from the source yet.
    if let target = restart.target { return max(position, target.position) }
    guard let begun = begun(holding: position) else { return position }
    let asked = begun.start + begun.opened.span(to: position)
    let time = max(asked, timeline.cutTime(by: commitTime(at: now)))
    let from = place(at: time) ?? position
    makeAnew(
      .init(item: begun.opened.item, position: from, start: time, isChosen: true), from: time,
      after: nil, isRamped: time > asked, at: now)
    return from
  }

  /// What sounds at `time` is `position`, with other effects. Unlike `change(to:)` nothing depends on when production
  /// answers: several groups that are told the same keep one time.
  mutating func change(
    to effects: Effects, from position: MediaDuration, at time: GroupTime, now: LocalTime
  ) -> CommandOutcome {
    let asked = timeline.playhead(at: time)
    let time = max(asked, timeline.cutTime(by: commitTime(at: now)))
    let (here, place) = (begun(at: time), place(at: time))
    let isNew = effects != self.effects || here.map { $0.opened.rate != effects.rate } ?? false
    self.effects = effects
    // Where another place is about to be begun, or nothing is, that is begun with them.
    guard isNew, restart.target == nil, let here, let place, !isStopped(at: now) else {
      return .done
    }
    var from = place
    if case .playing = timeline.state {
      let missed = Double((time - asked).flicks) * effects.rate
      from = position + MediaDuration(flicks: Int64(exactly: missed.rounded()) ?? 0)
    }
    makeAnew(
      .init(item: here.opened.item, position: from, start: time, isChosen: true), from: time,
      after: nil,
      isRamped: true, at: now)
    return .renewed(from: from)
  }

  /// Whether `cue` can go to this place: time stands still before it.
  package func mayCue(to position: MediaDuration) -> Bool { cueTarget(of: position) != nil }

  /// Goes to a later place in what is enqueued while time stands still. Rooms may hold what lies before it, and never
  /// play it. Nothing is forgotten that lies behind it.
  mutating func cue(to position: MediaDuration, at now: LocalTime) {
    guard let target = cueTarget(of: position) else { return }
    if let anchor = timeline.cue(to: target, at: commitTime(at: now)) {
      tellAll(.anchor(anchor), at: now)
    }
  }

  /// Where in the current item it goes on, as things stand: what sounds or, where time stands still or is about to,
  /// what will sound next.
  package func upcomingPosition(at now: LocalTime) -> MediaDuration {
    guard case .paused(let anchor) = timeline.state, !isStopped(at: now),
      let segment = timeline.segment(at: anchor.mediaTime)
    else { return position(at: now) }
    return max(.zero, segment.opened.position(after: anchor.mediaTime - segment.start))
  }

  private func cueTarget(of position: MediaDuration) -> MediaTime? {
    guard let begun = begun(holding: position) else { return nil }
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

  /// How far into the item it is at `time`; nil where nothing was begun.
  private func place(at time: MediaTime) -> MediaDuration? {
    begun(at: time).map { max(.zero, $0.opened.position(after: time - $0.start)) }
  }

  private func begun(holding position: MediaDuration) -> Begun? {
    begun.last { $0.opened.position <= position } ?? begun.first
  }

  private func begun(at time: MediaTime) -> Begun? {
    if let last = begun.last, last.start <= time { return last }
    return timeline.segment(at: time).map { Begun(opened: $0.opened, start: $0.start) }
  }

  /// The items, and parts of items, that were begun, the last of which may not be open yet.
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
