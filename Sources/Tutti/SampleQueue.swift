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
    guard buffer.format == format else {
      throw .invalid("the buffer has another format than the renderer")
    }
    let result: Result<PlaybackTime?, TuttiError> = state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      if state.hasEnded { return .failure(.invalid("nothing can be enqueued after finish()")) }
      guard roomLeft(in: state) > 0 else { return .failure(.queueIsFull) }
      guard buffer.frameCount > 0 else { return .success(nil) }
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

  /// A source was opened at this frame.
  func begin(at frame: Int64) -> ReadingPlace {
    let time = PlaybackTime(frame: frame, at: format.sampleRate)
    return state.withLock { state in
      state.readerCount += 1
      if state.isPlaced {
        if let awaited = state.awaited, time >= awaited { state.awaited = nil }
      } else {
        state.openedAt = time
      }
      state.readUntil = time
      let number = state.buffers.rewind(to: time)
      return ReadingPlace(reader: state.readerCount, frame: frame, number: number)
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
  func read(_ count: Int, at place: inout ReadingPlace, appendingTo frames: inout [Float]) {
    while true {
      let isDone = state.withLock { state in
        if state.isAbandoned || state.isClosed { return true }
        guard state.mayRead else { return state.hasEnded && !state.isPlaced }
        let before = frames.count
        state.buffers.take(count, of: format, at: &place, into: &frames)
        if place.reader == state.readerCount {
          state.readUntil = PlaybackTime(frame: place.frame, at: format.sampleRate)
          state.buffers.passed(upTo: place.number)
          wake(&state)
        }
        return frames.count > before || state.hasEnded && state.buffers[place.number] == nil
      }
      if isDone { return }
      signal.wait()
    }
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
  private var place: ReadingPlace?

  init(_ queue: SampleQueue) {
    self.queue = queue
    format = queue.format.audio
    sampleType = queue.format.sampleType
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    var place = place ?? queue.begin(at: position)
    queue.read(count, at: &place, appendingTo: &frames)
    self.place = place
  }

  func seek(toFrame frame: Int64) {
    position = frame
    place = nil
  }
}
