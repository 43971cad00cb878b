/// Maps media time to group time: `mediaTime` sounds at `groupTime`. Play, pause, seek and resume each
/// make a new anchor. An anchor takes effect at its `groupTime` and is in force until the next one.
package struct Anchor: Hashable, Sendable {
  package enum Rate: Sendable {
    /// Media time stands still at `mediaTime`; nothing sounds.
    case paused
    /// Media time runs as group time does.
    case playing
  }

  package var mediaTime: MediaTime
  package var groupTime: GroupTime
  package var rate: Rate

  @_noLocks @_noAllocation
  package init(mediaTime: MediaTime, groupTime: GroupTime, rate: Rate) {
    self.mediaTime = mediaTime
    self.groupTime = groupTime
    self.rate = rate
  }

  /// True if this anchor takes the place of `other`, which begins with it or later.
  @_noLocks @_noAllocation
  package func replaces(_ other: Anchor) -> Bool { groupTime <= other.groupTime }

  /// Returns the media time that sounds at `time`, if this anchor is in force then. Before `groupTime`,
  /// when it is not in force yet, a playing anchor is extended backwards.
  @_noLocks @_noAllocation
  package func mediaTime(at time: GroupTime) -> MediaTime {
    switch rate {
    case .paused: mediaTime
    case .playing: mediaTime + MediaDuration(time - groupTime)
    }
  }

  /// Returns the group time at which `time` sounds; `nil` if the anchor is paused.
  @_noLocks @_noAllocation
  package func groupTime(of time: MediaTime) -> GroupTime? {
    switch rate {
    case .paused: nil
    case .playing: groupTime + Nanoseconds(time - mediaTime)
    }
  }
}
