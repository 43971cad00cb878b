import Audio

/// Applies the room's sound setting to the frames for the sound card, in place: all but the FIR filter. It changes from
/// one setting to another by a cross-fade, and remembers enough to render frames again. Render thread only.
///
/// While nothing is set, it touches no sample.
@safe
struct SoundTrack: ~Copyable {
  private let channelCount: Int
  /// The setting that plays, and the one that fades out.
  private var current: FilterRun
  private var outgoing: FilterRun
  private var change: CrossFade
  /// The setting last asked for.
  private var wanted = SoundProgram()
  private var isChanging = false
  /// The next device frame.
  private var next: Int64 = 0
  private var tape: SoundTape
  /// Frames that fade out, of one segment.
  private let faded: UnsafeMutablePointer<Double>

  /// `rewindFrames` is the longest distance that `rewind` can go back.
  init(sampleRate: Int, channelCount: Int, rewindFrames: Int) {
    self.channelCount = channelCount
    change = CrossFade(sampleRate: sampleRate)
    current = FilterRun(rewindFrames: rewindFrames)
    outgoing = FilterRun(rewindFrames: rewindFrames)
    tape = SoundTape(rewindFrames: rewindFrames)
    unsafe faded = .allocate(capacity: 2 * FilterRun.segment)
    unsafe faded.initialize(repeating: 0, count: 2 * FilterRun.segment)
  }

  deinit { unsafe faded.deallocate() }

  // MARK: - Changes

  @_noLocks @_noAllocation
  mutating func set(_ program: SoundProgram) {
    wanted = program
    isChanging = isChanging || !program.isOff || !current.program.isOff
  }

  /// True if a change waits that can begin now. One begins only when the one before it was heard, so that there are never
  /// more than two settings to render again. `oldest` is the first frame that can be rendered again.
  @_noLocks @_noAllocation
  func canChange(oldest: Int64) -> Bool { isChanging && change.isOver(before: oldest) }

  @_noLocks @_noAllocation
  private mutating func beginChange() {
    isChanging = false
    current.exchange(&outgoing)
    current.begin(wanted, at: next)
    change.begin(1 - change.to, at: next)
  }

  @_noLocks @_noAllocation
  mutating func rewind(to frame: Int64) {
    guard frame < next else {
      next = frame
      return
    }
    next = frame
    current.goBack(to: frame, tape)
    if !change.isOver(before: frame) { outgoing.goBack(to: frame, tape) }
  }

  /// Restarts at a frame: earlier ones are not heard.
  @_noLocks @_noAllocation
  mutating func restart(at frame: Int64) {
    next = frame
    change.stay(at: change.to)
    if isChanging {
      isChanging = false
      current.begin(wanted, at: frame)
    } else {
      current.begin(current.program, at: frame)
    }
  }

  // MARK: - Rendering

  /// Changes frames in place, at most `FrameSampler.chunk`; the first is device frame `first`.
  @_noLocks @_noAllocation
  mutating func apply(
    to samples: UnsafeMutablePointer<Float>, at first: Int64, frames: Int, oldest: Int64
  ) {
    if first != next { rewind(to: first) }
    if canChange(oldest: oldest) { beginChange() }
    var done = 0
    while done < frames {
      // Segments end at multiples of their length, where states are kept.
      let length = FilterRun.segment - Int(next & Int64(FilterRun.segment - 1))
      let count = min(length, frames - done)
      unsafe applySegment(samples + done * channelCount, frames: count)
      next += Int64(count)
      done += count
    }
  }

  @_noLocks @_noAllocation
  private mutating func applySegment(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
    let fades = !change.isOver(before: next)
    guard fades || !current.program.isOff else { return }
    unsafe tape.keep(samples, at: next, frames: frames, channelCount: channelCount)
    let (left, right) = unsafe (tape.left, tape.right)
    if fades {
      outgoing.advance(tape, at: next, frames: frames)
      for i in 0..<frames {
        unsafe faded[2 &* i] = left[i]
        unsafe faded[2 &* i &+ 1] = right[i]
      }
    }
    current.advance(tape, at: next, frames: frames)
    for i in 0..<frames {
      let share = fades ? Double(shareOfCurrent(at: next + Int64(i))) : 1
      if share < 1 {
        unsafe left[i] = faded[2 &* i] + (left[i] - faded[2 &* i]) * share
        unsafe right[i] = faded[2 &* i &+ 1] + (right[i] - faded[2 &* i &+ 1]) * share
      }
      unsafe samples[i &* channelCount] = Float(left[i])
      if channelCount > 1 { unsafe samples[i &* channelCount &+ 1] = Float(right[i]) }
    }
  }

