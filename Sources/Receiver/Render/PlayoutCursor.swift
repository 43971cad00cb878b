package import Clock

/// Decides for each device frame which stream position sounds there, at which rate, and how near the next silence
/// is. It combines three mappings: anchor, clock estimate and render clock. Render thread only; it handles no
/// samples, so a simulation can run it for days.
package struct PlayoutCursor: ~Copyable {
  package let grid: StreamGrid
  package var renderClock: RenderClock
  /// The next device frame to render.
  package internal(set) var next: Int64 = 0
  /// The first device frame that may still be rendered again; earlier ones were heard.
  var heard: Int64 = 0
  /// How far ahead of a frame the runs lie that its sound was made from, and that can be rendered again no more once it
  /// was heard.
  var reach: Int64 = 0
  package internal(set) var estimate: ClockEstimate?
  package internal(set) var anchors = Anchors()
  /// The room's delay; positive sounds later.
  var delay = Nanoseconds(0)
  var state = PlayoutState()
  var history = PlayoutHistory()
  /// True if something other than an anchor moved the schedule, so that a small error is reason enough to jump.
  var scheduleWasMoved = false
  /// True if the render clock was settled when last asked.
  var wasSettled = false
  /// Error of the last run that followed an anchor; positive is early.
  package internal(set) var syncError = Nanoseconds(0)
  /// Number of jumps made because the error was too large to be corrected by the rate.
  package private(set) var replacementCount: UInt32 = 0

  /// `sampleRate` is the device's, in Hz.
  package init(sampleRate: Int, device: RenderClock.DeviceClass, storedDrift: Double?) {
    grid = StreamGrid(sampleRate: sampleRate)
    renderClock = RenderClock(sampleRate: sampleRate, device: device, storedDrift: storedDrift)
  }

  /// Longest distance that a rewind goes back: 750 ms, more than is written ahead to any sound card.
  package var rewindFrames: Int64 {
    @_noLocks @_noAllocation get { grid.sampleRate * 3 / 4 }
  }

  /// Length of a fade in or out: 5 ms, long enough not to click, short enough to be exact.
  package var fadeFrames: Int64 {
    @_noLocks @_noAllocation get { grid.sampleRate / 200 }
  }
}

/// Consecutive device frames with one content: silence, or a stretch of the stream.
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
    /// Stream position of the first frame.
    package var position: StreamPosition
    /// Stream frames per device frame.
    package var step: Double
    /// Device frames from the last silence to the run's first frame.
    package var framesSinceStart: Int64
    /// Device frames from the run's first frame to the next silence; `Int64.max` if none is in sight.
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

// MARK: - Playback

extension PlayoutCursor {
  /// Returns the next run, of 1 to `limit` frames, and moves past it.
  @_noLocks @_noAllocation
  package mutating func nextRun(atMost limit: Int) -> PlayoutRun {
    var limit = Int64(max(limit, 1))
    if case .ending(let end) = state.mode, end <= next { state.mode = .silent }
    if let now = scheduleTime(of: next) {
      limit = min(limit, decide(at: now))
      steer(at: now)
    } else if case .following = state.mode {
      // Playback stops: either the device clock has lost its place, and playback must find a new one, or the
      // schedule is over.
      if case .some = estimate { _ = countReplacement() }
      stopFollowing()
    }
    if case .ending(let end) = state.mode { limit = min(limit, end - next) }
    return commit(count: limit)
  }

  /// Chooses the mode at `next`, and returns how many frames it may last.
  @_noLocks @_noAllocation
  private mutating func decide(at now: GroupTime) -> Int64 {
    let active = anchors.inForce(at: now + roundingSlack)
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

  /// Starts playback exactly at the scheduled position.
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

  /// True if playback can follow `active` from here by steering; else it must stop first.
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
    let delay = Int64(RateController.replacementDelay * Double(grid.sampleRate))
    return next - state.farSince < delay ? true : countReplacement()
  }

  @_noLocks @_noAllocation
  private mutating func countReplacement() -> Bool {
    replacementCount &+= 1
    return false
  }

  /// True if the schedule jumps or stops between the two anchors.
  @_noLocks @_noAllocation
  private func breaks(from active: Anchor, to following: Anchor) -> Bool {
    guard case .playing = following.rate else { return true }
    let jump =
      grid.position(of: active, at: following.groupTime) - grid.position(of: following.mediaTime)
    return jump.magnitude > RateController.scheduleStep * Double(grid.sampleRate)
  }

  /// Fades playback out from here on, from its present level.
  @_noLocks @_noAllocation
  private mutating func stopFollowing() {
    guard case .following = state.mode else { return }
    state.mode = level > 0 ? .ending(end: next + level) : .silent
  }

  /// Progress of the fade-in, in frames up to `fadeFrames`.
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
  /// Tolerance for meeting an anchor, which takes effect at the first device frame at or after it. Times are
  /// whole nanoseconds, so a frame that comes a thousandth of its length early counts as meeting it.
  var roundingSlack: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(20) }
  }

  /// Returns the group time of the schedule at which `frame` sounds here; nil while a mapping is missing.
  @_noLocks @_noAllocation
  package func scheduleTime(of frame: Int64) -> GroupTime? {
    guard let estimate, renderClock.isSettled else { return nil }
    return estimate.groupTime(of: renderClock.localTime(of: DeviceFrame(frame))) - delay
  }

  /// Returns the first device frame at which `anchor` is in force.
  @_noLocks @_noAllocation
  private func firstFrame(of anchor: Anchor) -> Int64 { firstFrame(from: anchor.groupTime) }

  @_noLocks @_noAllocation
  func firstFrame(from time: GroupTime) -> Int64 {
    guard let estimate, renderClock.isSettled else { return next }
    let local = estimate.localTime(of: time + delay - roundingSlack)
    return -floorOf(-renderClock.frame(at: local))
  }

  /// Returns the error of `next` in seconds; positive is early.
  @_noLocks @_noAllocation
  func error(to anchor: Anchor, at now: GroupTime) -> Double {
    (state.position - grid.position(of: anchor, at: now)) / Double(grid.sampleRate)
  }
}
