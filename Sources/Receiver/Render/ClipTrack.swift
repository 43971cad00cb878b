import Audio
import Clock

/// Mixes clips over the music: lowers the music with ramps, and adds the clip. A clip has a cursor of its own, which
/// follows group time as that of the music does, so that it sounds at its time whatever the music does. The gain of the
/// music is a function of group time alone: nothing has to be restored. Render thread only.
@safe
struct ClipTrack: ~Copyable {
  private var cursor: PlayoutCursor
  private var sampler: FrameSampler
  private let channelCount: Int
  /// A chunk of a clip.
  private let samples: UnsafeMutablePointer<Float>
  /// The clip that sounds or comes next, and the one before it while its ramp lasts.
  private var current: RenderedClip?
  private var earlier: RenderedClip?
  /// True until the first frame with `current` is rendered: only then it is known from where on music can be lowered.
  private var isNew = false
  /// True until the first frame without `earlier` is rendered, if that was cut short.
  private var endsEarlier = false

  /// Arguments are as in `Renderer.init`.
  init(
    sampleRate: Int, ring: FrameRing, device: RenderClock.DeviceClass, storedDrift: Double?
  ) {
    cursor = PlayoutCursor(sampleRate: sampleRate, device: device, storedDrift: storedDrift)
    sampler = FrameSampler(
      ring: ring, sampleRate: sampleRate, fadeFrames: Int(cursor.fadeFrames),
      rewindFrames: Int(cursor.rewindFrames))
    channelCount = ring.channelCount
    let count = FrameSampler.chunk * ring.channelCount
    unsafe samples = .allocate(capacity: count)
    unsafe samples.initialize(repeating: 0, count: count)
  }

  deinit { unsafe samples.deallocate() }

  private var isActive: Bool {
    @_noLocks @_noAllocation get {
      if case .some = current { return true }
      if case .some = earlier { return true }
      if case .some = cursor.soundingPosition { return true }
      return false
    }
  }

  // MARK: - Commands

  /// Takes a clip in place of the one before. Returns the first device frame to render again, or `next` if there is none;
  /// `oldest` is the first that can be.
  @_noLocks @_noAllocation
  mutating func begin(_ clip: RenderedClip, oldest: Int64) -> Int64 {
    guard clip.isPlausible else { return cursor.next }
    let cutShort = cutShort()
    current = clip
    isNew = true
    guard case .some = cursor.scheduleTime(of: cursor.next) else { return cursor.next }
    let first = cursor.firstFrame(from: clip.begins) - cursor.fadeFrames
    return cutShort ? oldest : min(max(oldest, first), cursor.next)
  }

  /// Ends a clip, and drops its frames and those of all before it. Returns the same as `begin`.
  @_noLocks @_noAllocation
  mutating func end(_ number: UInt32, oldest: Int64) -> Int64 {
    sampler.reader.update()
    if let current, current.number == number {
      let wasHeard = cutShort()
      self.current = nil
      isNew = false
      if wasHeard { return oldest }
      cursor.anchors.removeAll()
    }
    drop(upTo: number)
    release()
    return cursor.next
  }

  /// Moves a clip whose time is not over out of the way. Returns true if any of it may be heard.
  @_noLocks @_noAllocation
  private mutating func cutShort() -> Bool {
    guard let clip = current, !isNew, let heard = cursor.scheduleTime(of: cursor.heard),
      let rendered = cursor.scheduleTime(of: cursor.next), heard < clip.restored,
      clip.begins < rendered
    else { return false }
    earlier = clip
    endsEarlier = heard < clip.ends
    return endsEarlier
  }

  /// Forgets all clips, because the sender's clock is gone: what sounds fades out.
  @_noLocks @_noAllocation
  mutating func forget() {
    (current, earlier, isNew, endsEarlier) = (nil, nil, false, false)
    _ = cursor.forgetSchedule()
  }

  /// Takes what the music's cursor knows of the clocks.
  @_noLocks @_noAllocation
  mutating func follow(_ music: borrowing PlayoutCursor) {
    cursor.renderClock = music.renderClock
    cursor.heard = min(music.heard, cursor.next)
    if cursor.delay.count != music.delay.count { _ = cursor.setDelay(music.delay) }
  }

  @_noLocks @_noAllocation
  mutating func adopt(_ estimate: ClockEstimate, isStep: Bool) {
    _ = cursor.adopt(estimate, isStep: isStep)
  }

  @_noLocks @_noAllocation
  mutating func rewind(to frame: Int64) {
    cursor.rewind(to: frame)
    sampler.rewind(to: frame)
  }

  @_noLocks @_noAllocation
  mutating func deviceRestarted(at frame: Int64) {
    cursor.deviceRestarted(at: frame)
    sampler.restart()
  }

  // MARK: - Mixing

