/// The anchors of a schedule in the order of their times: the one in force, and those that wait. Senders, receivers and
/// output threads keep the same ones by the same rule.
package struct Anchors: RandomAccessCollection, Sendable {
  /// One anchor in force and four that wait, as docs/protocol/flush.md demands.
  package static var limit: Int { @_noLocks @_noAllocation get { 5 } }

  /// Stored in place. Those from `count` on mean nothing.
  private var anchors = InlineArray<5, Anchor>(
    repeating: Anchor(
      mediaTime: MediaTime(flicks: 0), groupTime: GroupTime(nanoseconds: 0), rate: .paused))
  package private(set) var count = 0

  @_noLocks @_noAllocation
  package init() {}

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(position: Int) -> Anchor {
    @_noLocks @_noAllocation get { anchors[position] }
  }

  // MARK: - What holds when

  /// Returns the last anchor that begins at or before `time`; nil if none has begun.
  @_noLocks @_noAllocation
  package func inForce(at time: GroupTime) -> Anchor? {
    var found: Anchor?
    for index in 0..<count where anchors[index].groupTime <= time { found = anchors[index] }
    return found
  }

  /// Returns the first anchor that begins after `time`.
  @_noLocks @_noAllocation
  package func next(after time: GroupTime) -> Anchor? {
    for index in 0..<count where time < anchors[index].groupTime { return anchors[index] }
    return nil
  }

  /// Returns the media time that sounds at `time`: before the first anchor, the one at which that begins; nil if there is
  /// no anchor.
  package func playhead(at time: GroupTime) -> MediaTime? {
    inForce(at: time)?.mediaTime(at: time) ?? first?.mediaTime
  }

  /// True if media time runs at `time`.
  package func isPlaying(at time: GroupTime) -> Bool { inForce(at: time)?.rate == .playing }

  // MARK: - Changes

  /// Appends an anchor in place of those that it replaces. If there are too many then, those go that are past at `now`,
  /// and else the last one that waits. If nobody knows what is past, the oldest goes.
  ///
  /// - Returns: The first group time at which the schedule changed.
  @_noLocks @_noAllocation
  @discardableResult
  package mutating func insert(_ anchor: Anchor, now: GroupTime? = nil) -> GroupTime {
    var changed = anchor.groupTime
    while count > 0, anchor.replaces(anchors[count - 1]) { count -= 1 }
    if let now {
      while count > 1, anchors[1].groupTime <= now { removeOldest() }
      if count == Self.limit { changed = removeLast().groupTime }
    } else if count == Self.limit {
      changed = removeOldest().groupTime
    }
    anchors[count] = anchor
    count += 1
    return changed
  }

  @_noLocks @_noAllocation
  package mutating func removeAll() { count = 0 }

  @_noLocks @_noAllocation
  private mutating func removeLast() -> Anchor {
    count -= 1
    return anchors[count]
  }

  @_noLocks @_noAllocation
  @discardableResult
  private mutating func removeOldest() -> Anchor {
    let oldest = anchors[0]
    for index in 1..<count { anchors[index - 1] = anchors[index] }
    count -= 1
    return oldest
  }
}
