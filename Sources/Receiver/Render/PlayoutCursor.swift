package import Clock

/// What sounds when: decides for each device frame which place of the stream sounds there, at which rate, and how
/// near the next silence is. It joins the three mappings: anchor, clock estimate and render clock. Render thread
/// only; it knows no samples, so a simulation can run it for days.
package struct PlayoutCursor: ~Copyable {
  package let grid: StreamGrid
  package var renderClock: RenderClock
  /// The next device frame to render.
  package internal(set) var next: Int64 = 0
  /// The first device frame that may still be rendered again: those before it were heard.
  var heard: Int64 = 0
  package internal(set) var estimate: ClockEstimate?
  package internal(set) var anchors = AnchorSchedule()
  /// Positive: sounds later.
  var delay = Nanoseconds(0)
  var state = PlayoutState()
  var history = PlayoutHistory()
  /// The schedule was moved by other means than an anchor, so a small error is reason enough to jump.
  var scheduleWasMoved = false
  /// Whether the render clock was settled when that was last asked.
  var wasSettled = false
  /// Of the last run that followed an anchor.
  package internal(set) var syncError = Nanoseconds(0)
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
    if let now = scheduleTime(of: next) {
      limit = min(limit, decide(at: now))
      steer(at: now)
    } else if case .following = state.mode {
      // The device clock has lost its place, so playback has to find a new one; or the schedule is over.
      if case .some = estimate { _ = countReplacement() }
      stopFollowing()
    }
    if case .ending(let end) = state.mode { limit = min(limit, end - next) }
    return commit(count: limit)
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
    state.keptFrames = 0
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

  @_noLocks @_noAllocation
  private mutating func commit(count: Int64) -> PlayoutRun {
    let count = max(count, 1)
    history.append(PlayoutHistory.Entry(first: next, count: count, state: state))
    var run = PlayoutRun(first: next, count: Int(count))
    switch state.mode {
    case .silent: break
    case .following: run.sound = sound(framesToEnd: .max)
    case .ending(let end): run.sound = sound(framesToEnd: end - next)
    }
    if case .some = run.sound { state.advance(by: count) }
    next += count
    return run
  }

  @_noLocks @_noAllocation
  private func sound(framesToEnd: Int64) -> PlayoutRun.Sound {
    PlayoutRun.Sound(
      position: state.position, step: state.step, framesSinceStart: next - state.startedAt,
      framesToEnd: framesToEnd)
  }
}

// MARK: - The mappings

extension PlayoutCursor {
  /// An anchor holds from the device frame on that meets it. Times are whole nanoseconds, so a frame that comes
  /// a thousandth of its length too early counts as meeting it.
  var roundingSlack: Nanoseconds {
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
  func firstFrame(from time: GroupTime) -> Int64 {
    guard let estimate, renderClock.isSettled else { return next }
    let local = estimate.localTime(of: time + delay - roundingSlack)
    return -floorOf(-renderClock.frame(at: local))
  }

  /// Of `next`, in seconds; positive is early.
  @_noLocks @_noAllocation
  func error(to anchor: Anchor, at now: GroupTime) -> Double {
    (state.position - grid.position(of: anchor, at: now)) / Double(grid.sampleRate)
  }
}
