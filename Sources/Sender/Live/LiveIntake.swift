package import Audio
package import Clock

/// Consecutive frames of a live source, on group time.
package struct LiveBlock: Hashable, Sendable {
  /// The time at which the first frame is due: the source had made it by then, and it is heard one latency later.
  package var due: LocalTime
  /// Interleaved.
  package var frames: [Float]
  /// True if the source had nothing for a part of the block.
  package var hasHole: Bool
}

/// Takes what a live source delivers, when it delivers it, and makes a stream of it that keeps pace with the sender's
/// clock.
///
/// The position in the source follows the source's measured clock, and never the amount that waits, so that audio
/// neither piles up nor runs out, however long it plays. Frames that come later than `allowance` are left out, so that
/// the latency stays as it is; silence takes the place of missing audio. Used by one thread at a time.
package final class LiveIntake {
  package struct Configuration: Hashable, Sendable {
    /// Format of the source, and of the blocks.
    package var format: AudioFormat
    /// Frames of a block.
    package var blockFrames: Int
    /// Largest delay of frames after the time that the source's clock gives.
    package var allowance: Nanoseconds
    /// True to play the audio that waits at the start, as for a file; false to leave it out.
    package var keepsBacklog: Bool

    package init(
      format: AudioFormat, blockFrames: Int, allowance: Nanoseconds, keepsBacklog: Bool = false
    ) {
      precondition(blockFrames > 0)
      self.format = format
      self.blockFrames = blockFrames
      self.allowance = allowance
      self.keepsBacklog = keepsBacklog
    }
  }

  /// Figures that a user may want to know.
  package struct Figures: Hashable, Sendable {
    /// Times without audio, and frames of silence in them.
    package var holes = 0
    package var silentFrames: Int64 = 0
    /// Jumps to another position in the source, to keep the latency.
    package var jumps = 0
  }

  /// Seconds of the source that are kept: more than an allowance of a second, and than the largest pipe.
  package static let keptSeconds = 3
  /// If the position is farther off than this, it jumps instead of moving. Seconds: what ±300 ppm correct in 17 s.
  private static let jump = 5e-3
  /// Time constant of corrections. Seconds: ten times the longest usual burst, so that nobody hears a clock estimate
  /// that moves with each burst.
  private static let steering = 2.0
  /// The largest correction, later and at the start. Dimensionless: half a cent, which nobody hears; and what a clock
  /// that is not yet known needs.
  private static let mostSteering = 300e-6
  private static let mostSteeringAtStart = 1000e-6
  private static let startSeconds = 60.0
  /// The fastest changes of the delay, as a share of the time that passes. It grows because there are holes, which are
  /// worse than a pitch that is 3.5 cents lower for a while; few people hear 5 cents.
  private static let growth = 2000e-6
  private static let shrinkage = 300e-6
  /// Below this level, nobody hears a step: −60 dBFS.
  private static let inaudible: Float = 0.001
  /// Length of the fade at a jump, and at the end and beginning of a time without audio. Seconds.
  private static let fadeSeconds = 5e-3
  /// If frames keep coming too late for this long, the source has paused.
  private static let pauseTime = Nanoseconds.milliseconds(300)

  package let configuration: Configuration
  package private(set) var clock: SourceClock
  package private(set) var figures = Figures()
  /// The position in the source of the next frame that comes out.
  package private(set) var position = 0.0
  /// Time by which the stream lags behind the source's clock; moves to `delayGoal`.
  package private(set) var delay = Nanoseconds.zero
  /// The delay to move to. It changes the latency by as much, equally in all rooms.
  package var delayGoal = Nanoseconds.zero
  /// The allowance of the configuration at first; may follow a change of the latency.
  package var allowance: Nanoseconds

  private enum State {
    case sounding
    case silent(Silence)
  }

  private struct Silence {
    /// The time at which frames came again, and the number of arrivals since.
    var returned: LocalTime?
    var arrivals = 0
  }

  private var state = State.silent(Silence())
  /// The time at which the first frame that comes out is due.
  package private(set) var beginning: LocalTime
  /// Number of the next frame that comes out, counted from `beginning`.
  private var nextFrame: Int64 = 0
  /// Samples of the source from `firstFrame` on, interleaved.
  private var samples: [Float]
  private var firstFrame: Int64
  private var lastBlock: [Float] = []
  private var bursts = BurstWatch()
  private var longBlocks: Nanoseconds?
  private let kernel: ResamplerKernel

  /// Begins at `now`, with silence until the source delivers.
  package init(_ configuration: Configuration, clock: SourceClock, at now: LocalTime) {
    self.configuration = configuration
    self.clock = clock
    allowance = configuration.allowance
    beginning = now
    kernel = ResamplerKernel(
      channelCount: configuration.format.channelCount,
      sampleRate: configuration.format.sampleRate)
    firstFrame = -Int64(kernel.framesBefore)
    samples = Array(
      repeating: 0, count: kernel.framesBefore * configuration.format.channelCount)
  }

  private var rate: Double { Double(configuration.format.sampleRate) }
  private var channelCount: Int { configuration.format.channelCount }
  package var keptFrames: Int { samples.count / channelCount }
  /// Number of frames that the source has delivered.
  package var receivedFrames: Int64 { firstFrame + Int64(samples.count / channelCount) }
}

