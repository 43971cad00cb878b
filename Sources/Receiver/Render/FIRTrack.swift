import Audio

/// Sends the music through a FIR filter, and decides from which frame on. While the filter is used, input is read ahead of
/// what is rendered, so that filtered sound is heard at its time. Render thread only.
@safe
struct FIRTrack: ~Copyable {
  var convolver: Convolver
  /// True while frames go through the convolver, filtered or not.
  private(set) var isActive = false
  /// The next device frame to be rendered.
  private(set) var next: Int64 = 0
  private var isWanted = false
  /// The share of filtered sound.
  private var change: CrossFade

  private let hasFilter: Bool

  /// `response` is nil if the room has no filter: then it is never active, and takes little memory.
  init(_ response: ImpulseResponse?, rewindFrames: Int, sampleRate: Int, channelCount: Int) {
    hasFilter = response != nil
    convolver = Convolver(
      response ?? .unit, rewindFrames: response == nil ? 0 : rewindFrames,
      channelCount: channelCount)
    change = CrossFade(sampleRate: sampleRate)
  }

  @_noLocks @_noAllocation
  mutating func want(_ isWanted: Bool) { self.isWanted = isWanted && hasFilter }

  /// True if it should be active and is not.
  var shouldBegin: Bool { @_noLocks @_noAllocation get { isWanted && !isActive } }

  /// Becomes active. `isSilent` is true if nothing has sounded so far: then the filter is used at once, else as soon as it
  /// has heard as much as it is long.
  @_noLocks @_noAllocation
  mutating func begin(at frame: Int64, isSilent: Bool) {
    isActive = true
    next = frame
    convolver.begin(at: frame)
    change.stay(at: isSilent ? 1 : 0)
    if !isSilent { change.begin(1, at: .max) }
  }

  /// The card plays from `frame` on, after a silence.
  @_noLocks @_noAllocation
  mutating func restart(at frame: Int64) {
    isActive = false
    if isWanted { begin(at: frame, isSilent: true) }
  }

  @_noLocks @_noAllocation
  mutating func rewind(to frame: Int64) { next = min(next, frame) }

  /// How far ahead of it the input of a frame decides on its sound, if that was rendered already.
  @_noLocks @_noAllocation
  func reach(oldest: Int64) -> Int64 {
    if change.to == 1 { return change.start <= next ? convolver.reach : 0 }
    return change.isOver(before: oldest) ? 0 : convolver.reach
  }

  /// Decides about the next `frames` frames, and returns how many of them it renders: 0 if it is not active any more.
  @_noLocks @_noAllocation
  mutating func prepare(_ frames: Int, oldest: Int64) -> Int {
    if change.to == 1 {
      if change.start == .max { return prepareStart(frames) }
      if !isWanted, change.isOver(before: oldest) { change.begin(0, at: next) }
    } else if isWanted, change.isOver(before: oldest) {
      change.begin(1, at: .max)
      return prepareStart(frames)
    } else if change.isOver(before: oldest) {
      let left = Int(max(0, convolver.next - next))
      isActive = left > 0
      return min(left, frames)
    }
    return frames
  }

  @_noLocks @_noAllocation
  private mutating func prepareStart(_ frames: Int) -> Int {
    if !isWanted {
      change.stay(at: 0)
    } else if convolver.readyUntil >= next + Int64(frames),
      next >= convolver.origin + convolver.length - convolver.reach
    {
      change.place(at: next)
    }
    return frames
  }

  /// One past the last frame of input that the next `frames` frames need. Before the filter is used, it grows by no more
  /// than a block at a time, so that no turn takes long.
  @_noLocks @_noAllocation
  func neededInput(_ frames: Int) -> Int64 {
    let end = next + Int64(frames)
    if change.to == 0, change.isOver(before: next) { return end }
    let whole = end + convolver.reach + Int64(Convolver.block)
    return change.start == .max
      ? max(end, min(whole, convolver.next + Int64(frames + Convolver.block))) : whole
  }

  /// Renders frames that were prepared and have their input.
  @_noLocks @_noAllocation
  mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int) {
    unsafe convolver.read(from: next, into: out, frames: frames, change)
    next += Int64(frames)
  }
}
