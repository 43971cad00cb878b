package import Audio
package import Clock

/// Fills the sound card's buffer on the render thread. The output loop calls it in turns of *take commands, rewind
/// if told to, render, observe*; none of its functions locks, allocates or waits.
package struct Renderer: ~Copyable {
  var cursor: PlayoutCursor
  var sampler: FrameSampler
  var mix: OutputMix
  var clips: ClipTrack
  var sound: SoundTrack
  var fir: FIRTrack
  /// True if anything has sounded since the card was started.
  var hasSounded = false
  /// The first run that a command has made wrong, until the card has been rewound for it.
  var wrongRun = Int64.max
  /// The first frame that a command has made wrong although its run is right.
  var wrongOutput = Int64.max
  private let commands: RenderCommandReader
  private let reports: RenderReportWriter
  let channelCount: Int
  private var cuts = PendingCuts()
  /// A cut that was requested for frames already sounding: it is made at the requested place once that sound has
  /// ended.
  private var lateCut: FrameCut?
  /// From this stream frame on the stream has ended, up to `resumeFrame`, where a later cut begins.
  private var endFrame = Int64.max
  private var resumeFrame = Int64.max
  /// True if a cut has begun a generation and no anchor has come since: its first position is not known yet.
  private var awaitsAnchor = false
  private var newestGeneration: UInt32 = 0
  var gaps = RenderedGaps()
  private var starvationWasCounted = false
  private var now = LocalTime(nanoseconds: 0)
  /// The device frame at which frames are released and the next report is sent.
  var nextReport: Int64 = 0
  private var report = RenderReport()

  /// `sampleRate` is the device's, in Hz. The ring has as many channels as the device and holds frames of that rate.
  /// The renderer is the only consumer of the rings and the commands, and the only producer of reports. `clips` is a
  /// ring like the other one, for what is mixed over the music. `fir` is a filter at the device's rate, which is not used
  /// before a command says so.
  package init(
    sampleRate: Int, ring: FrameRing, commands: RenderQueue<RenderCommand>,
    reports: RenderQueue<RenderReport>, device: RenderClock.DeviceClass, storedDrift: Double?,
    clips: FrameRing? = nil, fir: ImpulseResponse? = nil
  ) {
    cursor = PlayoutCursor(sampleRate: sampleRate, device: device, storedDrift: storedDrift)
    sampler = FrameSampler(
      ring: ring, sampleRate: sampleRate, fadeFrames: Int(cursor.fadeFrames),
      rewindFrames: Int(cursor.rewindFrames))
    mix = OutputMix(sampleRate: sampleRate, channelCount: ring.channelCount)
    self.clips = ClipTrack(
      sampleRate: sampleRate,
      ring: clips ?? FrameRing(minimumCapacity: 0, channelCount: ring.channelCount),
      device: device, storedDrift: storedDrift)
    let rewindFrames = Int(cursor.rewindFrames)
    sound = SoundTrack(
      sampleRate: sampleRate, channelCount: ring.channelCount, rewindFrames: rewindFrames)
    precondition(fir.map { $0.rate == sampleRate } ?? true)
    self.fir = FIRTrack(
      fir, rewindFrames: rewindFrames, sampleRate: sampleRate, channelCount: ring.channelCount)
    self.commands = RenderCommandReader(commands)
    self.reports = RenderReportWriter(reports)
    channelCount = ring.channelCount
  }

  /// Fills `out` with the next `frames` device frames, interleaved, full scale ±1; silence where nothing is due.
  @_noLocks @_noAllocation
  package mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int) {
    beginTurn()
    beginReadingAhead()
    var done = 0
    while done < frames {
      let place = unsafe out + done * channelCount
      let limit = min(frames - done, FrameSampler.chunk)
      done +=
        isReadingAhead
        ? unsafe renderFiltered(into: place, frames: limit) : unsafe renderRun(into: place, limit)
    }
    endTurn()
  }

  /// Renders the next run, of at most `limit` frames, and returns their number.
  @_noLocks @_noAllocation
  private mutating func renderRun(into out: UnsafeMutablePointer<Float>, _ limit: Int) -> Int {
    let run = cursor.nextRun(atMost: limit)
    if run.isBeginning { finishLateCut() }
    unsafe renderRun(run, into: out)
    unsafe finish(out, at: run.first, frames: run.count)
    return run.count
  }

  /// Does all that `render` does except make samples, so that a simulation can run for days: it uses no FIR
  /// filter. `look` gets each run,
  /// and true if all its frames are there. Not for the render thread.
  package mutating func plan(frames: Int, look: (PlayoutRun, _ isWhole: Bool) -> Void) {
    beginTurn()
    var done = 0
    while done < frames {
      let run = cursor.nextRun(atMost: min(frames - done, FrameSampler.chunk))
      if run.isBeginning { finishLateCut() }
      if let sound = run.sound {
        note(sampler.findHole(in: sound, frames: run.count), in: sound, of: run)
      } else {
        report.activity = silentActivity
      }
      look(run, !report.activity.isStarved)
      done += run.count
    }
    endTurn()
  }

  @_noLocks @_noAllocation
  private mutating func beginTurn() {
    sampler.reader.update()
    applyCuts()
    clips.follow(cursor)
  }

  @_noLocks @_noAllocation
  private mutating func endTurn() {
    guard cursor.next >= nextReport else { return }
    nextReport = cursor.next + cursor.grid.sampleRate / 20
    releaseFrames()
    clips.tidy()
    sendReport()
  }

  /// Renders again from `frame` on.
  @_noLocks @_noAllocation
  package mutating func rewind(to frame: DeviceFrame) {
    nextReport = min(nextReport, frame.index)
    if isReadingAhead { rewindFiltered(to: frame.index) } else { rewindRuns(to: frame.index) }
    clips.rewind(to: frame.index)
    sound.rewind(to: frame.index)
  }

  /// Takes an observation: at `time`, give or take `uncertainty`, `frame` was about to be heard.
  @_noLocks @_noAllocation
  package mutating func observe(
    _ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds
  ) {
    cursor.observe(frame, at: time, uncertainty: uncertainty)
  }

  /// The sender's time at this instant; nil while its clock is not known.
  @_noLocks @_noAllocation
  package func groupTime(at time: LocalTime) -> GroupTime? {
    guard let estimate = cursor.estimate else { return nil }
    return estimate.groupTime(of: time)
  }

  /// Handles a card that ran dry or slept, and restarts: the next frame to render is `frame`, and earlier
  /// observations are void. Silence until the device clock has settled again.
  @_noLocks @_noAllocation
  package mutating func deviceRestarted(at frame: DeviceFrame) {
    // The first start of a card is no underrun.
    if cursor.next > 0 { report.underruns &+= 1 }
    cursor.deviceRestarted(at: frame.index)
    sampler.restart()
    clips.deviceRestarted(at: frame.index)
    restartSound(at: frame.index)
    nextReport = frame.index
    gaps.removeAll()
  }

  @_noLocks @_noAllocation
  mutating func renderRun(_ run: PlayoutRun, into out: UnsafeMutablePointer<Float>) {
    guard let sound = run.sound else {
      unsafe sampler.renderSilence(at: run.first, into: out, frames: run.count)
      report.activity = silentActivity
      return
    }
    if !hasSounded {
      hasSounded = true
      mix.settle()
    }
    let hole = unsafe sampler.render(sound, at: run.first, into: out, frames: run.count)
    note(hole, in: sound, of: run)
  }

  @_noLocks @_noAllocation
  private mutating func note(_ hole: StreamHole?, in sound: PlayoutRun.Sound, of run: PlayoutRun) {
    report.activity = isPastEnd(sound.position.frame) ? .ended : .playing
    guard let hole else { return }
    let start = isPastEnd(hole.start) ? resumeFrame : hole.start
    guard start < hole.end else { return }
    let distance = start - sound.position.frame
    // Ignore a hole after the next silence, or one too far away to cause a fade.
    guard distance < min(sound.framesToEnd, Int64(run.count) + cursor.fadeFrames) else { return }
    if distance < run.count { report.activity = .starved }
    gaps.note(
      RenderedGap(
        device: run.first + distance, end: run.first + (hole.end - sound.position.frame),
        stream: start))
  }

  @_noLocks @_noAllocation
  private func isPastEnd(_ streamFrame: Int64) -> Bool {
    streamFrame >= endFrame && streamFrame < resumeFrame
  }

  private var silentActivity: RenderReport.Activity {
    @_noLocks @_noAllocation get {
      // Check this first: an anchor that comes before the card's clock is known is met late.
      guard cursor.renderClock.isSettled else { return .settling }
      guard case .some = cursor.estimate, cursor.anchors.count > 0 else { return .idle }
      guard let active = cursor.activeAnchor else { return .waiting }
      guard case .playing = active.rate else { return .paused }
      return .playing
    }
  }
}

