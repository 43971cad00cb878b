internal import Audio
internal import Clock
internal import Codecs
internal import Dispatch
internal import FFmpegDecoder
internal import Sender
internal import Synchronization

/// Buffers that a program has enqueued, until they have sounded. They are read again when the rate changes, and when a
/// room comes that decodes less than the others. Filled by any thread, read by the producer's, which waits here for more.
final class SampleQueue: Sendable {
  /// Seconds of audio that were not read yet: enough for a program that looks after it now and then. The minutes are in
  /// the rooms.
  static let seconds = 2
  /// Bytes of samples in all: three minutes of stereo at 48 kHz.
  static let byteLimit = 64 << 20

  /// How long buffers wait that were enqueued after a flush for a time that has passed: until then `setRate(_:time:)` may go
  /// there. Then they are late.
  static let timeout = Nanoseconds.seconds(2)

  private struct State {
    var buffers = EnqueuedBuffers()
    /// True if a first buffer has said where all begins.
    var isPlaced = false
    /// The generation of the session with which the timeline begins that the buffers belong to. Nil until that is decided:
    /// nothing is read meanwhile, and sources of generations before it read nothing.
    var first: UInt32?
    /// Generation of the newest cut: sources of earlier generations count no more.
    var newest: UInt32 = 0
    /// Generation of the newest source.
    var readerGeneration: UInt32?
    /// Sources that have begun, of which the newest is the one that counts.
    var readerCount = 0
    /// Where that has come to.
    var readUntil = PlaybackTime.zero
    var hasEnded = false
    /// A source has found that there is no more.
    var endWasRead = false
    /// Since when buffers wait that lie before what sounds.
    var heldSince: LocalTime?
    /// Whoever places the buffers was asked to.
    var isLookedAt = false
    /// The read under way is not wanted any more.
    var isAbandoned = false
    var isClosed = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var waiterCount = 0
  }

  /// Format of the buffers, unless a buffer says otherwise.
  let format: PCMFormat
  private let state = Mutex(State())

  /// Returns when `wake` was called since it returned last. By a semaphore, unless somebody simulates time.
  private let waitForMore: @Sendable () -> Void
  private let wake: @Sendable () -> Void
  let makeDecoder: MakeDecoder

  typealias MakeDecoder = @Sendable (StreamFormat) throws(CodecError) -> any AudioDecoder

  init(
    format: PCMFormat, makeDecoder: @escaping MakeDecoder = SampleQueue.decoder,
    wait: (@Sendable () -> Void)? = nil
  ) {
    self.format = format
    self.makeDecoder = makeDecoder
    let signal = DispatchSemaphore(value: 0)
    waitForMore = wait ?? { signal.wait() }
    wake = { signal.signal() }
  }

  static func decoder(_ format: StreamFormat) throws(CodecError) -> any AudioDecoder {
    AudioCodecs.decodable.contains(format.codec)
      ? try AudioCodecs.makeDecoder(for: format) : try FFmpegDecoder(format: format)
  }

  // MARK: - The program's side

  /// Frames that may be enqueued now.
  var room: Int {
    state.withLock { $0.isClosed || $0.hasEnded ? 0 : roomLeft(in: $0) }
  }

  private func roomLeft(in state: State) -> Int {
    let left = Duration.seconds(Self.seconds) - state.buffers.new
    let bytes = Self.byteLimit - state.buffers.byteCount
    let frames = left / .seconds(1) * Double(format.sampleRate)
    return max(
      0, min(Int(frames.rounded()), bytes / (format.channelCount * MemoryLayout<Float>.size)))
  }

  /// Adds a buffer. True where it is not decided yet where reading begins, and somebody is to look: `unplaced`.
  func enqueue(_ buffer: AudioBuffer) throws(TuttiError) -> Bool {
    try enqueue { _ in buffer.frameCount > 0 ? EnqueuedBuffer(buffer) : nil }
  }

  func enqueue(_ buffer: CompressedBuffer) throws(TuttiError) -> Bool {
    try enqueue { EnqueuedBuffer(buffer, after: $0) }
  }

