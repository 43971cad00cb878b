package import Clock

/// The anchor in force and those that wait, by group time. At most five, so they are stored in place.
package struct AnchorSchedule: Sendable {
  /// One anchor in force and four that wait, as docs/protocol/flush.md demands.
  private static var capacity: Int { @_noLocks @_noAllocation get { 5 } }

  private var anchors = InlineArray<5, Anchor?>(repeating: nil)
  package private(set) var count = 0

  @_noLocks @_noAllocation
  package init() {}

  /// Nil for `index` ≥ `count`.
  package subscript(index: Int) -> Anchor? {
    @_noLocks @_noAllocation get { index < count ? anchors[index] : nil }
  }

  /// Returns the last anchor that begins at or before `time`.
  @_noLocks @_noAllocation
  package func active(at time: GroupTime) -> Anchor? {
    var found: Anchor?
    for i in 0..<count {
      if let anchor = self[i], anchor.groupTime <= time { found = anchor }
    }
    return found
  }

  /// Returns the first anchor that begins after `time`.
  @_noLocks @_noAllocation
  package func next(after time: GroupTime) -> Anchor? {
    for i in 0..<count {
      if let anchor = self[i], time < anchor.groupTime { return anchor }
    }
    return nil
  }

  /// Removes the anchors that begin at or after the new one, and appends it. If there is no space, the
  /// oldest anchor goes if it is no longer in force at `now`, else the last waiting one.
  ///
  /// - Returns: The first group time at which the schedule changed.
  @_noLocks @_noAllocation
  package mutating func insert(_ anchor: Anchor, now: GroupTime?) -> GroupTime {
    var changed = anchor.groupTime
    while count > 0, let last = self[count - 1], last.groupTime >= anchor.groupTime { count -= 1 }
    forgetPast(at: now)
    if count == Self.capacity, let last = self[count - 1] {
      if last.groupTime < changed { changed = last.groupTime }
      count -= 1
    }
    anchors[count] = anchor
    count += 1
    return changed
  }

  @_noLocks @_noAllocation
  package mutating func removeAll() { count = 0 }

  /// Drops each anchor whose successor began at or before `now`.
  @_noLocks @_noAllocation
  private mutating func forgetPast(at now: GroupTime?) {
    guard let now else { return }
    while count > 1, let second = self[1], second.groupTime <= now {
      for i in 1..<count { anchors[i - 1] = anchors[i] }
      count -= 1
    }
  }
}
