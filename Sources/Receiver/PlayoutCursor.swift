package import Clock

/// What sounds when: decides for each device frame which place of the stream sounds there, at which rate, and how
/// near the next silence is. It joins the three mappings: anchor, clock estimate and render clock. Render thread
/// only; it knows no samples, so a simulation can run it for days.
package struct PlayoutCursor: ~Copyable {
  package let grid: StreamGrid
  package var renderClock: RenderClock
  /// The next device frame to render.
  package private(set) var next: Int64 = 0
  /// The first device frame that may still be rendered again: those before it were heard.
  private var heard: Int64 = 0
  package private(set) var estimate: ClockEstimate?
  package private(set) var anchors = AnchorSchedule()
  /// Positive: sounds later.
  private var delay = Nanoseconds(0)
  private var state = PlayoutState()
  private var history = PlayoutHistory()
  /// The schedule was moved by other means than an anchor, so a small error is reason enough to jump.
  private var scheduleWasMoved = false
  /// Whether the render clock was settled when that was last asked.
  private var wasSettled = false
  /// Of the last run that followed an anchor.
  package private(set) var syncError = Nanoseconds(0)
  /// How often playback jumped because it was too far off to be steered.
  package private(set) var replacementCount: UInt32 = 0

  /// `sampleRate` is the device's, in Hz.
  package init(sampleRate: Int, device: RenderClock.DeviceClass, storedDrift: Double?) {
    grid = StreamGrid(sampleRate: sampleRate)
    renderClock = RenderClock(sampleRate: sampleRate, device: device, storedDrift: storedDrift)
  }

  /// Nobody goes back by more than this many frames: 750 ms, more than is written ahead to any sound card.
  package var rewindFrames: Int64 {
    @_noLocks @_noAllocation get { grid.sampleRate * 3 / 4 }
  }

  /// A fade in or out takes this many frames: 5 ms, long enough not to click, short enough to be exact.
  package var fadeFrames: Int64 {
    @_noLocks @_noAllocation get { grid.sampleRate / 200 }
  }
}

/// What a few consecutive device frames play.
package struct PlayoutRun: Sendable {
  package var first: Int64
  package var count: Int
  /// Nil for silence.
  package var sound: Sound?

  @_noLocks @_noAllocation
  init(first: Int64, count: Int) {
    self.first = first
    self.count = count
  }

  package struct Sound: Sendable {
    /// What the first frame plays.
    package var position: StreamPosition
    /// Stream frames a device frame.
    package var step: Double
    /// Device frames since the last silence, up to the run's first.
    package var framesSinceStart: Int64
    /// Device frames up to the next silence, from the run's first; `Int64.max` if none is in sight.
    package var framesToEnd: Int64

    @_noLocks @_noAllocation
    init(position: StreamPosition, step: Double, framesSinceStart: Int64, framesToEnd: Int64) {
      self.position = position
      self.step = step
      self.framesSinceStart = framesSinceStart
      self.framesToEnd = framesToEnd
    }
  }
}

// MARK: - Playing on

extension PlayoutCursor {
  /// Decides on the next frames, at most `limit` of them and at least one, and moves behind them.
  @_noLocks @_noAllocation
  package mutating func nextRun(atMost limit: Int) -> PlayoutRun {
    var limit = Int64(max(limit, 1))
    if case .ending(let end) = state.mode, end <= next { state.mode = .silent }
    var step = 1.0
    if let now = scheduleTime(of: next) {
      limit = min(limit, decide(at: now))
      step = followedStep(at: now)
    } else if case .following = state.mode {
      // The device clock has lost its place, so playback has to find a new one.
      _ = countReplacement()
      stopFollowing()
    }
    if case .ending(let end) = state.mode { limit = min(limit, end - next) }
    return commit(count: limit, step: step)
  }

  /// Chooses the mode at `next`, and answers how many frames it may last.
  @_noLocks @_noAllocation
  private mutating func decide(at now: GroupTime) -> Int64 {
    let active = anchors.active(at: now + roundingSlack)
    if case .following = state.mode, !continues(with: active, at: now) { stopFollowing() }
    if case .silent = state.mode, let active, case .playing = active.rate { place(active, at: now) }
    guard let boundary = nextBoundary(after: now, active: active) else { return .max }
    let distance = boundary.frame - next
    guard case .following = state.mode, let active, breaks(from: active, to: boundary.anchor)
    else { return distance }
    if distance > fadeFrames { return distance - fadeFrames }
    state.mode = .ending(end: max(boundary.frame, next + level))
    return distance
  }