  /// Adds those that reach beyond a place, and the packets before it that prepare a decoder.
  func enqueue(_ buffers: [MediaBuffer], from place: PlaybackTime) throws(TuttiError) {
    for buffer in buffers where buffer.endTime > place || buffer.frameCount == 0 {
      switch buffer {
      case .samples(let buffer): _ = try enqueue(buffer)
      case .packet(let buffer): _ = try enqueue(buffer)
      }
    }
  }

  /// - Parameter make: given the one that was enqueued last; nil where there is nothing to enqueue.
  private func enqueue(
    _ make: (EnqueuedBuffer?) -> EnqueuedBuffer?
  ) throws(TuttiError) -> Bool {
    let result: Result<Bool, TuttiError> = state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      if state.hasEnded { return .failure(.invalid("nothing can be enqueued after finish()")) }
      guard roomLeft(in: state) > 0 else { return .failure(.queueIsFull) }
      guard let buffer = make(state.buffers.last) else { return .success(false) }
      state.buffers.append(buffer)
      state.isPlaced = true
      defer { state.isLookedAt = state.first == nil }
      return .success(state.first == nil && !state.isLookedAt)
    }
    wake()
    return try result.get()
  }

  // MARK: - Timelines

  /// True if anything was enqueued since all was forgotten.
  var isPlaced: Bool { state.withLock { $0.isPlaced } }

  /// From the first to the last of what was enqueued, where it is not decided yet when that sounds.
  var unplaced: (start: PlaybackTime, end: PlaybackTime)? {
    state.withLock { state in
      state.isLookedAt = false
      guard state.first == nil, let first = state.buffers.first, let last = state.buffers.last
      else { return nil }
      return (first.startTime, last.endTime)
    }
  }

  /// True if the buffers belong to the session's timeline. Otherwise nobody can say that one is late.
  var isUnderWay: Bool { state.withLock { $0.first != nil } }

  /// Lets the buffers begin with the source that is, or was, opened at `time` in this generation.
  func begin(with generation: UInt32, at time: PlaybackTime) {
    state.withLock { state in
      (state.first, state.heldSince) = (generation, nil)
      reread(&state, from: time, in: generation)
    }
    wake()
  }

  /// A source of this generation is about to be opened at `time`, or was.
  func reread(from time: PlaybackTime, in generation: UInt32) {
    state.withLock { reread(&$0, from: time, in: generation) }
    wake()
  }

  private func reread(_ state: inout State, from time: PlaybackTime, in generation: UInt32) {
    state.newest = max(state.newest, generation)
    if let reader = state.readerGeneration, reader >= generation {
      // It waits where it was opened.
      return state.buffers.rewind(to: state.readUntil)
    }
    // The one that reads now counts no more.
    state.readerCount += 1
    state.readUntil = time
    state.buffers.rewind(to: time)
  }

  /// Buffers lie before what sounds: they wait, for a while. False where they have.
  func hold(at now: LocalTime) -> Bool {
    state.withLock { state in
      let since = state.heldSince ?? now
      state.heldSince = since
      return now < since + Self.timeout
    }
  }

  /// Until when they do.
  var holdDeadline: LocalTime? { state.withLock { $0.heldSince.map { $0 + Self.timeout } } }

  /// True if the rooms have been given audio beyond this time, or are about to be.
  func hasRead(past time: PlaybackTime) -> Bool {
    state.withLock { $0.first != nil && $0.readUntil > time }
  }

  /// True if there is something to hear after this time.
  func reaches(past time: PlaybackTime) -> Bool {
    state.withLock { $0.buffers[$0.buffers.number(at: time)] != nil }
  }

  /// True if there is enough to begin with at this time.
  func suffices(from time: PlaybackTime) -> Bool {
    state.withLock { state in
      guard state.isPlaced else { return state.hasEnded }
      let enough = time + .milliseconds(500)
      return state.hasEnded || state.buffers[state.buffers.number(at: enough)] != nil
    }
  }

  /// True if all buffers lie before this time, and none follows.
  func ends(by time: PlaybackTime) -> Bool {
    state.withLock { $0.hasEnded && $0.buffers[$0.buffers.number(at: time)] == nil }
  }

  /// No more comes.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      wakeWaiters(&state)
    }
    wake()
  }

  /// Forgets everything from `time` on. False where some of that was read already: it is in the rooms.
  func truncate(from time: PlaybackTime) -> Bool {
    state.withLock { state in
      state.hasEnded = false
      state.buffers.truncate(from: time)
      wakeWaiters(&state)
      guard state.isPlaced else { return false }
      if state.first == nil {
        state.isPlaced = state.buffers.first != nil
        return true
      }
      return time >= state.readUntil && !state.endWasRead
    }
  }

  /// Forgets everything, and the timeline with it; the next buffer says where it goes on.
  func reset() {
    state.withLock { state in
      state.buffers.removeAll()
      (state.isPlaced, state.first, state.heldSince) = (false, nil, nil)
      (state.hasEnded, state.endWasRead) = (false, false)
      wakeWaiters(&state)
    }
  }

  /// Lets go of the buffers before `time`, which sounds in this generation, if the generation belongs to their timeline.
  func release(before time: PlaybackTime, in generation: UInt32) {
    state.withLock { state in
      guard let first = state.first, generation >= first else { return }
      state.buffers.release(before: time)
      wakeWaiters(&state)
    }
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.buffers.removeAll()
      wakeWaiters(&state)
    }
    wake()
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

  private func wakeWaiters(_ state: inout State) {
    guard !state.waiters.isEmpty, roomLeft(in: state) > 0 || state.isClosed || state.hasEnded else {
      return
    }
    for waiter in state.waiters.values { waiter.resume() }
    state.waiters = [:]
  }

  // MARK: - The producer's side

  /// Returns the shape of the audio to read at `time`, as far as it is known.
  func shape(at time: PlaybackTime) -> BufferShape {
    state.withLock { state in
      let next = state.buffers[state.buffers.number(at: time)]
      return next.map { state.buffers.shape(of: $0, at: time) } ?? state.buffers.last?.shape
        ?? .samples(format)
    }
  }

  /// Returns the shape that follows if a source has come to the end of its own; nil if it has not.
  func change(at place: ReadingPlace) -> BufferShape? {
    state.withLock { $0.buffers.change(at: place) }
  }

  /// A source of this shape was opened at this frame.
  func begin(at frame: Int64, as shape: BufferShape, in generation: UInt32) -> ReadingPlace {
    let time = PlaybackTime(frame: frame, at: shape.audio.sampleRate)
    return state.withLock { state in
      let isNewest = generation >= state.newest
      if isNewest {
        (state.newest, state.readerGeneration) = (generation, generation)
        state.readerCount += 1
        state.readUntil = time
        state.endWasRead = false
        state.buffers.rewind(to: time)
      }
      let number = state.buffers.numberOfLead(
        before: state.buffers.number(at: time), at: time, in: shape)
      return ReadingPlace(
        shape: shape, reader: isNewest ? state.readerCount : 0, generation: generation,
        frame: frame, number: number)
    }
  }

  /// Ends the read under way and those that follow until `readAgain`.
  func abandonRead() {
    state.withLock { $0.isAbandoned = true }
    wake()
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
        if state.isAbandoned || state.isClosed || place.generation < state.newest { return true }
        guard let first = state.first, place.generation >= first else {
          return state.hasEnded && !state.isPlaced
        }
        return read(&state, at: &place, take)
      }
      if isDone { return }
      waitForMore()
    }
  }

  private func read(
    _ state: inout State, at place: inout ReadingPlace,
    _ take: (EnqueuedBuffers, inout ReadingPlace) -> Bool
  ) -> Bool {
    let isFound = take(state.buffers, &place)
    let isOver = !isFound && state.hasEnded && state.buffers[place.number] == nil
    if place.reader == state.readerCount {
      state.readUntil = place.time
      state.endWasRead = isOver
      state.buffers.passed(upTo: place.number)
      wakeWaiters(&state)
    }
    return isFound || isOver || state.buffers.change(at: place) != nil
  }
}
