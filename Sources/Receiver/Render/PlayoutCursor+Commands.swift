package import Clock

// MARK: - Commands

extension PlayoutCursor {
  /// Answers the first device frame that has to be rendered again; at or after `next` for none.
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

  /// Answers as `schedule` does.
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

  /// What was rendered by an older estimate and is not worth keeping. A beginning that is not heard yet is placed
  /// anew each time; later, a large error is steered away from now on, not behind all that is written ahead.
  private var firstOutdatedFrame: Int64 {
    @_noLocks @_noAllocation get {
      guard case .following = state.mode, let anchor = state.anchor,
        let now = scheduleTime(of: next)
      else { return next }
      let oldest = oldestFrame
      if state.startedAt > oldest { return state.startedAt - 1 }
      let error = error(to: anchor, at: now)
      guard error.magnitude > RateController.outdatedError else { return next }
      // Where the rate was not set in what is written ahead, and would not be by now, all would be as it is.
      return state.steeredAt < oldest && !maySteer(by: error) ? next : oldest
    }
  }

  /// Answers as `schedule` does.
  @_noLocks @_noAllocation
  package mutating func setDelay(_ delay: Nanoseconds) -> Int64 {
    guard delay.count.magnitude < 1 << 40, delay.count != self.delay.count else { return next }
    self.delay = delay
    scheduleWasMoved = true
    return oldestFrame
  }

  /// Answers as `schedule` does: what was rendered while nothing was known of the card's clock.
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
  /// The oldest device frame that could be rendered again.
  package var oldestFrame: Int64 {
    @_noLocks @_noAllocation get {
      let known = history.count > 0 ? history[0].first : next
      return min(next, max(known, max(heard, next - rewindFrames)))
    }
  }

  /// The next frame to render is `frame`. Where it is too long ago to know what sounded there, playback begins
  /// anew.
  @_noLocks @_noAllocation
  package mutating func rewind(to frame: Int64) {
    guard frame < next else {
      if frame > next { restart(at: frame) }
      return
    }
    next = frame
    state = history.cut(at: frame) ?? PlayoutState()
    // A fade that was under way is taken back or planned again, whichever is right now.
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

  /// The card plays from `frame` on, and nothing is known of when it does.
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

  /// The first device frame, not heard yet, that plays stream frame `streamFrame` or a later one; `next` if none
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
  /// `==` that is accepted on the render thread.
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

  /// Whether arithmetic with it cannot overflow: within 36 years of the origins.
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