  /// The two take turns, so that a change goes from 0 to 1 and the next one back.
  @_noLocks @_noAllocation
  private func shareOfCurrent(at frame: Int64) -> Float {
    let share = change.share(at: frame)
    return change.to == 1 ? share : 1 - share
  }
}

/// The input of all frames that may be rendered again, and the samples that a filter works on.
@safe
private struct SoundTape: ~Copyable {
  /// One segment each.
  let left: UnsafeMutablePointer<Double>
  let right: UnsafeMutablePointer<Double>
  /// Two samples a frame.
  private let input: UnsafeMutablePointer<Float>
  private let frameCount: Int64

  init(rewindFrames: Int) {
    frameCount = Int64(rewindFrames + 4 * FilterRun.segment)
    unsafe input = .allocate(capacity: Int(frameCount) * 2)
    unsafe input.initialize(repeating: 0, count: Int(frameCount) * 2)
    unsafe left = .allocate(capacity: FilterRun.segment)
    unsafe left.initialize(repeating: 0, count: FilterRun.segment)
    unsafe right = .allocate(capacity: FilterRun.segment)
    unsafe right.initialize(repeating: 0, count: FilterRun.segment)
  }

  deinit {
    unsafe input.deallocate()
    unsafe left.deallocate()
    unsafe right.deallocate()
  }

  @_noLocks @_noAllocation
  private func place(of frame: Int64) -> Int {
    2 &* Int((frame % frameCount + frameCount) % frameCount)
  }

  @_noLocks @_noAllocation
  func keep(
    _ samples: UnsafeMutablePointer<Float>, at first: Int64, frames: Int, channelCount: Int
  ) {
    let second = channelCount > 1 ? 1 : 0
    for i in 0..<frames {
      let place = place(of: first + Int64(i))
      unsafe input[place] = samples[i &* channelCount]
      unsafe input[place &+ 1] = samples[i &* channelCount &+ second]
    }
  }

  /// Fills `left` and `right`.
  @_noLocks @_noAllocation
  func fetch(from first: Int64, frames: Int) {
    for i in 0..<frames {
      let place = place(of: first + Int64(i))
      unsafe left[i] = Double(input[place])
      unsafe right[i] = Double(input[place &+ 1])
    }
  }
}

/// A setting with its memory, which it keeps at intervals, so that it can go back.
@safe
private struct FilterRun: ~Copyable {
  /// Distance of the kept states, in frames: a power of two.
  static var segment: Int { @_noLocks @_noAllocation get { 256 } }

  private(set) var program = SoundProgram()
  private var state = SoundState()
  /// The first frame; the memory was empty there.
  private var begin: Int64 = 0
  private var states: UnsafeMutablePointer<SoundState>
  private var stateCount: Int64

  init(rewindFrames: Int) {
    stateCount = Int64(rewindFrames / Self.segment + 4)
    unsafe states = .allocate(capacity: Int(stateCount))
    unsafe states.initialize(repeating: SoundState(), count: Int(stateCount))
  }

  deinit { unsafe states.deallocate() }

  /// Swaps this one and another, field by field: Swift 6.2 cannot tell that its own `swap` takes no lock.
  @_noLocks @_noAllocation
  mutating func exchange(_ other: inout FilterRun) {
    (program, other.program) = (other.program, program)
    (state, other.state) = (other.state, state)
    (begin, other.begin) = (other.begin, begin)
    unsafe (states, other.states) = (other.states, states)
    (stateCount, other.stateCount) = (other.stateCount, stateCount)
  }

  @_noLocks @_noAllocation
  mutating func begin(_ program: SoundProgram, at frame: Int64) {
    self.program = program
    begin = frame
    state = SoundState()
  }

  /// Fills the tape's `left` and `right` with filtered frames, which lie in one segment.
  @_noLocks @_noAllocation
  mutating func advance(_ tape: borrowing SoundTape, at frame: Int64, frames: Int) {
    tape.fetch(from: frame, frames: frames)
    if program.isOff { return }
    if frame & Int64(Self.segment - 1) == 0 {
      unsafe states[Int(frame / Int64(Self.segment) % stateCount)] = state
    }
    unsafe state.run(program, tape.left, tape.right, frames: frames)
  }

  /// Makes `frame` the next one: takes the last state that was kept before it, and filters the frames between again.
  @_noLocks @_noAllocation
  mutating func goBack(to frame: Int64, _ tape: borrowing SoundTape) {
    if program.isOff { return }
    let kept = frame & ~Int64(Self.segment - 1)
    if kept >= begin {
      state = unsafe states[Int(kept / Int64(Self.segment) % stateCount)]
      advance(tape, at: kept, frames: Int(frame - kept))
    } else {
      state = SoundState()
      let first = min(begin, frame)
      advance(tape, at: first, frames: Int(frame - first))
    }
  }
}