  @_noLocks @_noAllocation
  private func nextBoundary(
    after now: GroupTime, active: Anchor?
  ) -> (anchor: Anchor, frame: Int64)? {
    guard let anchor = anchors.next(after: now + roundingSlack) else { return nil }
    return (anchor, max(next + 1, firstFrame(of: anchor)))
  }

  /// Begins to play exactly where the schedule is.
  @_noLocks @_noAllocation
  private mutating func place(_ anchor: Anchor, at now: GroupTime) {
    let start = grid.position(of: anchor.mediaTime)
    let scheduled = grid.position(of: anchor, at: now)
    state.mode = .following
    state.position = now < anchor.groupTime ? start : scheduled
    state.startedAt = next
    state.step = scheduledStep
    state.steeredAt = next
    state.anchor = anchor
    state.farSince = .max
    scheduleWasMoved = false
  }

  /// Whether playback can follow `active` from here, by steering; else it has to stop first.
  @_noLocks @_noAllocation
  private mutating func continues(with active: Anchor?, at now: GroupTime) -> Bool {
    guard let active, case .playing = active.rate else { return false }
    let seconds = error(to: active, at: now)
    let distance = seconds.magnitude
    if !active.isSame(as: state.anchor), distance > RateController.scheduleStep { return false }
    state.anchor = active
    if scheduleWasMoved {
      scheduleWasMoved = false
      if distance > RateController.scheduleStep { return countReplacement() }
    }
    guard distance > RateController.replacementError else {
      state.farSince = .max
      return true
    }
    state.farSince = min(state.farSince, next)
    let patience = Int64(RateController.replacementDelay * Double(grid.sampleRate))
    return next - state.farSince < patience ? true : countReplacement()
  }

  @_noLocks @_noAllocation
  private mutating func countReplacement() -> Bool {
    replacementCount &+= 1
    return false
  }

  /// Whether the schedule jumps or stops from one anchor to the next.
  @_noLocks @_noAllocation
  private func breaks(from active: Anchor, to following: Anchor) -> Bool {
    guard case .playing = following.rate else { return true }
    let jump =
      grid.position(of: active, at: following.groupTime) - grid.position(of: following.mediaTime)
    return jump.magnitude > RateController.scheduleStep * Double(grid.sampleRate)
  }

  /// From here on playback fades out, from as loud as it is.
  @_noLocks @_noAllocation
  private mutating func stopFollowing() {
    guard case .following = state.mode else { return }
    state.mode = level > 0 ? .ending(end: next + level) : .silent
  }

  /// How far playback has faded in, in frames up to `fadeFrames`.
  private var level: Int64 {
    @_noLocks @_noAllocation get { min(fadeFrames, next - state.startedAt) }
  }

  /// The step of a run that begins at `next`, steered if it follows an anchor.
  @_noLocks @_noAllocation
  private mutating func followedStep(at now: GroupTime) -> Double {
    switch state.mode {
    case .silent:
      return 1
    case .ending:
      return scheduledStep
    case .following:
      guard let anchor = state.anchor else { return 1 }
      let seconds = error(to: anchor, at: now)
      syncError = Nanoseconds(Int64(min(max(seconds, -1e3), 1e3) * 1e9))
      let time = RateController.time(
        forError: seconds, doubt: clockDoubt, watched: renderClock.observedSeconds)
      let wanted = scheduledStep * (1 - RateController.slowdown(forError: seconds, time: time))
      let elapsed = Double(next - state.steeredAt) / Double(grid.sampleRate)
      state.step = RateController.step(
        from: state.step, to: wanted, error: seconds, seconds: elapsed, time: time)
      state.steeredAt = next
      return state.step
    }
  }

