import Audio

/// Makes the samples of a `PlayoutRun`: fetches frames from the ring, interpolates between them, and fades at holes
/// and ramped cuts of the ring. Missing frames are silence. Render thread only.
@safe
struct FrameSampler: ~Copyable {
  /// Largest number of device frames made at a time.
  static var chunk: Int { @_noLocks @_noAllocation get { 512 } }

  var reader: FrameRingReader
  private let kernel: ResamplerKernel
  private let channelCount: Int
  private let fadeFrames: Int
  /// Number of frames before and after a position that affect its sound.
  private let margin: Int
  /// The window's state: true if no hole or cut is near, and the first hole at or after the position.
  private var isWhole = true
  private var hole: StreamHole?
  /// The stream frames around a chunk.
  private let window: UnsafeMutablePointer<Float>
  /// For each stream frame around a chunk: its distance in frames to the next hole or cut; 0 in a hole, at most
  /// `fadeFrames`.
  private let distances: UnsafeMutablePointer<Int32>
  /// Fade level at the last device frame, 0...1.
  private var level: Float = 0
  /// Fade levels of all device frames that may be rendered again, by frame number modulo `levelCount`.
  private let levels: UnsafeMutablePointer<Float>
  private let levelCount: Int64

  /// `sampleRate` is that of the ring's frames, in Hz; `rewindFrames` is the longest distance that `rewind` can go
  /// back.
  init(ring: FrameRing, sampleRate: Int, fadeFrames: Int, rewindFrames: Int) {
    reader = FrameRingReader(ring)
    kernel = ResamplerKernel(channelCount: ring.channelCount, sampleRate: sampleRate)
    precondition(kernel.framesAfter <= kernelReach)
    channelCount = ring.channelCount
    self.fadeFrames = fadeFrames
    margin = FrameSampler.margin(fadeFrames: fadeFrames)
    // The step is near one; twice its frames are more than a chunk can need.
    let frames = 2 * (FrameSampler.chunk + margin)
    unsafe window = .allocate(capacity: frames * channelCount)
    unsafe window.initialize(repeating: 0, count: frames * channelCount)
    unsafe distances = .allocate(capacity: frames)
    unsafe distances.initialize(repeating: 0, count: frames)
    levelCount = Int64(rewindFrames + FrameSampler.chunk)
    unsafe levels = .allocate(capacity: Int(levelCount))
    unsafe levels.initialize(repeating: 0, count: Int(levelCount))
  }

  deinit {
    unsafe window.deallocate()
    unsafe distances.deallocate()
    unsafe levels.deallocate()
  }

  /// Returns the number of frames before and after a position that affect its sound.
  @_noLocks @_noAllocation
  static func margin(fadeFrames: Int) -> Int { max(fadeFrames, kernelReach) + 2 }

  /// Makes device frame `frame` the next one: a frame that was rendered before, or the one that follows.
  @_noLocks @_noAllocation
  mutating func rewind(to frame: Int64) { level = unsafe levels[slot(of: frame - 1)] }

  /// Starts at silence, because the last rendered frames are not heard.
  @_noLocks @_noAllocation
  mutating func restart() { level = 0 }

  @_noLocks @_noAllocation
  private func slot(of frame: Int64) -> Int { Int((frame % levelCount + levelCount) % levelCount) }

  @_noLocks @_noAllocation
  mutating func renderSilence(
    at first: Int64, into out: UnsafeMutablePointer<Float>, frames: Int
  ) {
    for i in 0..<frames * channelCount { unsafe out[i] = 0 }
    level = 0
    for i in 0..<frames { unsafe levels[slot(of: first + Int64(i))] = 0 }
  }

