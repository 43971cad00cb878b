package import Clock

// MARK: - Commands

extension PlayoutCursor {
  /// Takes an anchor. Returns the first device frame to render again, or a frame at or after `next` if there is
  /// none.
  @_noLocks @_noAllocation
  package mutating func schedule(_ anchor: Anchor) -> Int64 {
    guard anchor.isPlausible else { return next }
    let changed = anchors.insert(anchor, now: scheduleTime(of: oldestFrame))
    guard case .some = scheduleTime(of: next) else { return next }
    return max(oldestFrame, firstFrame(from: changed) - fadeFrames)
  }

  @_noLocks @_noAllocation
  package mutating func forgetSchedule() -> Int64 {
    anchors.removeAll()
    estimate = nil
    return oldestFrame
  }

  /// Takes a clock estimate. Returns the same as `schedule`.
  @_noLocks @_noAllocation
  package mutating func adopt(_ estimate: ClockEstimate, isStep: Bool) -> Int64 {
    guard estimate.isPlausible else { return next }
    var isFirst = false
    if case .none = self.estimate { isFirst = true }
    self.estimate = estimate
    guard isStep || isFirst else { return firstOutdatedFrame }
    scheduleWasMoved = true
    return oldestFrame
  }

  /// The first frame whose rendering by an older estimate is not worth keeping. A start that is not heard yet is
  /// placed anew each time; later, a large error is corrected from now on, not after all frames that are written
  /// ahead.
  private var firstOutdatedFrame: Int64 {
    @_noLocks @_noAllocation get {
      guard case .following = state.mode, let anchor = state.anchor,
        let now = scheduleTime(of: next)
      else { return next }
      let oldest = oldestFrame
      if state.startedAt > oldest { return state.startedAt - 1 }
      let error = error(to: anchor, at: now)
      guard error.magnitude > RateController.outdatedError else { return next }
      // Rendering again would change nothing if the written frames hold no change of the rate and would get none
      // now.
      return state.steeredAt < oldest && !maySteer(by: error) ? next : oldest
    }
  }

  /// Sets the room's delay. Returns the same as `schedule`.
  @_noLocks @_noAllocation
  package mutating func setDelay(_ delay: Nanoseconds) -> Int64 {
    guard delay.count.magnitude < 1 << 40, delay.count != self.delay.count else { return next }
    self.delay = delay
    scheduleWasMoved = true
    return oldestFrame
  }

  /// Returns the same as `schedule`: once the card's clock has settled, the frames rendered before that are
  /// rendered again.
  @_noLocks @_noAllocation
  package mutating func takeSettling() -> Int64 {
    guard renderClock.isSettled else {
      wasSettled = false
      return next
    }
    guard !wasSettled else { return next }
    wasSettled = true
    return oldestFrame
  }
}

// MARK: - Going back

extension PlayoutCursor {
  /// The oldest device frame that can be rendered again.
  package var oldestFrame: Int64 {
    @_noLocks @_noAllocation get {
      let known = history.count > 0 ? history[0].first : next
      return min(next, max(known, max(heard + reach, next - rewindFrames)))
    }
  }

  /// Makes `frame` the next frame to render. If it is too long ago to know what sounded there, playback starts
  /// anew.
  @_noLocks @_noAllocation
  package mutating func rewind(to frame: Int64) {
    guard frame < next else {
      if frame > next { restart(at: frame) }
      return
    }
    next = frame
    state = history.cut(at: frame) ?? PlayoutState()
    // A fade in progress is undone or planned again, whichever is right now.
    if case .ending(let end) = state.mode {
      state.mode = .following
      state.startedAt = max(state.startedAt, frame - max(0, end - frame))
    }
  }

  @_noLocks @_noAllocation
  private mutating func restart(at frame: Int64) {
    next = frame
    heard = frame
    state = PlayoutState()
    history.removeAll()
  }

  /// Moves on in silence, with nothing to render again: for a cursor that has nothing to follow.
  @_noLocks @_noAllocation
  package mutating func stayIdle(until frame: Int64) { restart(at: frame) }

  /// Restarts at `frame`: the card plays from there on, at a time that is not known yet.
  @_noLocks @_noAllocation
  package mutating func deviceRestarted(at frame: Int64) {
    renderClock.rephase()
    restart(at: frame)
  }

  @_noLocks @_noAllocation
  package mutating func observe(
    _ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds
  ) {
    _ = renderClock.observe(frame, at: time, uncertainty: uncertainty)
    heard = min(max(heard, frame.index), next)
  }

  /// Returns the first unheard device frame that plays stream frame `streamFrame` or a later one; `next` if none
  /// was rendered.
  @_noLocks @_noAllocation
  package func firstFrame(playing streamFrame: Int64) -> Int64 {
    let oldest = oldestFrame
    for i in 0..<history.count {
      let entry = history[i]
      if case .silent = entry.state.mode { continue }
      let distance = StreamPosition(frame: streamFrame) - entry.state.position
      let offset = max(0, floorOf(min(distance / entry.state.step, 1e15)))
      guard offset < entry.count, entry.first + entry.count > oldest else { continue }
      return max(oldest, entry.first + offset)
    }
    return next
  }
}

extension Anchor {
  /// Does what `==` does, in a form that the render thread may call.
  @_noLocks @_noAllocation
  func isSame(as other: Anchor?) -> Bool {
    guard let other, mediaTime.flicks == other.mediaTime.flicks,
      groupTime.nanoseconds == other.groupTime.nanoseconds
    else { return false }
    switch (rate, other.rate) {
    case (.paused, .paused), (.playing, .playing): return true
    case (.paused, .playing), (.playing, .paused): return false
    }
  }

  /// True if arithmetic with the anchor cannot overflow: it is within 36 years of the origins.
  var isPlausible: Bool {
    @_noLocks @_noAllocation get {
      mediaTime.flicks.magnitude < 1 << 60 && groupTime.nanoseconds.magnitude < 1 << 60
    }
  }
}

extension ClockEstimate {
  var isPlausible: Bool {
    @_noLocks @_noAllocation get {
      local.nanoseconds.magnitude < 1 << 60 && group.nanoseconds.magnitude < 1 << 60
        && drift.magnitude < 0.01
    }
  }
}