  @_noLocks @_noAllocation
  private mutating func commit(count: Int64, step: Double) -> PlayoutRun {
    let count = max(count, 1)
    history.append(PlayoutHistory.Entry(first: next, count: count, step: step, state: state))
    var run = PlayoutRun(first: next, count: Int(count))
    switch state.mode {
    case .silent: break
    case .following: run.sound = sound(step: step, framesToEnd: .max)
    case .ending(let end): run.sound = sound(step: step, framesToEnd: end - next)
    }
    if case .some = run.sound { state.position = state.position.advanced(by: Double(count) * step) }
    next += count
    return run
  }

  @_noLocks @_noAllocation
  private func sound(step: Double, framesToEnd: Int64) -> PlayoutRun.Sound {
    PlayoutRun.Sound(
      position: state.position, step: step, framesSinceStart: next - state.startedAt,
      framesToEnd: framesToEnd)
  }
}

// MARK: - The mappings

extension PlayoutCursor {
  /// An anchor holds from the device frame on that meets it. Times are whole nanoseconds, so a frame that comes
  /// a thousandth of its length too early counts as meeting it.
  private var roundingSlack: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(20) }
  }

  /// The group time of the schedule at which `frame` sounds here; nil while a mapping is missing.
  @_noLocks @_noAllocation
  package func scheduleTime(of frame: Int64) -> GroupTime? {
    guard let estimate, renderClock.isSettled else { return nil }
    return estimate.groupTime(of: renderClock.localTime(of: DeviceFrame(frame))) - delay
  }

  /// The first device frame at which `anchor` holds.
  @_noLocks @_noAllocation
  private func firstFrame(of anchor: Anchor) -> Int64 { firstFrame(from: anchor.groupTime) }

  @_noLocks @_noAllocation
  private func firstFrame(from time: GroupTime) -> Int64 {
    guard let estimate, renderClock.isSettled else { return next }
    let local = estimate.localTime(of: time + delay - roundingSlack)
    return -floorOf(-renderClock.frame(at: local))
  }

  /// Stream frames that pass in a device frame when both clocks are as estimated. No crystals are 1 % apart; the
  /// limit keeps a broken estimate from asking for more frames than there is room for.
  private var scheduledStep: Double {
    @_noLocks @_noAllocation get {
      min(max((1 + (estimate?.drift ?? 0)) / (1 + renderClock.drift), 0.99), 1.01)
    }
  }

  /// What the estimate of the group's clock is off as a rule, in seconds: its bound is three deviations and more.
  private var clockDoubt: Double {
    @_noLocks @_noAllocation get { Double(estimate?.errorBound.count ?? 0) * 1e-9 / 5 }
  }

  /// Of `next`, in seconds; positive is early.
  @_noLocks @_noAllocation
  private func error(to anchor: Anchor, at now: GroupTime) -> Double {
    (state.position - grid.position(of: anchor, at: now)) / Double(grid.sampleRate)
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
      let offset = max(0, floorOf(min(distance / entry.step, 1e15)))
      guard offset < entry.count, entry.first + entry.count > oldest else { continue }
      return max(oldest, entry.first + offset)
    }
    return next
  }
}

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
  package mutating func unschedule() -> Int64 {
    anchors.removeAll()
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
      return error(to: anchor, at: now).magnitude > RateController.outdatedError ? oldest : next
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

// MARK: - What is needed

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

  /// How many places of the stream `neededFrame` knows.
  package var neededFrameCount: Int {
    @_noLocks @_noAllocation get { history.count + anchors.count + 1 }
  }

  /// A stream frame from which on frames may be needed: of each stretch that may be rendered again, what comes next, and
  /// what a waiting anchor begins with.
  @_noLocks @_noAllocation
  package func neededFrame(_ index: Int) -> Int64? {
    if index < history.count {
      let entry = history[index]
      guard entry.sounds(after: oldestFrame) else { return nil }
      if index > 0, history[index - 1].sounds(after: oldestFrame),
        entry.continues(history[index - 1])
      {
        return nil
      }
      return entry.state.position.frame
    }
    guard index > history.count else { return playhead?.frame }
    guard let anchor = anchors[index - history.count - 1], let now = scheduleTime(of: oldestFrame)
    else { return nil }
    return now < anchor.groupTime ? grid.position(of: anchor.mediaTime).frame : nil
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