  /// Renders up to `chunk` frames. Returns the first hole, even one directly after the last frame, because it causes
  /// a fade.
  @_noLocks @_noAllocation
  mutating func render(
    _ sound: PlayoutRun.Sound, at first: Int64, into out: UnsafeMutablePointer<Float>, frames: Int
  ) -> StreamHole? {
    let before = margin
    let span = Int(floorOf(sound.position.fraction + Double(frames) * sound.step)) + 1
    isWhole = true
    hole = nil
    fetch(from: sound.position.frame - Int64(before), count: span + 2 * before)
    unsafe interpolate(sound, from: before, into: out, frames: frames)
    if isWhole, isSteady(sound, frames: frames) {
      for i in 0..<frames { unsafe levels[slot(of: first + Int64(i))] = 1 }
      return hole
    }
    unsafe fade(sound, at: first, from: before, into: out, frames: frames)
    return hole
  }

  /// Returns the hole that `render` would return, without rendering.
  mutating func findHole(in sound: PlayoutRun.Sound, frames: Int) -> StreamHole? {
    let span = Int64(floorOf(sound.position.fraction + Double(frames) * sound.step)) + 1
    var frame = sound.position.frame - Int64(margin)
    let end = sound.position.frame + span + Int64(margin)
    hole = nil
    while frame < end {
      let run = reader.run(at: frame, limit: end)
      if case .none = run.place {
        noteHole(from: frame, to: run.end, position: sound.position.frame)
      }
      frame = run.end
    }
    return hole
  }

  /// Fills `window` and `distances` from stream frame `first` on.
  @_noLocks @_noAllocation
  private mutating func fetch(from first: Int64, count: Int) {
    var index = 0
    var distance = Int32(fadeFrames)
    var endsRamped = false
    let cross = reader.crossFade(from: first, to: first + Int64(count))
    while index < count {
      let run = reader.run(at: first + Int64(index), limit: first + Int64(count))
      let length = Int(run.end - first) - index
      if let place = run.place {
        unsafe reader.copy(from: place, count: length, into: window + index * channelCount)
        let isCrossed = cross.isCut(at: first + Int64(index))
        if !isCrossed, run.startsRamped || endsRamped { distance = 0 }
      } else {
        for i in 0..<length * channelCount { unsafe window[index * channelCount + i] = 0 }
        distance = -1
        noteHole(from: first + Int64(index), to: run.end, position: first + Int64(margin))
      }
      if distance < fadeFrames { isWhole = false }
      distance = setDistances(from: index, count: length, after: distance)
      endsRamped = run.endsRamped
      index += length
    }
    if !isWhole { limitDistances(count: count) }
    if let cross { mix(cross, from: first, count: count) }
  }

  /// Mixes the frames that fade out behind a cut with those in `window`, which begins with stream frame `first`.
  @_noLocks @_noAllocation
  private func mix(_ cut: FrameCut, from first: Int64, count: Int) {
    var frame = max(cut.from, first)
    let end = min(cut.from + cut.crossFrames, first + Int64(count))
    while frame < end {
      let run = reader.tail(of: cut, at: frame, limit: end)
      guard let place = run.place else { return }
      let index = Int(frame - first)
      for i in 0..<Int(run.end - frame) {
        let gain = fadeIn(at: Double(frame + Int64(i) - cut.from) / Double(cut.crossFrames))
        for channel in 0..<channelCount {
          let old = reader.sample(at: place + i, channel)
          let sample = (index + i) * channelCount + channel
          unsafe window[sample] = old + (window[sample] - old) * gain
        }
      }
      frame = run.end
    }
  }

  @_noLocks @_noAllocation
  private mutating func noteHole(from start: Int64, to end: Int64, position: Int64) {
    guard end > position else { return }
    if let known = hole {
      if known.end == start { hole?.end = end }
    } else {
      hole = StreamHole(start: max(start, position), end: end)
    }
  }

