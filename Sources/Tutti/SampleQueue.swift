internal import Audio
internal import Dispatch
internal import Sender
internal import Synchronization

/// What a program has enqueued, until it has sounded: where the rate changes, and where a room comes that decodes less
/// than the others, it is read again. Filled by any thread, read by the producer's, which waits here for more.
final class SampleQueue: Sendable {
  /// Seconds of audio that were not read yet: enough for a program that looks after it now and then. The minutes are in
  /// the rooms.
  static let seconds = 2
  /// Bytes of samples in all: three minutes of stereo at 48 kHz.
  static let byteLimit = 64 << 20

  private struct State {
    var buffers = EnqueuedBuffers()
    /// Whether a first buffer has said where all begins.
    var isPlaced = false
    /// Until a source was opened there or later, nothing is read.
    var awaited: PlaybackTime?
    /// Where the newest source was opened, as long as nothing could be read there.
    var openedAt: PlaybackTime?
    /// Sources that have begun, of which the newest is the one that counts.
    var readerCount = 0
    /// Where that has come to.
    var readUntil = PlaybackTime.zero
    var hasEnded = false
    /// The read under way is not wanted any more.
    var isAbandoned = false
    var isClosed = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var waiterCount = 0

    var mayRead: Bool { isPlaced && awaited == nil }
  }

