internal import Audio
internal import Clock
internal import Driver
internal import Sender
internal import WireProtocol

/// Plays the audio that a program enqueues, in one room or in several together, under a `RenderSynchronizer`.
///
/// Buffers carry the times at which they are to sound. They are encoded and sent as they come, minutes ahead of their time
/// if the program is quick: `mediaDataRequests` asks for more until the rooms are full. Every method may be called from any
/// task. A renderer that is dropped fades out and lets its rooms go; `close` does that and waits.
public final class AudioRenderer: Sendable {
  /// What it counts frames by. Buffers may be of other formats, too.
  public let format: PCMFormat
  /// Which rooms play, and how each sounds.
  public let rooms: RoomGroup
  let queue: SampleQueue
  private let hub: EventHub<AudioRendererEvent>
  private let state: StatusBox

  /// Opens sockets and starts two threads.
  ///
  /// - Parameters:
  ///   - rooms: where to play; more may be added at any time.
  ///   - format: of most buffers.
  ///   - settings: what is sent.
  /// - Throws: `TuttiError.invalid` for settings out of range; `unavailable` where a socket or thread is
  ///   refused, or the identity cannot be kept.
  public init(
    rooms: [Room] = [], format: PCMFormat = .stereo48k, settings: OutputSettings = .init()
  ) async throws(TuttiError) {
    let queue = SampleQueue(format: format)
    let hub = EventHub<AudioRendererEvent>()
    let state = StatusBox()
    (self.format, self.queue, self.hub, self.state) = (format, queue, hub, state)
    let engine = try await GroupEngine.start(
      .init(
        settings: settings, items: ["enqueued"], holdsAtCuts: false,
        open: { _, _ throws(MediaError) in QueueSource(queue) },
        reads: ReadControl(
          abandon: { queue.abandonRead() }, resume: { queue.readAgain() }, end: { queue.close() }),
        onEvent: { event, loop in
          guard let event = AudioRendererEvent(event.change, id: loop.id) else { return }
          state.take(event)
          hub.send(event)
        },
        onRemoval: { hub.forget($0) },
        onTurn: { loop in
          loop.look(after: queue)
          state.follow(loop.schedule(queue))
        },
        deadline: { queue.holdDeadline },
        onEnd: {
          queue.close()
          state.close()
          hub.finish()
        }))
    self.rooms = RoomGroup(engine: engine)
    for room in rooms { try await self.rooms.add(room) }
  }

  var engine: GroupEngine { rooms.engine }

  /// What happened last to each room, then all that happens from now on: for each caller a sequence of its own, which
  /// ends when the renderer is closed. A listener that leaves more than 1024 events untaken loses the oldest.
  public var events: AsyncStream<AudioRendererEvent> { hub.stream() }

  /// What it does, as its events have told.
  public var status: Status { state.status }

  /// Why it plays no further; nil unless `status` is `failed`. One line for people.
  public var error: String? { if case .failed(let reason) = status { reason } else { nil } }

  /// Fades out, lets the rooms go and ends the renderer's threads; returns when that is done, within a second. What is
  /// asked of it afterwards throws `TuttiError.closed`.
  public func close() async { await engine.closeAndWait() }

  // MARK: - Volume

  /// 0 (silent) to 1 (full), perceptual: how loud this renderer is, whatever its rooms are set to. Nobody remembers it.
  public var volume: Double { Double(state.volume.volume) / 1000 }

  public var isMuted: Bool { state.volume.isMuted }

  /// Fades to a volume, in all its rooms at once: `rooms.setVolume` is the household's, and multiplied with this one.
  ///
  /// - Throws: `TuttiError.invalid` beyond 0 to 1; `closed`.
  public func setVolume(_ volume: Double) async throws(TuttiError) {
    guard (0...1).contains(volume) else { throw .invalid("a volume is 0 to 1, not \(volume)") }
    try await change { $0.volume = UInt16((volume * 1000).rounded()) }
  }

  /// Fades to silence, or back; time runs on.
  ///
  /// - Throws: `TuttiError.closed`.
  public func setMuted(_ isMuted: Bool) async throws(TuttiError) {
    try await change { $0.isMuted = isMuted }
  }

  private func change(
    _ change: @escaping @Sendable (inout StreamVolume) -> Void
  ) async throws(TuttiError) {
    let state = state
    try await engine.answer { $0.driver.carryOut(.streamVolume(state.change(change))) }
  }

  // MARK: - Rate

  /// What becomes of the pitch at rates other than 1.
  public enum TimePitchAlgorithm: Hashable, Sendable {
    /// It is kept; for speech and music.
    case timeDomain
    /// It follows the rate, as that of a record does.
    case varispeed
  }