  /// Sets each frame's distance to the hole or cut before it; -1 marks a hole. Returns the last distance.
  @_noLocks @_noAllocation
  private func setDistances(from index: Int, count: Int, after distance: Int32) -> Int32 {
    guard distance >= 0 else {
      for i in 0..<count { unsafe distances[index + i] = 0 }
      return 0
    }
    var distance = distance
    for i in 0..<count {
      distance = min(distance + 1, Int32(fadeFrames))
      unsafe distances[index + i] = distance
    }
    return distance
  }

  /// Limits the distances by the holes and cuts that follow: a frame at distance 1 follows a hole or a cut, so the
  /// frame before it is as near.
  @_noLocks @_noAllocation
  private func limitDistances(count: Int) {
    var distance = Int32(fadeFrames)
    for i in 0..<count {
      let index = count - 1 - i
      let own = unsafe distances[index]
      distance = own == 0 ? 0 : min(distance + 1, Int32(fadeFrames))
      unsafe distances[index] = min(own, distance)
      if own == 1 { distance = 0 }
    }
  }

  @_noLocks @_noAllocation
  private func interpolate(
    _ sound: PlayoutRun.Sound, from start: Int, into out: UnsafeMutablePointer<Float>, frames: Int
  ) {
    let source = unsafe UnsafePointer(window + start * channelCount)
    if sound.step == 1, sound.position.fraction == 0 {
      for i in 0..<frames * channelCount { unsafe out[i] = source[i] }
      return
    }
    for i in 0..<frames {
      let offset = sound.position.fraction + Double(i) * sound.step
      let frame = Int(offset)
      unsafe kernel.interpolate(
        at: source + frame * channelCount, fraction: offset - Double(frame),
        into: out + i * channelCount)
    }
  }

  /// True if nothing is fading, provided that the ring has all frames.
  @_noLocks @_noAllocation
  private func isSteady(_ sound: PlayoutRun.Sound, frames: Int) -> Bool {
    level == 1 && sound.framesSinceStart >= fadeFrames
      && sound.framesToEnd - Int64(frames) >= fadeFrames
  }

  /// Applies all fades.
  @_noLocks @_noAllocation
  private mutating func fade(
    _ sound: PlayoutRun.Sound, at first: Int64, from start: Int,
    into out: UnsafeMutablePointer<Float>, frames: Int
  ) {
    let length = Int64(fadeFrames)
    for i in 0..<frames {
      let offset = sound.position.fraction + Double(i) * sound.step
      let edge = min(
        min(sound.framesSinceStart + Int64(i) + 1, sound.framesToEnd - Int64(i)), length)
      let target = min(streamLevel(at: offset, from: start), Float(edge) / Float(length))
      // Frames that arrive at the last moment end a fade early, and are faded in.
      level = min(target, level + 1 / Float(length))
      unsafe levels[slot(of: first + Int64(i))] = level
      let gain = fadeIn(at: Double(level))
      for channel in 0..<channelCount { unsafe out[i * channelCount + channel] *= gain }
    }
  }

  @_noLocks @_noAllocation
  private func streamLevel(at offset: Double, from start: Int) -> Float {
    let frame = Int(offset)
    let before = unsafe Float(distances[start + frame])
    let after = unsafe Float(distances[start + frame + 1])
    return (before + (after - before) * Float(offset - Double(frame))) / Float(fadeFrames)
  }
}

extension Optional where Wrapped == FrameCut {
  /// True if it is a cut at this stream frame.
  @_noLocks @_noAllocation
  fileprivate func isCut(at frame: Int64) -> Bool {
    guard let cut = self else { return false }
    return cut.from == frame
  }
}

/// Stream frames that are due and missing.
struct StreamHole {
  var start: Int64
  /// One past the last missing frame, as far as the search went.
  var end: Int64

  @_noLocks @_noAllocation
  init(start: Int64, end: Int64) {
    self.start = start
    self.end = end
  }
}

/// Largest possible `ResamplerKernel.framesAfter`, because the render thread needs the margin without a kernel.
private let kernelReach = 36