// MARK: - Commands

extension Renderer {
  /// Takes the waiting commands. Returns the first rendered frame that is no longer right, or nil if all are.
  @_noLocks @_noAllocation
  package mutating func takeCommands(at now: LocalTime) -> DeviceFrame? {
    self.now = now
    clips.follow(cursor)
    updateReach()
    wrongOutput = .max
    var firstWrong = cursor.next
    while let command = commands.next() {
      firstWrong = min(firstWrong, take(command))
    }
    firstWrong = min(firstWrong, cursor.takeSettling())
    firstWrong = min(firstWrong, firstFrameNoLongerMissing())
    if sound.canChange(oldest: oldestOutput) { wrongOutput = oldestOutput }
    firstWrong = isReadingAhead ? firstWrongOutput(run: firstWrong) : min(firstWrong, wrongOutput)
    return firstWrong < nextOutput ? DeviceFrame(firstWrong) : nil
  }

  /// Returns where to render again because missing frames have arrived; the next frame if nowhere.
  @_noLocks @_noAllocation
  private mutating func firstFrameNoLongerMissing() -> Int64 {
    if gaps.count == 0 {
      starvationWasCounted = starvationWasCounted && report.activity.isStarved
      return cursor.next
    }
    if gaps.hear(upTo: cursor.oldestFrame), !starvationWasCounted {
      starvationWasCounted = true
      report.starvations &+= 1
    }
    sampler.reader.update()
    for i in 0..<gaps.count {
      let frame = firstFilledFrame(of: gaps[i])
      if frame < cursor.next { return frame }
    }
    return cursor.next
  }

