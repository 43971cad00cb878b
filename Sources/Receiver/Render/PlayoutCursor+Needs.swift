package import Clock

extension PlayoutCursor {
  /// What the next frame plays; nil while nothing sounds.
  package var soundingPosition: StreamPosition? {
    @_noLocks @_noAllocation get {
      if case .silent = state.mode { return nil }
      return state.position
    }
  }

  /// What sounds next or, before it begins, first; nil while that is not known.
  package var playhead: StreamPosition? {
    @_noLocks @_noAllocation get {
      if let position = soundingPosition { return position }
      guard let now = scheduleTime(of: next) else { return nil }
      if let active = anchors.active(at: now + roundingSlack) {
        return grid.position(of: active, at: now)
      }
      guard let waiting = waitingAnchor else { return nil }
      return grid.position(of: waiting.mediaTime)
    }
  }

  /// The anchor that holds at the next frame, and the first that comes after it.
  package var activeAnchor: Anchor? {
    @_noLocks @_noAllocation get {
      guard let now = scheduleTime(of: next) else { return nil }
      return anchors.active(at: now + roundingSlack)
    }
  }
  package var waitingAnchor: Anchor? {
    @_noLocks @_noAllocation get {
      guard let now = scheduleTime(of: next) else { return nil }
      return anchors.next(after: now + roundingSlack)
    }
  }

  /// Forgets what cannot be rendered again, and answers the oldest frame that can.
  @_noLocks @_noAllocation
  package mutating func forgetHeard() -> Int64 {
    let oldest = oldestFrame
    history.forget(before: oldest)
    return oldest
  }

  /// How many places of the stream `neededFrame` knows.
  package var neededFrameCount: Int {
    @_noLocks @_noAllocation get { history.count + anchors.count + 1 }
  }

  /// A stream frame from which on frames may be needed: of each stretch that may be rendered again, what comes next, and
  /// what a waiting anchor begins with. `oldest` is `oldestFrame`.
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
    guard let anchor = anchors[index - history.count - 1], let now = scheduleTime(of: oldest)
    else { return nil }
    return now < anchor.groupTime ? grid.position(of: anchor.mediaTime).frame : nil
  }
}
