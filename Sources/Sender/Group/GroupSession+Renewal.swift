package import Clock
import WireProtocol

/// Taking an item from its source again, in the middle of it: what a program has enqueued was changed.
extension GroupSession {
  /// The item that was begun last, from `position` on. Returns from where really.
  mutating func renew(from position: MediaDuration, at now: LocalTime) -> MediaDuration {
    // Nothing behind its place was taken from the source yet.
    if let target = restart.target { return max(position, target.position) }
    guard let begun else { return position }
    return renew(begun, from: begun.start + begun.opened.span(to: position), at: now)
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
    guard let begun else { return nil }
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

  private mutating func renew(
    _ begun: Begun, from asked: MediaTime, at now: LocalTime
  ) -> MediaDuration {
    let time = max(asked, timeline.cutTime(by: commitTime(at: now)))
    let from = max(.zero, begun.opened.position(after: time - begun.start))
    makeAnew(
      .init(item: begun.opened.item, position: from, start: time, isChosen: true), from: time,
      after: nil, isRamped: time > asked, at: now)
    return from
  }

  /// The item that was begun last, or the last part of it.
  private var begun: Begun? {
    if case .beginning(let beginning) = production.stage {
      let opened = OpenedItem(
        item: beginning.item, duration: nil, position: beginning.position, isSeekable: true,
        metadata: ItemMetadata())
      return Begun(opened: opened, start: beginning.start)
    }
    return timeline.segments.last.map { Begun(opened: $0.opened, start: $0.start) }
  }
}