  /// Mixes what is due into rendered frames; the first is device frame `first`, and there are at most
  /// `FrameSampler.chunk`.
  @_noLocks @_noAllocation
  mutating func mix(into out: UnsafeMutablePointer<Float>, at first: Int64, frames: Int) {
    if cursor.next != first { cursor.rewind(to: first) }
    guard isActive else { return cursor.stayIdle(until: first + Int64(frames)) }
    takeEffect()
    sampler.reader.update()
    var done = 0
    while done < frames {
      let run = cursor.nextRun(atMost: frames - done)
      let place = unsafe out + done * channelCount
      unsafe lower(place, run)
      unsafe add(run, to: place)
      done += run.count
    }
  }

  /// Lets commands act from the next frame on. A clip that comes late begins to lower the music now, not in the past.
  @_noLocks @_noAllocation
  private mutating func takeEffect() {
    guard isNew || endsEarlier, let now = cursor.scheduleTime(of: cursor.next) else { return }
    if endsEarlier {
      endsEarlier = false
      stopEarlier(at: now)
    }
    guard isNew, var clip = current else { return }
    isNew = false
    guard now < clip.ends else {
      current = nil
      return
    }
    _ = cursor.schedule(
      Anchor(mediaTime: clip.from, groupTime: clip.begins, rate: .playing))
    _ = cursor.schedule(Anchor(mediaTime: clip.until, groupTime: clip.ends, rate: .paused))
    // Not by `max`: of a type of another module, it could allocate.
    if clip.begins < now { clip.begins = now }
    if clip.ends < clip.begins { clip.ends = clip.begins }
    current = clip
  }

  @_noLocks @_noAllocation
  private mutating func stopEarlier(at now: GroupTime) {
    guard var clip = earlier else { return }
    if now < clip.begins { earlier = nil }
    if now < clip.ends {
      clip.ends = now
      if case .some = earlier { earlier = clip }
      let fade = Nanoseconds(cursor.fadeFrames * 1_000_000_000 / cursor.grid.sampleRate)
      _ = cursor.schedule(
        Anchor(mediaTime: clip.until, groupTime: now + fade, rate: .paused))
    }
    drop(upTo: clip.number)
  }

  /// Drops the frames of a clip and of those before it, but for those in which what sounds fades out.
  @_noLocks @_noAllocation
  private mutating func drop(upTo number: UInt32) {
    var from = Int64.min / 2
    if let position = cursor.soundingPosition { from = position.frame + 4 * cursor.fadeFrames }
    sampler.reader.apply(FrameCut(from: from, generation: number &+ 1, isRamped: false))
  }

  /// Applies the gain of the music. Its slope over a run's few milliseconds is that of the true curve.
  @_noLocks @_noAllocation
  private func lower(_ out: UnsafeMutablePointer<Float>, _ run: PlayoutRun) {
    guard let start = cursor.scheduleTime(of: run.first) else { return }
    let rate = cursor.grid.sampleRate
    for i in 0..<run.count {
      let time = start + Nanoseconds(Int64(i) * 1_000_000_000 / rate)
      var gain: Float = 1
      if let earlier { gain = min(gain, earlier.musicGain(at: time)) }
      if let current { gain = min(gain, current.musicGain(at: time)) }
      guard gain != 1 else { continue }
      for channel in 0..<channelCount { unsafe out[i * channelCount + channel] *= gain }
    }
  }

  @_noLocks @_noAllocation
  private mutating func add(_ run: PlayoutRun, to out: UnsafeMutablePointer<Float>) {
    guard let sound = run.sound else {
      return unsafe sampler.renderSilence(at: run.first, into: samples, frames: run.count)
    }
    _ = unsafe sampler.render(sound, at: run.first, into: samples, frames: run.count)
    let gain = gain(at: sound.position.frame)
    for i in 0..<run.count * channelCount { unsafe out[i] += gain * samples[i] }
  }

  /// Each run lies in one clip, because a clip begins with an anchor.
  @_noLocks @_noAllocation
  private func gain(at frame: Int64) -> Float {
    if let earlier, frame < cursor.grid.firstFrame(from: earlier.until) { return earlier.gain }
    return current?.gain ?? 0
  }

  // MARK: - Twenty times a second

  /// Forgets clips that cannot be heard any more, and gives frames back that are not needed.
  @_noLocks @_noAllocation
  mutating func tidy() {
    guard isActive, let heard = cursor.scheduleTime(of: cursor.oldestFrame) else { return }
    release()
    if let clip = earlier, clip.restored < heard { earlier = nil }
    if let clip = current, clip.restored < heard, !isNew { current = nil }
  }

  @_noLocks @_noAllocation
  private mutating func release() {
    sampler.reader.beginRelease()
    if case .none = cursor.playhead { sampler.reader.keepAll(ofGenerationsFrom: 0) }
    let margin = Int64(FrameSampler.margin(fadeFrames: Int(cursor.fadeFrames)))
    let oldest = cursor.forgetHeard()
    for i in 0..<cursor.neededFrameCount {
      if let frame = cursor.neededFrame(i, oldest: oldest) {
        sampler.reader.keep(from: frame - margin)
      }
    }
    // A clip whose time is not known yet.
    var newest: UInt32 = 0
    if let earlier { newest = earlier.number }
    if let current { newest = current.number }
    sampler.reader.keepAll(ofGenerationsFrom: newest &+ 1)
    sampler.reader.endRelease()
  }
}
