internal import Audio
internal import Dispatch
internal import Sender
internal import Synchronization

/// What a program has enqueued and the serializer has not taken yet. Filled by any thread, read by the producer's, which
/// waits here for more.
final class SampleQueue: Sendable {
  /// Seconds of audio: enough for a program that looks after it now and then. The minutes are in the rooms.
  static let seconds = 2

  private struct State {
    /// In order, none before `nextFrame` but for its beginning.
    var buffers: [AudioBuffer] = []
    var frameCount = 0
    /// What is read next.
    var nextFrame: Int64 = 0
    /// Where reading must have begun; until a source was opened there, nothing is read. Nil: at the first buffer.
    var start: Int64?
    /// Whether a source was opened there.
    var isAligned = false
    /// Where a source is opened if nobody says anything: at the beginning, and only once.
    var opensAtZero = true
    var hasEnded = false
    /// The read under way is not wanted any more.
    var isAbandoned = false
    var isClosed = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var waiterCount = 0
  }

  let format: PCMFormat
  private let limit: Int
  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)

  init(format: PCMFormat) {
    self.format = format
    limit = format.sampleRate * Self.seconds
  }

  // MARK: - The program's side

  /// Frames that may be enqueued now.
  var room: Int {
    state.withLock { $0.isClosed || $0.hasEnded ? 0 : max(0, limit - $0.frameCount) }
  }

  /// Whether it is known where reading begins.
  var isPlaced: Bool { state.withLock { $0.start != nil } }

  /// Whether the rooms have been given audio beyond this frame, or are about to be.
  func hasRead(past frame: Int64) -> Bool {
    state.withLock { $0.isAligned && $0.nextFrame > frame }
  }

  /// Where a source must be opened, if this is the first buffer, which says where all begins.
  func enqueue(_ buffer: AudioBuffer) throws(TuttiError) -> Int64? {
    guard buffer.format == format else {
      throw .invalid("the buffer has another format than the renderer")
    }
    let result: Result<Int64?, TuttiError> = state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      if state.hasEnded { return .failure(.invalid("nothing can be enqueued after finish()")) }
      guard state.frameCount < limit else { return .failure(.queueIsFull) }
      state.buffers.append(buffer)
      state.frameCount += buffer.frameCount
      guard state.start == nil else { return .success(nil) }
      let isThere = state.opensAtZero && buffer.startFrame == 0
      start(at: buffer.startFrame, &state)
      return .success(isThere ? nil : buffer.startFrame)
    }
    signal.signal()
    return try result.get()
  }

  /// Nothing is read until a source is opened at `frame`; what lies before it is not wanted.
  func expect(start frame: Int64) {
    state.withLock { state in
      start(at: frame, &state)
      state.buffers.removeAll { $0.startFrame + Int64($0.frameCount) <= frame }
      state.frameCount = state.buffers.reduce(0) { $0 + $1.frameCount }
      wake(&state)
    }
    signal.signal()
  }

  private func start(at frame: Int64, _ state: inout State) {
    state.start = frame
    state.isAligned = state.opensAtZero && frame == 0
    state.opensAtZero = false
    if state.isAligned { state.nextFrame = 0 }
  }

  /// No more comes.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      wake(&state)
    }
    signal.signal()
  }

  /// Forgets everything from `frame` on. False where some of that was read already: it is in the rooms.
  func truncate(from frame: Int64) -> Bool {
    state.withLock { state in
      state.hasEnded = false
      guard state.isAligned, frame >= state.nextFrame else {
        state.buffers = []
        state.frameCount = 0
        wake(&state)
        return false
      }
      state.buffers.removeAll { $0.startFrame >= frame }
      if let last = state.buffers.popLast() { state.buffers.append(last.prefix(until: frame)) }
      state.frameCount = state.buffers.reduce(0) { $0 + $1.frameCount }
      wake(&state)
      return true
    }
  }

  /// Forgets everything; the next buffer says where it goes on.
  func reset() {
    state.withLock { state in
      state.buffers = []
      state.frameCount = 0
      state.isAligned = false
      state.opensAtZero = false
      state.start = nil
      state.hasEnded = false
      wake(&state)
    }
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.buffers = []
      state.frameCount = 0
      wake(&state)
    }
    signal.signal()
  }

  /// Frames that may be enqueued, once there is room for some; nil when nothing can be enqueued any more.
  func waitForRoom() async -> Int? {
    while !Task.isCancelled {
      let (room, isOver) = state.withLock { state in
        (limit - state.frameCount, state.isClosed || state.hasEnded)
      }
      if isOver { return nil }
      if room > 0 { return room }
      await waitForChange()
    }
    return nil
  }

  private func waitForChange() async {
    let number = state.withLock { state in
      state.waiterCount += 1
      return state.waiterCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          let isFull = state.frameCount >= limit && !state.isClosed && !state.hasEnded
          guard isFull, !Task.isCancelled else { return true }
          state.waiters[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }

  private func wake(_ state: inout State) {
    guard state.frameCount < limit || state.isClosed || state.hasEnded else { return }
    for waiter in state.waiters.values { waiter.resume() }
    state.waiters = [:]
  }

  // MARK: - The producer's side

  /// A source was opened at `frame`.
  func begin(at frame: Int64) {
    state.withLock { state in
      state.opensAtZero = state.opensAtZero && frame == 0
      guard state.start == frame, !state.isAligned else { return }
      state.isAligned = true
      state.nextFrame = frame
    }
  }

  /// Ends the read under way and those that follow until `readAgain`.
  func abandonRead() {
    state.withLock { $0.isAbandoned = true }
    signal.signal()
  }

  func readAgain() { state.withLock { $0.isAbandoned = false } }

  /// Appends up to `count` frames, silence where buffers leave a gap. Waits for the first of them; appends none at the
  /// end, or where the read was abandoned.
  func read(_ count: Int, appendingTo frames: inout [Float]) {
    while true {
      let isDone = state.withLock { state in
        if state.isAbandoned || state.isClosed { return true }
        guard state.isAligned else { return state.hasEnded && state.buffers.isEmpty }
        let before = frames.count
        take(count, from: &state, into: &frames)
        wake(&state)
        return frames.count > before || (state.hasEnded && state.buffers.isEmpty)
      }
      if isDone { return }
      signal.wait()
    }
  }

  private func take(_ count: Int, from state: inout State, into frames: inout [Float]) {
    var wanted = count
    trim(&state)
    while wanted > 0, let first = state.buffers.first {
      let gap = first.startFrame - state.nextFrame
      if gap > 0 {
        let silent = Int(min(gap, Int64(wanted)))
        frames.append(contentsOf: repeatElement(0, count: silent * format.channelCount))
        state.nextFrame += Int64(silent)
        wanted -= silent
        continue
      }
      let taken = min(wanted, first.frameCount + Int(gap))
      let start = Int(-gap) * format.channelCount
      frames += first.samples[start..<start + taken * format.channelCount]
      state.nextFrame += Int64(taken)
      wanted -= taken
      trim(&state)
    }
  }

  /// Drops buffers that lie wholly behind.
  private func trim(_ state: inout State) {
    while let first = state.buffers.first,
      first.startFrame + Int64(first.frameCount) <= state.nextFrame
    {
      state.frameCount -= first.frameCount
      state.buffers.removeFirst()
    }
  }
}

extension AudioBuffer {
  /// Without what lies at or after `frame`.
  fileprivate func prefix(until frame: Int64) -> AudioBuffer {
    let kept = min(Int64(frameCount), max(0, frame - startFrame))
    let samples = Array(samples.prefix(Int(kept) * format.channelCount))
    return (try? AudioBuffer(samples, format: format, at: presentationTime)) ?? self
  }
}

/// The queue as an item: opened again for each place that reading goes on from. Where it was opened is known by the
/// first read, for a seek may come before it.
final class QueueSource: MediaSource {
  let format: AudioFormat
  let sampleType: SampleType
  let isLossless = true
  let frameCount: Int64? = nil
  let metadata = ItemMetadata()
  let supply = Supply.piped
  private let queue: SampleQueue
  private var position: Int64 = 0
  private var hasBegun = false

  init(_ queue: SampleQueue) {
    self.queue = queue
    format = queue.format.audio
    sampleType = queue.format.sampleType
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    if !hasBegun { queue.begin(at: position) }
    hasBegun = true
    queue.read(count, appendingTo: &frames)
  }

  func seek(toFrame frame: Int64) {
    position = frame
    hasBegun = false
  }
}
