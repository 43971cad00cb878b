import Audio
import Clock

// The room's sound. With a FIR filter, runs are read ahead of the frames that are rendered: a frame needs the runs up to
// `reach` frames after it. Frames of the card and runs keep the same numbers, so nothing else moves.

extension Renderer {
  /// True while runs go through the filter's memory.
  var isReadingAhead: Bool { @_noLocks @_noAllocation get { fir.isActive } }

  /// The next device frame to render.
  var nextOutput: Int64 {
    @_noLocks @_noAllocation get { fir.isActive ? fir.next : cursor.next }
  }

  /// The oldest device frame that can be rendered again.
  var oldestOutput: Int64 {
    @_noLocks @_noAllocation get {
      guard isReadingAhead else { return cursor.oldestFrame }
      let next = nextOutput
      return min(next, max(cursor.heard, next - cursor.rewindFrames))
    }
  }

  @_noLocks @_noAllocation
  mutating func updateReach() {
    let oldest = oldestOutput
    cursor.reach = fir.isActive ? fir.reach(oldest: oldest) : 0
  }

  @_noLocks @_noAllocation
  mutating func beginReadingAhead() {
    if fir.shouldBegin { fir.begin(at: cursor.next, isSilent: !hasSounded) }
  }

  @_noLocks @_noAllocation
  mutating func restartSound(at frame: Int64) {
    (hasSounded, wrongRun) = (false, .max)
    sound.restart(at: frame)
    fir.restart(at: frame)
    updateReach()
  }

  // MARK: - Rendering

  /// Applies all that is the room's own to rendered frames, and mixes clips into them.
  @_noLocks @_noAllocation
  mutating func finish(_ out: UnsafeMutablePointer<Float>, at first: Int64, frames: Int) {
    unsafe mix.apply(to: out, at: first, frames: frames)
    unsafe clips.mix(into: out, at: first, frames: frames)
    unsafe sound.apply(to: out, at: first, frames: frames, oldest: oldestOutput)
  }

  /// Renders up to `frames` frames by way of the filter, and returns their number: 0 if it has ended.
  @_noLocks @_noAllocation
  mutating func renderFiltered(into out: UnsafeMutablePointer<Float>, frames: Int) -> Int {
    let oldest = oldestOutput
    let first = nextOutput
    let count = fir.prepare(frames, oldest: oldest)
    if count == 0 { return 0 }
    readAhead(to: fir.neededInput(count))
    unsafe fir.render(into: out, frames: count)
    unsafe finish(out, at: first, frames: count)
    return count
  }

  @_noLocks @_noAllocation
  private mutating func readAhead(to end: Int64) {
    while cursor.next < end {
      let place = unsafe fir.convolver.place
      let run = cursor.nextRun(atMost: fir.convolver.room)
      if run.isBeginning { finishLateCut() }
      unsafe renderRun(run, into: place)
      var isSilent = true
      if case .some = run.sound { isSilent = false }
      fir.convolver.wrote(run.count, isSilent: isSilent)
    }
  }

  // MARK: - Going back

  /// Renders runs again from `frame` on.
  @_noLocks @_noAllocation
  mutating func rewindRuns(to frame: Int64) {
    gaps.rewind(to: frame)
    cursor.rewind(to: frame)
    sampler.rewind(to: frame)
  }

  /// Returns the first wrong device frame if runs are wrong from `run` on. Runs whose sound was not rendered yet are made
  /// again without the card.
  @_noLocks @_noAllocation
  mutating func firstWrongOutput(run: Int64) -> Int64 {
    guard run < cursor.next else { return wrongOutput }
    let output = run - cursor.reach
    if output >= nextOutput {
      rewindInput(to: run)
      return wrongOutput
    }
    wrongRun = min(wrongRun, run)
    return min(wrongOutput, output)
  }

  /// Goes back to a device frame. What it was made of stays, as long as no command has made it wrong: earlier frames were
  /// made of the same runs, and a change in the middle would click.
  @_noLocks @_noAllocation
  mutating func rewindFiltered(to frame: Int64) {
    fir.rewind(to: frame)
    // From a frame before the filter is used, runs that no frame was filtered from yet can be made again.
    updateReach()
    if wrongRun < cursor.next { rewindInput(to: max(wrongRun, frame + cursor.reach)) }
    wrongRun = .max
    if frame < fir.convolver.origin { rewindInput(to: max(frame, cursor.oldestFrame)) }
  }

  @_noLocks @_noAllocation
  private mutating func rewindInput(to frame: Int64) {
    guard frame < cursor.next else { return }
    rewindRuns(to: frame)
    fir.convolver.rewind(to: frame)
  }
}