  /// Of what is enqueued, as long as nothing says otherwise.
  let format: PCMFormat
  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)

  init(format: PCMFormat) { self.format = format }

  // MARK: - The program's side

  /// Frames that may be enqueued now.
  var room: Int {
    state.withLock { $0.isClosed || $0.hasEnded ? 0 : roomLeft(in: $0) }
  }

  private func roomLeft(in state: State) -> Int {
    let left = Duration.seconds(Self.seconds) - state.buffers.unread
    let bytes = Self.byteLimit - state.buffers.byteCount
    let frames = left / .seconds(1) * Double(format.sampleRate)
    return max(
      0, min(Int(frames.rounded()), bytes / (format.channelCount * MemoryLayout<Float>.size)))
  }

  /// Whether it is known where reading begins.
  var isPlaced: Bool { state.withLock { $0.isPlaced } }

  /// Whether the rooms have been given audio beyond this time, or are about to be.
  func hasRead(past time: PlaybackTime) -> Bool {
    state.withLock { $0.mayRead && $0.readUntil > time }
  }

  /// Where a source must be opened, if this is the first buffer, which says where all begins.
  func enqueue(_ buffer: AudioBuffer) throws(TuttiError) -> PlaybackTime? {
    try enqueue { _ in buffer.frameCount > 0 ? EnqueuedBuffer(buffer) : nil }
  }

  func enqueue(_ buffer: CompressedBuffer) throws(TuttiError) -> PlaybackTime? {
    try enqueue { EnqueuedBuffer(buffer, after: $0) }
  }

  /// - Parameter make: given the one that was enqueued last; nil where there is nothing to enqueue.
  private func enqueue(
    _ make: (EnqueuedBuffer?) -> EnqueuedBuffer?
  ) throws(TuttiError) -> PlaybackTime? {
    let result: Result<PlaybackTime?, TuttiError> = state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      if state.hasEnded { return .failure(.invalid("nothing can be enqueued after finish()")) }
      guard roomLeft(in: state) > 0 else { return .failure(.queueIsFull) }
      guard let buffer = make(state.buffers.last) else { return .success(nil) }
      state.buffers.append(buffer)
      guard !state.isPlaced else { return .success(nil) }
      state.isPlaced = true
      state.awaited = state.openedAt == buffer.startTime ? nil : buffer.startTime
      return .success(state.awaited)
    }
    signal.signal()
    return try result.get()
  }

  /// Nothing is read until a source is opened at `time` or later.
  func expect(start time: PlaybackTime) {
    state.withLock { $0.awaited = time }
    signal.signal()
  }

  /// The number of sources that were opened so far.
  var readerCount: Int { state.withLock { $0.readerCount } }

  /// A source is about to be opened at `time`, or was since there were `count` of them.
  func reread(from time: PlaybackTime, since count: Int) {
    state.withLock { state in
      guard state.readerCount == count else { return }
      // The one that reads now counts no more.
      state.readerCount += 1
      state.readUntil = time
      state.buffers.rewind(to: time)
    }
  }

  /// No more comes.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      wake(&state)
    }
    signal.signal()
  }

  /// Forgets everything from `time` on. False where some of that was read already: it is in the rooms.
  func truncate(from time: PlaybackTime) -> Bool {
    state.withLock { state in
      state.hasEnded = false
      state.buffers.truncate(from: time)
      wake(&state)
      if state.isPlaced, time >= state.awaited ?? state.readUntil { return true }
      state.awaited = nil
      return false
    }
  }

  /// Forgets everything; the next buffer says where it goes on.
  func reset() {
    state.withLock { state in
      state.buffers.removeAll()
      (state.isPlaced, state.awaited, state.openedAt) = (false, nil, nil)
      state.hasEnded = false
      wake(&state)
    }
  }

  /// What lies before `time` has sounded.
  func release(before time: PlaybackTime) {
    state.withLock { state in
      state.buffers.release(before: time)
      wake(&state)
    }
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.buffers.removeAll()
      wake(&state)
    }
    signal.signal()
  }

  /// Frames that may be enqueued, once there is room for some; nil when nothing can be enqueued any more.
  func waitForRoom() async -> Int? {
    while !Task.isCancelled {
      let (room, isOver) = state.withLock { state in
        (roomLeft(in: state), state.isClosed || state.hasEnded)
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
          let isFull = roomLeft(in: state) == 0 && !state.isClosed && !state.hasEnded
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
    guard !state.waiters.isEmpty, roomLeft(in: state) > 0 || state.isClosed || state.hasEnded else {
      return
    }
    for waiter in state.waiters.values { waiter.resume() }
    state.waiters = [:]
  }

  // MARK: - The producer's side

  /// What is to be read at `time`, as far as it is known.
  func shape(at time: PlaybackTime) -> BufferShape {
    state.withLock { state in
      let next = state.buffers[state.buffers.number(at: time)]
      return next.map { state.buffers.shape(of: $0, at: time) } ?? state.buffers.last?.shape
        ?? .samples(format)
    }
  }

  /// What goes on where a source has come to the end of its shape; nil where it has not.
  func change(at place: ReadingPlace) -> BufferShape? {
    state.withLock { $0.buffers.change(at: place) }
  }

  /// A source of this shape was opened at this frame.
  func begin(at frame: Int64, as shape: BufferShape) -> ReadingPlace {
    let time = PlaybackTime(frame: frame, at: shape.audio.sampleRate)
    return state.withLock { state in
      state.readerCount += 1
      if state.isPlaced {
        if let awaited = state.awaited, time >= awaited { state.awaited = nil }
      } else {
        state.openedAt = time
      }
      state.readUntil = time
      state.buffers.rewind(to: time)
      let number = state.buffers.numberOfLead(
        before: state.buffers.number(at: time), at: time, in: shape)
      return ReadingPlace(shape: shape, reader: state.readerCount, frame: frame, number: number)
    }
  }

  /// Ends the read under way and those that follow until `readAgain`.
  func abandonRead() {
    state.withLock { $0.isAbandoned = true }
    signal.signal()
  }

  func readAgain() { state.withLock { $0.isAbandoned = false } }

  /// Appends up to `count` frames, silence where buffers leave a gap. Waits for the first of them; appends none at the
  /// end of the shape, or of all, or where the read was abandoned.
  func read(_ count: Int, at place: inout ReadingPlace, appendingTo frames: inout [Float]) {
    wait(at: &place) { buffers, place in
      let before = frames.count
      buffers.take(count, at: &place, into: &frames)
      return frames.count > before
    }
  }

  /// The next packet; nil where `read` appends nothing.
  func readPacket(at place: inout ReadingPlace) -> EncodedPacket? {
    var packet: EncodedPacket?
    wait(at: &place) { buffers, place in
      packet = buffers.takePacket(at: &place)
      return packet != nil
    }
    return packet
  }

  private func wait(
    at place: inout ReadingPlace, for take: (EnqueuedBuffers, inout ReadingPlace) -> Bool
  ) {
    while true {
      let isDone = state.withLock { state in
        if state.isAbandoned || state.isClosed { return true }
        guard state.mayRead else { return state.hasEnded && !state.isPlaced }
        let isFound = take(state.buffers, &place)
        if place.reader == state.readerCount {
          state.readUntil = place.time
          state.buffers.passed(upTo: place.number)
          wake(&state)
        }
        return isFound || state.buffers.change(at: place) != nil
          || state.hasEnded && state.buffers[place.number] == nil
      }
      if isDone { return }
      signal.wait()
    }
  }
}