// MARK: - What comes

extension LiveIntake {
  /// Takes whole frames that were read at `now`.
  package func arrived(_ frames: [Float], at now: LocalTime) {
    guard frames.count >= channelCount else { return }
    samples += frames.prefix(frames.count / channelCount * channelCount)
    forgetOldFrames()
    beginAnewAfterPause(at: now)
    if case .pipe(var clock) = clock {
      clock.observe(receivedFrames, at: now)
      self.clock = .pipe(clock)
      longBlocks = bursts.read(at: now, allowance: allowance) ?? longBlocks
    }
    if case .silent(var silence) = state {
      silence.returned = silence.returned ?? now
      silence.arrivals += 1
      state = .silent(silence)
    }
  }

  /// A program that gives frames again, much later than its clock said, has paused. Its time is measured from the first
  /// of them on, so that few of them are left out.
  private func beginAnewAfterPause(at now: LocalTime) {
    guard case .pipe = clock, case .silent(let silence) = state, silence.returned == nil,
      clock.frame(at: now) - Double(receivedFrames) > Self.pauseTime.seconds * rate
    else { return }
    clock.rephase()
  }

  /// The card had taken `frame` frames at `time`.
  package func observed(_ frame: Int64, at time: LocalTime, uncertainty: Nanoseconds) {
    guard case .card(var clock) = clock else { return }
    _ = clock.observe(DeviceFrame(frame), at: time, uncertainty: uncertainty)
    self.clock = .card(clock)
  }

  /// The card was restarted, and took nothing for a while.
  package func cardRestarted() { clock.rephase() }

  /// Another program writes, or another card records: forgets what was learned of the one before.
  package func sourceChanged(to clock: SourceClock) {
    self.clock = clock
    bursts = BurstWatch()
    if case .sounding = state { figures.holes += 1 }
    state = .silent(Silence())
  }

  /// Returns the length of a program's blocks, if they are longer than its frames may be late; only once.
  package func takeLongBlocks() -> Nanoseconds? {
    defer { longBlocks = nil }
    return longBlocks
  }

  /// The source has ended. Returns the position in it at which it ends.
  package func end() -> Double {
    let end = receivedFrames
    // Frames that the resampler looks ahead.
    samples += silence() + Array(repeating: 0, count: (kernel.framesAfter + 2) * channelCount)
    return Double(end)
  }

  /// The source turns out to write as fast as it is read, so this side sets the pace.
  package func pace() {
    if case .paced = clock { return }
    clock = .paced(
      PacedClock(
        sampleRate: configuration.format.sampleRate, time: due(nextFrame), frame: pacedStart))
  }

  /// Position in the source at which a paced source goes on: where it sounds, if it does. Else it begins with the frames
  /// that come next, because a program may have written minutes of audio by now, and nobody may wait for them to pass.
  private var pacedStart: Double {
    if case .sounding = state { return position + delay.seconds * rate }
    guard configuration.keepsBacklog else { return Double(receivedFrames) }
    return max(position, Double(firstFrame + Int64(kernel.framesBefore)))
  }

