import Clock
import WireProtocol

/// Applies edits while music plays. Compares what is enqueued with the list, keeps the longest part that still
/// matches, and continues production from the first media time that does not.
extension GroupSession {
  /// An item that was enqueued, or is about to be.
  private struct Link {
    let item: PlayItem
    let start: MediaTime
    /// Identities of the items between this one and the one before it that could not be played.
    let passed: Set<Int>
  }

  private enum Mismatch {
    /// The current item is not in the list any more.
    case current(PlayItem)
    /// Another item now follows `predecessor`, in the place of `link`.
    case link(Link, after: PlayItem, isLast: Bool)
  }

  mutating func apply(
    _ edit: PlaylistEdit, at now: LocalTime
  ) throws(CommandRefusal) -> CommandOutcome {
    let grown: Int? =
      switch edit {
      case .insert(let new, _): playlist.count + new.count
      case .replace(_, let new): playlist.count - 1 + new.count
      default: nil
      }
    if let grown, grown > Playlist.limit { throw .playlistIsFull }
    let current = aim(at: now)?.item ?? production.predecessor
    let firstID = playlist.nextID
    guard playlist.apply(edit, current: current) else { return .done }
    production.listChanged()
    restart.edited(at: now)
    emit(.event(.playlistChanged))
    return firstID < playlist.nextID ? .added(firstID..<playlist.nextID) : .done
  }

  /// Brings the enqueued audio into line with the list.
  mutating func reconcile(at now: LocalTime) {
    guard restart.takeEdit(at: now) else { return }
    production.wasEdited = false
    if let target = restart.target {
      if !playlist.contains(target.item.id) { goOn(after: target.item, at: now) }
    } else if let mismatch = firstMismatch(in: enqueued(at: now), at: now) {
      resolve(mismatch, at: now)
    } else {
      goOnAfterEnd(at: now)
    }
    forgetRemovedItems()
  }

  /// Returns the item that sounds, or was chosen to sound, and those that follow it.
  private func enqueued(at now: LocalTime) -> [Link] {
    let playhead = mediaTime(at: now)
    let segments = timeline.segments
    let first =
      segments.lastIndex { $0.isChosen && $0.start > playhead }
      ?? timeline.segmentIndex(at: playhead) ?? 0
    let enqueued = segments[min(first, segments.count)...]
    var links = enqueued.enumerated().filter { $0.offset == 0 || !$0.element.continuesItem }.map {
      Link(item: $0.element.opened.item, start: $0.element.start, passed: $0.element.passed)
    }
    if case .beginning(let next) = production.stage {
      if next.isChosen { links = [] }
      links.append(Link(item: next.item, start: next.start, passed: production.passed))
    }
    return links
  }

  private func firstMismatch(in chain: [Link], at now: LocalTime) -> Mismatch? {
    guard let current = chain.first else { return nil }
    if !playlist.contains(current.item.id), !isStopped(at: now) { return .current(current.item) }
    for index in chain.indices.dropFirst() {
      let (before, link) = (chain[index - 1].item, chain[index])
      if playlist.successor(of: before, passing: link.passed)?.id != link.item.id {
        return .link(link, after: before, isLast: index == chain.count - 1)
      }
    }
    return nil
  }

  private mutating func resolve(_ mismatch: Mismatch, at now: LocalTime) {
    switch mismatch {
    case .current(let item): goOn(after: item, at: now)
    case .link(let link, let predecessor, let isLast):
      if isLast, case .beginning = production.stage {
        // The producer is still opening this item; compare again after its answer.
        production.wasEdited = true
      } else if isLast, production.isIdle, case .item(isUnderWay: false) = production.stage {
        timeline.removeLastSegment()
        production.takeBack(to: link.start, after: predecessor, passing: [])
      } else {
        replace(from: link, after: predecessor, at: now)
      }
    }
  }

  /// The current item was removed: the next one takes its place at once.
  private mutating func goOn(after item: PlayItem, at now: LocalTime) {
    if !isHalted, let next = playlist.neighbour(after: item) {
      goTo(next, at: .zero, resumes: true, now: now)
    } else {
      halt(after: item, at: now)
    }
  }

  /// Another item follows `predecessor` now. It joins without a seam if there is time left until `predecessor`
  /// ends.
  private mutating func replace(from link: Link, after predecessor: PlayItem, at now: LocalTime) {
    let (time, fading) = replacement(
      after: fadingEnd(of: predecessor, before: link.start), at: link.start,
      notBefore: timeline.cutTime(by: commitTime(at: now)))
    let isLate = time > link.start
    let next = playlist.successor(of: predecessor)
    makeAnew(
      next.map {
        .init(
          item: $0, start: time, isChosen: isLate, fading: fading, resumes: resumes($0, at: time))
      }, from: time, after: predecessor, isRamped: isLate, holding: fading, at: now)
  }

  /// Items were added behind the end: the stream, marked as ended, continues there.
  private mutating func goOnAfterEnd(at now: LocalTime) {
    guard !isHalted else { return }
    switch production.stage {
    case .finishing: production.wasEdited = true
    case .finished:
      guard let end = timeline.end,
        let next = playlist.successor(of: production.predecessor, passing: production.passed)
      else { return }
      let last = production.predecessor.flatMap { fadingEnd(of: $0, before: end) }
      let (time, fading) = replacement(
        after: last, at: end, notBefore: timeline.cutTime(by: commitTime(at: now)))
      makeAnew(
        .init(
          item: next, start: time, isChosen: false, fading: fading,
          resumes: resumes(next, at: time)),
        from: time, after: production.predecessor, isRamped: time > end, at: now)
    case .notBegun, .beginning, .item, .itemEnded: break
    }
  }

  private mutating func forgetRemovedItems() {
    var needed = Set(timeline.segments.map(\.opened.item.id))
    needed.formUnion([production.predecessor, restart.target?.item].compactMap { $0?.id })
    if case .beginning(let beginning) = production.stage { needed.insert(beginning.item.id) }
    playlist.forgetRemoved { needed.contains($0) }
  }
}
