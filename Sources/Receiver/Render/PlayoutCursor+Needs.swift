package import Clock

extension PlayoutCursor {
  /// The stream position of the next frame; nil while nothing sounds.
  package var soundingPosition: StreamPosition? {
    @_noLocks @_noAllocation get {
      if case .silent = state.mode { return nil }
      return state.position
    }
  }

  /// The position that sounds next or, before the start, first; nil while that is not known.
  package var playhead: StreamPosition? {
    @_noLocks @_noAllocation get {
      if let position = soundingPosition { return position }
      guard let now = scheduleTime(of: next) else { return nil }
      if let active = anchors.inForce(at: now + roundingSlack) {
        return grid.position(of: active, at: now)
      }
      guard let waiting = waitingAnchor else { return nil }
      return grid.position(of: waiting.mediaTime)
    }
  }

  /// The anchor in force at the next frame.
  package var activeAnchor: Anchor? {
    @_noLocks @_noAllocation get {
      guard let now = scheduleTime(of: next) else { return nil }
      return anchors.inForce(at: now + roundingSlack)
    }
  }
  package var waitingAnchor: Anchor? {
    @_noLocks @_noAllocation get {
      guard let now = scheduleTime(of: next) else { return nil }
      return anchors.next(after: now + roundingSlack)
    }
  }

  /// Forgets runs that cannot be rendered again. Returns the oldest frame that can.
  @_noLocks @_noAllocation
  package mutating func forgetHeard() -> Int64 {
    let oldest = oldestFrame
    history.forget(before: oldest)
    return oldest
  }

  /// Number of stream positions that `neededFrame` knows.
  package var neededFrameCount: Int {
    @_noLocks @_noAllocation get { history.count + anchors.count + 1 }
  }

  /// Returns a stream frame from which on frames may be needed: the start of a stretch that may be rendered again, the
  /// playhead, or the start of a waiting anchor. `oldest` is `oldestFrame`.
  @_noLocks @_noAllocation
  package func neededFrame(_ index: Int, oldest: Int64) -> Int64? {
    if index < history.count {
      guard history[index].sounds(after: oldest) else { return nil }
      if index > 0, history[index - 1].sounds(after: oldest),
        history[index].continues(history[index - 1])
      {
        return nil
      }
      return history[index].state.position.frame
    }
    guard index > history.count else { return playhead?.frame }
    let waiting = index - history.count - 1
    guard waiting < anchors.count, let now = scheduleTime(of: oldest) else { return nil }
    let anchor = anchors[waiting]
    return now < anchor.groupTime ? grid.position(of: anchor.mediaTime).frame : nil
  }
}