  /// Returns how many frames to read now from a paced source, so that the blocks of the next `lead` can be made; nil if
  /// the source has a clock of its own.
  package func wantedFrames(at now: LocalTime, lead: Nanoseconds) -> Int? {
    guard case .paced(let clock) = clock else { return nil }
    let taps = Double(kernel.framesAfter + configuration.blockFrames)
    let wanted = clock.frame(at: now + lead) + taps - Double(receivedFrames)
    return Int(min(max(wanted, 0), rate))
  }

  /// Nobody has asked for blocks until `now`: drops those that were due meanwhile.
  package func skip(to now: LocalTime) {
    let behind = now - due(nextFrame)
    if behind > .zero { beginning = beginning + behind }
    if case .sounding = state { state = .silent(Silence()) }
  }

  private func forgetOldFrames() {
    let limit = Self.keptSeconds * configuration.format.sampleRate
    var surplus = samples.count / channelCount - limit
    if case .sounding = state {
      // Frames before the position are no longer needed.
      surplus = max(surplus, Int(Int64(position) - Int64(kernel.framesBefore) - firstFrame))
    }
    // Remove frames seldom, because that moves all the frames that are kept.
    guard surplus > limit / 8 else { return }
    samples.removeFirst(surplus * channelCount)
    firstFrame += Int64(surplus)
  }
}

// MARK: - What comes out

extension LiveIntake {
  /// The latest time at which `nextBlock` has a block.
  package var nextDeadline: LocalTime {
    due(nextFrame + Int64(configuration.blockFrames)) + allowance - delay
  }

  /// Returns the next block, as soon as its frames have come or its deadline has passed. Call it until it returns nil.
  package func nextBlock(at now: LocalTime) -> LiveBlock? {
    let isDue = now >= nextDeadline
    let block: [Float]?
    switch state {
    case .sounding: block = sound() ?? (isDue ? fallSilent() : nil)
    case .silent(let silence):
      block = soundAgain() ?? (isDue ? staySilent(silence, at: now) : nil)
    }
    guard let block else { return nil }
    defer {
      nextFrame += Int64(configuration.blockFrames)
      lastBlock = block
    }
    var hasHole = false
    if case .silent = state { hasHole = true }
    return LiveBlock(due: due(nextFrame), frames: block, hasHole: hasHole)
  }

  /// Returns when an output frame is due. Divides first, so that days do not overflow.
  private func due(_ frame: Int64) -> LocalTime {
    let rate = Int64(configuration.format.sampleRate)
    let (seconds, rest) = frame.quotientAndRemainder(dividingBy: rate)
    return beginning + Nanoseconds(seconds * 1_000_000_000 + rest * 1_000_000_000 / rate)
  }

  /// Returns the position in the source that belongs to an output frame.
  private func target(_ frame: Int64) -> Double { clock.frame(at: due(frame) - delay) }

  private func stepDelay() { delay = delayGoal }

  /// Moves the delay towards its goal, by as much as the span of a block allows. Returns the change in seconds.
  private func moveDelay() -> Double {
    let span = Nanoseconds(Int64(configuration.blockFrames) * 1_000_000_000 / Int64(rate))
    let change = Self.step(from: delay, to: delayGoal, in: span)
    delay = delay + change
    return change.seconds
  }

  /// Returns how far a latency moves in a span while there is sound.
  package static func step(
    from latency: Nanoseconds, to goal: Nanoseconds, in span: Nanoseconds
  ) -> Nanoseconds {
    let most = Nanoseconds(Int64(Double(span.count) * growth))
    let least = Nanoseconds(-Int64(Double(span.count) * shrinkage))
    return min(max(goal - latency, least), most)
  }

  private func sound() -> [Float]? {
    if delay != delayGoal, isQuiet(lastBlock), let block = jump(changingDelay: true) {
      return block
    }
    let error = target(nextFrame) - position
    if abs(error) > Self.jump * rate { return jump(changingDelay: false) }
    let before = delay
    let stretch = moveDelay()
    let frames = Double(configuration.blockFrames)
    let isStart = Double(nextFrame) < Self.startSeconds * rate
    let limit = isStart ? Self.mostSteeringAtStart : Self.mostSteering
    let correction = min(max(error / (Self.steering * rate), -limit), limit)
    let step = (1 + clock.drift) * (1 - stretch * rate / frames) + correction
    guard let block = render(from: position, step: step) else {
      delay = before
      return nil
    }
    position += step * frames
    return block
  }

