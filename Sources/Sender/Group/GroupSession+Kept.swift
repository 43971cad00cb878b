import Clock

/// A station whose last hour is kept: people pause it, go back in it, and return to what it sends now.
extension GroupSession {
  /// Returns what is kept of an item; nil if nothing is.
  func kept(of opened: OpenedItem?) -> KeptStretch? {
    guard let opened, opened.isKept, let kept, kept.location == opened.item.location else {
      return nil
    }
    return kept.stretch
  }

  /// Goes to the beginning of the title, or to the title before it. Returns false if another item is wanted.
  mutating func skipBack(in kept: KeptStretch?, _ aim: Aim, at now: LocalTime) -> Bool {
    guard let kept, let title = kept.title(at: aim.position) else { return false }
    if aim.position - title >= Self.restartThreshold {
      goTo(aim.item, at: kept.place(near: title), now: now)
      return true
    }
    guard playlist.neighbour(before: aim.item) == nil else { return false }
    let before = kept.titles.last { $0 < title } ?? title
    goTo(aim.item, at: kept.place(near: before), now: now)
    return true
  }

  mutating func returnToLive(at now: LocalTime) throws(CommandRefusal) {
    guard let aim = aim(at: now) else { throw .nothingPlays }
    guard let kept = kept(of: aim.opened) else { throw .hasNoLive(aim.item) }
    goTo(aim.item, at: kept.live, now: now)
  }

  /// Where the station goes on that is produced, if what follows is not kept any more; else nil.
  var beginningOfKept: Production.Beginning? {
    guard let segment = timeline.segments.last, let kept = kept(of: segment.opened),
      let end = store.end, end > segment.start,
      segment.opened.position(after: end - segment.start) < kept.from
    else { return nil }
    return .init(
      item: segment.opened.item, position: kept.from, start: end, isChosen: false)
  }
}

extension OpenedItem {
  /// True for a station whose last hour is kept.
  package var isKept: Bool { supply == .live && isSeekable }
}

extension KeptStretch {
  /// Returns the kept position nearest to `position`. Zero is where a station is opened anew.
  func place(near position: MediaDuration) -> MediaDuration {
    max(MediaDuration(flicks: 1), min(max(position, from), live))
  }
}