  @_noLocks @_noAllocation
  private func firstFilledFrame(of gap: RenderedGap) -> Int64 {
    let limit = gap.stream + (gap.end - gap.device)
    let run = sampler.reader.run(at: gap.stream, limit: limit)
    var device = gap.device
    if case .none = run.place {
      guard run.end < limit else { return cursor.next }
      device += run.end - gap.stream
    }
    // The fade into the gap begins before it.
    return max(device - cursor.fadeFrames, cursor.oldestFrame)
  }

  /// Returns the first frame to render again; the next one if none.
  @_noLocks @_noAllocation
  private mutating func take(_ command: RenderCommand) -> Int64 {
    switch command {
    case .anchor(let anchor):
      awaitsAnchor = false
      return cursor.schedule(anchor)
    case .forgetSchedule:
      clips.forget()
      return cursor.forgetSchedule()
    case .clock(let estimate, let isStep):
      clips.adopt(estimate, isStep: isStep)
      return cursor.adopt(estimate, isStep: isStep)
    case .cut(let from, let generation, let isRamped, let isCrossed):
      return takeCut(
        FrameCut(
          from: cursor.grid.firstFrame(from: from), generation: generation, isRamped: isRamped,
          crossFrames: isCrossed ? cursor.fadeFrames : 0))
    case .end(let time):
      endFrame = cursor.grid.firstFrame(from: time)
      resumeFrame = .max
    case .gain(let gain):
      if mix.setGain(gain) { wrongOutput = oldestOutput }
    case .delay(let delay):
      return cursor.setDelay(delay)
    case .channelMap(let left, let right):
      if mix.setMap(left: left, right: right) { wrongOutput = oldestOutput }
    case .sound(let program):
      sound.set(program)
    case .useFIR(let isUsed):
      fir.want(isUsed)
    case .clip(let clip):
      wrongOutput = min(wrongOutput, clips.begin(clip, oldest: oldestOutput))
    case .endClip(let number):
      wrongOutput = min(wrongOutput, clips.end(number, oldest: oldestOutput))
    }
    return cursor.next
  }