  /// Jumps to the position that the clock gives, in a cross-fade.
  private func jump(changingDelay: Bool) -> [Float]? {
    let before = delay
    if changingDelay { stepDelay() }
    let place = target(nextFrame)
    let step = 1 + clock.drift
    guard var block = render(from: place, step: step) else {
      delay = before
      // The old position may still have frames; else there will be silence.
      return changingDelay ? nil : playOn(step: step)
    }
    if let old = render(from: position, step: step) {
      crossFade(from: old, to: &block)
    } else {
      crossFade(from: mirroredTail(), to: &block)
    }
    position = place + step * Double(configuration.blockFrames)
    if !changingDelay { figures.jumps += 1 }
    return block
  }

  private func playOn(step: Double) -> [Float]? {
    guard let block = render(from: position, step: step) else { return nil }
    position += step * Double(configuration.blockFrames)
    return block
  }

  private func soundAgain() -> [Float]? {
    guard clock.isSettled else { return nil }
    stepDelay()
    let place = target(nextFrame)
    let step = 1 + clock.drift
    // Nothing is heard twice.
    guard place >= position - Self.jump * rate, var block = render(from: place, step: step) else {
      return nil
    }
    crossFade(from: [], to: &block)
    position = place + step * Double(configuration.blockFrames)
    state = .sounding
    return block
  }

  private func fallSilent() -> [Float] {
    figures.holes += 1
    state = .silent(Silence())
    var block = silence()
    crossFade(from: mirroredTail(), to: &block)
    countSilence()
    return block
  }

  private func staySilent(_ silence: Silence, at now: LocalTime) -> [Float] {
    countSilence()
    if let returned = silence.returned, silence.arrivals >= 2, now - returned >= Self.pauseTime {
      clock.rephase()
      state = .silent(Silence())
    }
    return self.silence()
  }

  private func countSilence() {
    let frames = Int64(configuration.blockFrames)
    figures.silentFrames += frames
    clock.waited(due(nextFrame + frames) - due(nextFrame))
  }
}

// MARK: - Samples

extension LiveIntake {
  private func silence() -> [Float] {
    Array(repeating: 0, count: configuration.blockFrames * channelCount)
  }

  /// Returns a block from a position in the source on; nil if frames that it needs have not come, or are gone.
  private func render(from place: Double, step: Double) -> [Float]? {
    let start = place - Double(firstFrame)
    let end = start + step * Double(configuration.blockFrames)
    let count = samples.count / channelCount
    guard start >= Double(kernel.framesBefore), end + 1 < Double(count - kernel.framesAfter) else {
      return nil
    }
    var block = silence()
    var cursor = ResamplerCursor(position: start, step: step)
    let frames = configuration.blockFrames
    let rendered = unsafe samples.withUnsafeBufferPointer { source in
      unsafe block.withUnsafeMutableBufferPointer { output in
        guard let from = source.baseAddress, let to = output.baseAddress else { return 0 }
        return unsafe kernel.render(
          from: from, sourceFrames: count, at: &cursor, into: to, frames: frames)
      }
    }
    return rendered == frames ? block : nil
  }

  /// Cross-fades from one block into another that begins at the same time; `old` may be shorter.
  private func crossFade(from old: [Float], to new: inout [Float]) {
    let length = min(
      max(Int(Self.fadeSeconds * rate), 1), configuration.blockFrames)
    for frame in 0..<length {
      let gain = fadeIn(at: Double(frame) / Double(length))
      for channel in 0..<channelCount {
        let index = frame * channelCount + channel
        let before = index < old.count ? old[index] : 0
        new[index] = before + (new[index] - before) * gain
      }
    }
  }

  /// Returns the last block backwards, so that the sound goes on from its end without a click.
  private func mirroredTail() -> [Float] {
    var tail: [Float] = []
    tail.reserveCapacity(lastBlock.count)
    for frame in (0..<(lastBlock.count / channelCount)).reversed() {
      tail += lastBlock[frame * channelCount..<(frame + 1) * channelCount]
    }
    return tail
  }

  private func isQuiet(_ block: [Float]) -> Bool {
    block.allSatisfy { abs($0) < Self.inaudible }
  }
}
