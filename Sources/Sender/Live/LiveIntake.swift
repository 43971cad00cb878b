package import Audio
package import Clock

/// Frames of a live source, on group time.
package struct LiveBlock: Hashable, Sendable {
  /// When the first frame is due: the source had made it by then, and it is to be heard one latency later.
  package var due: LocalTime
  /// Interleaved.
  package var frames: [Float]
  /// Whether the source had nothing for a part of it.
  package var hasHole: Bool
}

/// Takes what a live source gives, when it gives it, and makes a stream of it that keeps pace with the sender's clock.
///
/// The place in the source follows its measured clock, and never how much of it waits: audio is neither held up nor used
/// up, however long it plays. What comes later than `allowance` is left out, so that the latency stays as it is; the time
/// without audio is silence. One thread at a time.
package final class LiveIntake {
  package struct Configuration: Hashable, Sendable {
    /// Of the source, and of the blocks.
    package var format: AudioFormat
    /// Frames of a block.
    package var blockFrames: Int
    /// How much later than the source's clock says its frames may come.
    package var allowance: Nanoseconds
    /// Whether the audio that waits at the start is played, as that of a file is, or left out.
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

  /// What a user may want to know.
  package struct Figures: Hashable, Sendable {
    /// Times without audio, and frames of silence in them.
    package var holes = 0
    package var silentFrames: Int64 = 0
    /// Jumps to another place of the source, to keep the latency.
    package var jumps = 0
  }

  /// Seconds of the source that are kept: more than an allowance of a second, and the largest pipe.
  package static let keptSeconds = 3
  /// Farther off than this, the place jumps instead of moving there. Seconds: what ±300 ppm correct in 17 s.
  private static let jump = 5e-3
  /// Time constant of corrections. Seconds: ten times the longest usual burst, so that a clock that moves with each of
  /// them is not heard.
  private static let steering = 2.0
  /// The largest correction. Dimensionless: half a cent, which nobody hears; and what a clock that is not yet known needs.
  private static let mostSteering = 300e-6
  private static let mostSteeringAtStart = 1000e-6
  private static let startSeconds = 60.0
  /// The fastest changes of the delay: parts of the time that passes. It grows because there are holes, which are worse
  /// than a pitch that is 3.5 cents lower for a while; few people hear 5 cents.
  private static let growth = 2000e-6
  private static let shrinkage = 300e-6
  /// Quieter than this, nobody hears a step: −60 dBFS.
  private static let inaudible: Float = 0.001
  /// Of a jump, and of the end and beginning of a time without audio. Seconds.
  private static let fadeSeconds = 5e-3
  /// Frames that keep coming too late for so long mean that the source has paused.
  private static let patience = Nanoseconds.milliseconds(300)

  package let configuration: Configuration
  package private(set) var clock: SourceClock
  package private(set) var figures = Figures()
  /// In the source, of the next frame that comes out.
  package private(set) var position = 0.0
  /// How much later than the source's clock says the stream is; moves to `delayGoal`.
  package private(set) var delay = Nanoseconds.zero
  /// Whoever sets it gives each room the same latency, which changes by as much.
  package var delayGoal = Nanoseconds.zero
  /// As in the configuration; may follow a change of the latency.
  package var allowance: Nanoseconds

  private enum State {
    case sounding
    case silent(Silence)
  }

  private struct Silence {
    /// When frames came again, and how often they did since.
    var returned: LocalTime?
    var arrivals = 0
  }

  private var state = State.silent(Silence())
  private var hasSounded = false
  /// When the first frame that comes out is due.
  package private(set) var beginning: LocalTime
  /// Since `beginning`.
  private var nextFrame: Int64 = 0
  /// Of the source, from `firstFrame` on, interleaved.
  private var samples: [Float]
  private var firstFrame: Int64
  private var lastBlock: [Float] = []
  private var bursts = BurstWatch()
  private var longBlocks: Nanoseconds?
  private let kernel: ResamplerKernel

  /// Begins at `now`, with silence until the source does.
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
  /// Frames of the source that have come in all.
  package var receivedFrames: Int64 { firstFrame + Int64(samples.count / channelCount) }
}

// MARK: - What comes

extension LiveIntake {
  /// Whole frames that were read at `now`.
  package func arrived(_ frames: [Float], at now: LocalTime) {
    guard frames.count >= channelCount else { return }
    samples += frames.prefix(frames.count / channelCount * channelCount)
    forgetOldFrames()
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

  /// A card had taken `frame` frames at `time`.
  package func observed(_ frame: Int64, at time: LocalTime, uncertainty: Nanoseconds) {
    guard case .card(var clock) = clock else { return }
    _ = clock.observe(DeviceFrame(frame), at: time, uncertainty: uncertainty)
    self.clock = .card(clock)
  }

  /// The card was started anew: it took nothing for a time.
  package func cardRestarted() { clock.rephase() }

  /// Another program writes, or another card records: nothing that was learned of the one before holds.
  package func sourceChanged(to clock: SourceClock) {
    self.clock = clock
    bursts = BurstWatch()
    if case .sounding = state { figures.holes += 1 }
    state = .silent(Silence())
  }

  /// How long the blocks of a program are, where they are longer than its frames may be late; told once.
  package func takeLongBlocks() -> Nanoseconds? {
    defer { longBlocks = nil }
    return longBlocks
  }

  /// Nothing more comes; the place in the source where it ends.
  package func end() -> Double {
    let end = receivedFrames
    // What the resampler looks ahead.
    samples += silence() + Array(repeating: 0, count: (kernel.framesAfter + 2) * channelCount)
    return Double(end)
  }

  /// The source turns out to write as fast as it is read.
  package func pace() {
    if case .paced = clock { return }
    // Where it sounds already it goes on; else it begins with the next block.
    let start = configuration.keepsBacklog ? 0 : Double(receivedFrames)
    clock = .paced(
      PacedClock(
        sampleRate: configuration.format.sampleRate, time: due(nextFrame),
        frame: hasSounded ? position + delay.seconds * rate : start))
  }

  /// How many frames to read now of a source that is paced, so that the blocks of the next `lead` can be made; nil where
  /// the source has a clock of its own.
  package func wantedFrames(at now: LocalTime, lead: Nanoseconds) -> Int? {
    guard case .paced(let clock) = clock else { return nil }
    let taps = Double(kernel.framesAfter + configuration.blockFrames)
    let wanted = clock.frame(at: now + lead) + taps - Double(receivedFrames)
    return Int(min(max(wanted, 0), rate))
  }

  /// Nobody has asked for blocks until `now`: those that were due meanwhile never come out.
  package func skip(to now: LocalTime) {
    let behind = now - due(nextFrame)
    if behind > .zero { beginning = beginning + behind }
    if case .sounding = state { state = .silent(Silence()) }
  }

  private func forgetOldFrames() {
    let limit = Self.keptSeconds * configuration.format.sampleRate
    var surplus = samples.count / channelCount - limit
    if case .sounding = state {
      // What lies behind the place is not needed any more.
      surplus = max(surplus, Int(Int64(position) - Int64(kernel.framesBefore) - firstFrame))
    }
    // Moved seldom, because that moves all that is kept.
    guard surplus > limit / 8 else { return }
    samples.removeFirst(surplus * channelCount)
    firstFrame += Int64(surplus)
  }
}

// MARK: - What comes out

extension LiveIntake {
  /// When `nextBlock` has something at the latest.
  package var nextDeadline: LocalTime {
    due(nextFrame + Int64(configuration.blockFrames)) + allowance - delay
  }

  /// The next block, as soon as its frames have come or its deadline has passed. Ask until it gives none.
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

  /// When an output frame is due. Divided first, so that days do not overflow.
  private func due(_ frame: Int64) -> LocalTime {
    let rate = Int64(configuration.format.sampleRate)
    let (seconds, rest) = frame.quotientAndRemainder(dividingBy: rate)
    return beginning + Nanoseconds(seconds * 1_000_000_000 + rest * 1_000_000_000 / rate)
  }

  /// The place in the source that belongs to an output frame.
  private func target(_ frame: Int64) -> Double { clock.frame(at: due(frame) - delay) }

  private func stepDelay() { delay = delayGoal }

  /// Moves the delay towards its goal, by as much as the span of a block allows; the change in seconds.
  private func moveDelay() -> Double {
    let span = Nanoseconds(Int64(configuration.blockFrames) * 1_000_000_000 / Int64(rate))
    let change = Self.step(from: delay, to: delayGoal, in: span)
    delay = delay + change
    return change.seconds
  }

  /// How far a latency moves in a time while there is sound.
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

  /// To where the clock says that the place is, in a cross-fade.
  private func jump(changingDelay: Bool) -> [Float]? {
    let before = delay
    if changingDelay { stepDelay() }
    let place = target(nextFrame)
    let step = 1 + clock.drift
    guard var block = render(from: place, step: step) else {
      delay = before
      // The old place may still have frames; else there will be silence.
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
    guard var block = render(from: place, step: step) else { return nil }
    crossFade(from: [], to: &block)
    position = place + step * Double(configuration.blockFrames)
    state = .sounding
    hasSounded = true
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
    if let returned = silence.returned, silence.arrivals >= 2, now - returned >= Self.patience {
      clock.rephase()
      state = .silent(Silence())
    }
    return self.silence()
  }

  private func countSilence() { figures.silentFrames += Int64(configuration.blockFrames) }
}

// MARK: - Samples

extension LiveIntake {
  private func silence() -> [Float] {
    Array(repeating: 0, count: configuration.blockFrames * channelCount)
  }

  /// A block from a place of the source on; nil where frames that it needs have not come, or are gone.
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

  /// Of one block into another that begins at the same time; `old` may be shorter.
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

  /// The end of the last block, backwards: it goes on from there without a click.
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