  @_noLocks @_noAllocation
  private mutating func takeCut(_ cut: FrameCut) -> Int64 {
    if cut.from <= endFrame { endFrame = .max }
    resumeFrame = min(resumeFrame, cut.from)
    if endFrame == .max { resumeFrame = .max }
    awaitsAnchor = true
    newestGeneration = cut.generation
    if let oldest = cuts.append(cut) { sampler.reader.apply(oldest) }
    // One more, because the first frame that is made again may lie behind a whole one.
    return cursor.firstFrame(playing: cut.from &- cursor.fadeFrames &- 1)
  }

  /// Applies the waiting cuts, once the frame to render from is known: after a rewind, if there was one. If less
  /// than a fade is left before a cut, the cut moves back by the missing frames, so that the sound can fade out.
  @_noLocks @_noAllocation
  private mutating func applyCuts() {
    var earliest = Int64.min
    if let position = cursor.soundingPosition {
      earliest = position.frame + 1 + cursor.fadeFrames
    }
    while var cut = cuts.removeFirst() {
      let asked = cut.from
      cut.from = max(cut.from, earliest)
      sampler.reader.apply(cut)
      if asked < cut.from {
        finishLateCut()
        lateCut = FrameCut(from: asked, generation: cut.generation, isRamped: false)
      }
      nextReport = .min
      report.cutGeneration = cut.generation
      report.cutFrom = cursor.grid.mediaTime(of: StreamPosition(frame: cut.from))
    }
  }

  /// Makes the late cut where it was requested: new playback may begin before the place to which the cut was moved,
  /// and must not play obsolete frames.
  @_noLocks @_noAllocation
  mutating func finishLateCut() {
    guard let cut = lateCut else { return }
    lateCut = nil
    sampler.reader.apply(cut)
  }
}

// MARK: - Reports and released frames

extension Renderer {
  /// Lets the producer of frames overwrite those that cannot be needed any more.
  @_noLocks @_noAllocation
  private mutating func releaseFrames() {
    sampler.reader.beginRelease()
    if case .none = cursor.playhead { sampler.reader.keepAll(ofGenerationsFrom: 0) }
    var margin = Int64(FrameSampler.margin(fadeFrames: Int(cursor.fadeFrames)))
    // A cross-fade needs all its old frames until it has been heard.
    if sampler.reader.crossesCuts { margin += cursor.fadeFrames }
    let oldest = cursor.forgetHeard()
    for i in 0..<cursor.neededFrameCount {
      if let frame = cursor.neededFrame(i, oldest: oldest) {
        sampler.reader.keep(from: frame - margin)
      }
    }
    if awaitsAnchor, case .none = cursor.soundingPosition {
      sampler.reader.keepAll(ofGenerationsFrom: newestGeneration)
    }
    sampler.reader.endRelease()
  }

  @_noLocks @_noAllocation
  private mutating func sendReport() {
    report.at =
      cursor.renderClock.isSettled
      ? cursor.renderClock.localTime(of: DeviceFrame(cursor.next)) : now
    if let playhead = cursor.playhead { report.playhead = cursor.grid.mediaTime(of: playhead) }
    report.syncError = cursor.syncError
    report.deviceDrift = cursor.renderClock.drift
    report.replacements = cursor.replacementCount
    if !reports.send(report) { report.lostReports &+= 1 }
  }
}

extension PlayoutRun {
  /// True if nothing sounded before this run.
  var isBeginning: Bool {
    @_noLocks @_noAllocation get {
      guard let sound else { return true }
      return sound.framesSinceStart == 0
    }
  }
}

extension RenderReport.Activity {
  /// Does what `==` does, in a form that the render thread may call.
  fileprivate var isStarved: Bool {
    @_noLocks @_noAllocation get {
      if case .starved = self { return true }
      return false
    }
  }
}
