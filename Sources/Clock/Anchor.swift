/// Media time to group time: `mediaTime` sounds at `groupTime`. Play, pause, seek and resume are each a
/// new anchor. An anchor takes effect at its `groupTime` and holds until the next one does.
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

  /// The media time that sounds at `time`, if this anchor holds then. Before `groupTime`, where the
  /// anchor does not hold yet, a playing anchor is extended backwards.
  @_noLocks @_noAllocation
  package func mediaTime(at time: GroupTime) -> MediaTime {
    switch rate {
    case .paused: mediaTime
    case .playing: mediaTime + MediaDuration(time - groupTime)
    }
  }

  /// The group time at which `time` sounds; `nil` where a paused anchor never lets it.
  @_noLocks @_noAllocation
  package func groupTime(of time: MediaTime) -> GroupTime? {
    switch rate {
    case .paused: nil
    case .playing: groupTime + Nanoseconds(time - mediaTime)
    }
  }
}