  /// `timeDomain`, unless something else is set.
  public var audioTimePitchAlgorithm: TimePitchAlgorithm { state.pitchAlgorithm }

  /// Acts from the next change of the synchronizer's rate on.
  public func setAudioTimePitchAlgorithm(_ algorithm: TimePitchAlgorithm) {
    state.set(algorithm)
  }

  // MARK: - Enqueuing

  /// Whether `enqueue` takes a buffer now: two seconds of audio wait here at most, what the rooms hold not counted, and
  /// 64 MiB of samples with it.
  public var isReadyForMoreMediaData: Bool { queue.room > 0 }

  /// Adds a buffer behind those that were enqueued before. Gaps between buffers are silent; of what overlaps, and of what
  /// comes after its time, the part that is late is dropped: other renderers may keep the same time, so a renderer does not
  /// wait for audio, as a ``Player`` does.
  ///
  /// The first buffer, and the first after `flush()`, may begin at any time. Where time stands still, or has been told to,
  /// none is late. Where time runs and has passed them, buffers after a `flush()` wait for two seconds: `setRate(_:time:)` may
  /// go there, and plays them from their beginning. As soon as one reaches beyond what sounds, or those seconds have passed,
  /// they join the time that runs, and what is late of them is dropped.
  ///
  /// A buffer of another format than the one before goes on without a gap.
  ///
  /// - Throws: `TuttiError.queueIsFull` while `isReadyForMoreMediaData` is false; `invalid` after `finish`; `closed`.
  public func enqueue(_ buffer: AudioBuffer) throws(TuttiError) {
    enqueued(
      isUnplaced: try queue.enqueue(buffer), buffer.presentationTime, until: buffer.endTime)
  }

  /// The same for a packet of compressed audio. Where all rooms decode its codec, and `OutputSettings.Codec.automatic` is
  /// set, it goes to them as it is. Else, and at rates other than 1, it is decoded here; what cannot be is silent.
  /// Between packets there may be gaps, and samples.
  ///
  /// - Throws: as for samples. `AudioRendererEvent.failed` tells where a decoder is needed and FFmpeg is not there.
  public func enqueue(_ buffer: CompressedBuffer) throws(TuttiError) {
    enqueued(
      isUnplaced: try queue.enqueue(buffer), buffer.presentationTime, until: buffer.endTime)
  }

  private func enqueued(isUnplaced: Bool, _ time: PlaybackTime, until end: PlaybackTime) {
    if let late = state.newLateness(ofEnd: end, at: .now) { hub.send(.late(time, by: late)) }
    // The engine looks at it after each turn.
    if isUnplaced { engine.post { _ in } }
  }

  /// Asks for audio: each value is a number of frames that may be enqueued now, at least 1. The sequence waits while there
  /// is room for none, and ends with `finish`, with `close`, and with the task that iterates it.
  public var mediaDataRequests: MediaDataRequests { MediaDataRequests(queue: queue) }

  /// Nothing more is enqueued: what is there plays to its end, which `AudioRendererEvent.ended` tells. A flush takes it
  /// back.
  public func finish() { queue.end() }

  // MARK: - Flushing

  /// Forgets everything that has not sounded yet. The sound fades out at once; where time was told to stop a moment ago, it
  /// ends then. The next buffer may begin at any time; what plays while time runs on, from the one returned on.
  ///
  /// - Returns: the first time that the rooms can still change.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func flush() async throws(TuttiError) -> PlaybackTime {
    try await perform { loop, queue in loop.flush(queue) }
  }

  /// Forgets everything at and after a time; what lies before it plays on without a seam.
  ///
  /// - Returns: where enqueuing goes on: `time`, or later where the rooms cannot change that any more. Buffers must follow
  ///   from there, and be quick where it is near: until they come there is silence.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func flush(from time: PlaybackTime) async throws(TuttiError) -> PlaybackTime {
    let rate = format.sampleRate
    return try await perform { loop, queue in
      let start = PlaybackTime(frame: max(0, time.frame(at: rate)), at: rate)
      let position = loop.flush(queue, from: start)
      return PlaybackTime(frame: position.frameFrom(at: rate), at: rate)
    }
  }

  /// Runs `body` on the engine's thread. Whether a buffer is late is judged, from then on, by what it has brought about.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (GroupLoop, SampleQueue) -> Value
  ) async throws(TuttiError) -> Value {
    let (queue, state) = (queue, state)
    return try await engine.perform { loop in
      defer { state.follow(loop.schedule(queue)) }
      return body(loop, queue)
    }
  }
}

extension PlaybackTime {
  /// The first frame that begins at or after this time.
  func frameFrom(at sampleRate: Int) -> Int64 {
    let frame = MediaDuration(frames: 1, at: sampleRate).flicks
    return max(0, flicks + frame - 1) / frame
  }
}
