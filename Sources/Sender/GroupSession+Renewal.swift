import Clock
import WireProtocol

/// Taking an item from its source again, in the middle of it: what a program has enqueued was changed.
extension GroupSession {
  /// The item that was begun last, from `position` on.
  mutating func renew(from position: MediaDuration, at now: LocalTime) {
    if let pendingRestart {
      // Nothing behind its place was taken from the source yet.
      let from = max(position, pendingRestart.position)
      return emit(.event(.renewed(pendingRestart.item, from: from)))
    }
    guard let begun else { return }
    renew(begun, from: begun.start + begun.opened.span(to: position), at: now)
  }

  /// Moves the beginning, where nothing has begun: rooms may hold what lies before it, and never play it.
  mutating func cue(to position: MediaDuration) {
    guard case .starting = timeline.state, timeline.anchors.isEmpty, let begun else { return }
    let span = max(.zero, begun.opened.span(to: position))
    timeline.cue(to: begun.start + span)
  }

  private struct Begun {
    var opened: OpenedItem
    var start: MediaTime
  }

  private mutating func renew(_ begun: Begun, from asked: MediaTime, at now: LocalTime) {
    let time = max(asked, timeline.cutTime(by: commitTime(at: now)))
    let from = max(.zero, begun.opened.position(after: time - begun.start))
    cut(from: time, after: nil, isRamped: time > asked, at: now)
    begin(begun.opened.item, at: from, from: time, continues: false, isChosen: true)
    emit(.event(.renewed(begun.opened.item, from: from)))
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
