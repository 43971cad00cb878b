internal import Audio
internal import Clock
internal import Driver
internal import FFmpegSource
internal import Sender
internal import WireProtocol

/// Plays the audio that a program enqueues, in one room or in several together, under a `RenderSynchronizer`.
///
/// Buffers carry the times at which they are to sound. The renderer encodes and sends them as they come, up to minutes
/// ahead of their time: `mediaDataRequests` asks for more until the rooms are full. Every method may be called from any
/// task. A renderer that is dropped fades out and releases its rooms; `close` does that and waits.
public final class AudioRenderer: Sendable {
  /// The format by which it counts frames. Buffers may have other formats, too.
  public let format: PCMFormat
  /// The rooms in which it plays, with their settings.
  public let rooms: RoomGroup
  let queue: SampleQueue
  /// Nil for a renderer with a timeline.
  let live: LiveInput?
  let streamVolume = VolumeBox()
  private let hub: EventHub<AudioRendererEvent>
  private let state: StatusBox

  /// Opens sockets and starts two threads.
  ///
  /// - Parameters:
  ///   - rooms: where to play; more may be added at any time.
  ///   - format: that of most buffers.
  ///   - settings: codec, identity and name.
  /// - Throws: `TuttiError.invalid` for settings out of range; `unavailable` if a socket or thread is refused, or the
  ///   identity cannot be stored; `roomUnavailable` as `rooms.add`.
  public convenience init(
    rooms: [Room] = [], format: PCMFormat = .stereo48k, settings: OutputSettings = .init()
  ) async throws(TuttiError) {
    try await self.init(rooms, format, settings, live: nil)
  }

  /// Makes a renderer of what happens now: each buffer is heard `latency` after it was enqueued, in all rooms at once.
  ///
  /// It has no timeline, and starts at once: the times of its buffers do not matter, nothing can be flushed, and no
  /// `RenderSynchronizer` takes it. Enqueue samples of its format at the pace of whatever makes them, in buffers shorter
  /// than half the latency: see ``LiveInput``.
  ///
  /// - Parameters:
  ///   - rooms: where to play; more may be added at any time.
  ///   - format: that of all buffers.
  ///   - settings: codec, identity and name.
  ///   - latency: from the enqueuing of a buffer's last frame to its sound, 10 ms to 2 s. Rooms on a cable hold 30 ms;
  ///     on Wi-Fi take 100.
  /// - Throws: as the other initializer; `TuttiError.invalid` for a latency outside that range.
  public convenience init(
    rooms: [Room] = [], format: PCMFormat = .stereo48k, settings: OutputSettings = .init(),
    latency: Duration
  ) async throws(TuttiError) {
    let live = try LiveInput(name: "enqueued", format: format, latency: latency)
    try await self.init(rooms, format, settings, live: live)
  }

  private init(
    _ rooms: [Room], _ format: PCMFormat, _ settings: OutputSettings, live: LiveInput?
  ) async throws(TuttiError) {
    let queue = SampleQueue(format: format)
    self.live = live
    let interruption: ReadInterruption?
    do {
      interruption = live == nil ? nil : try ReadInterruption()
    } catch {
      throw .unavailable(error.description)
    }
    let queueReads = ReadControl(
      abandon: { queue.abandonRead() }, resume: { queue.readAgain() }, end: { queue.close() })
    let hub = EventHub<AudioRendererEvent>()
    let state = StatusBox()
    (self.format, self.queue, self.hub, self.state) = (format, queue, hub, state)
    let engine = try await GroupEngine.start(
      .init(
        settings: settings, items: ["enqueued"], holdsAtCuts: false,
        open: { _, report throws(MediaError) in
          guard let live, let interruption else { return QueueSource(queue) }
          return try live.open(wish: nil, interruption: interruption, report: report)
        },
        reads: interruption.map { ReadControl($0) } ?? queueReads,
        onEvent: { event, loop in
          guard let event = AudioRendererEvent(event.change, id: loop.id) else { return }
          state.take(event)
          hub.send(event)
        },
        onRemoval: { hub.forget($0) },
        onTurn: { loop in
          guard live == nil else { return }
          loop.look(after: queue)
          state.follow(loop.schedule(queue))
        },
        deadline: { queue.holdDeadline },
        onEnd: {
          queue.close()
          live?.finish()
          state.close()
          hub.finish()
        }))
    self.rooms = RoomGroup(engine: engine)
    for room in rooms { try await self.rooms.add(room) }
    guard live != nil else { return }
    queue.end()
    try await engine.carryOut(.resume)
  }

  var engine: GroupEngine { rooms.engine }

  /// The last event of each room, then all events from now on. Each caller gets a sequence of its own, which ends when
  /// the renderer is closed. A listener that leaves more than 1024 events untaken loses the oldest.
  public var events: AsyncStream<AudioRendererEvent> { hub.stream() }

  /// The renderer's state, as its events have reported.
  public var status: Status { state.status }

  /// The reason why it can play no further; nil unless `status` is `failed`. One line for people.
  public var error: String? { if case .failed(let reason) = status { reason } else { nil } }

  /// Fades out, releases the rooms and ends the renderer's threads. Returns when that is done, within a second. Later
  /// calls throw `TuttiError.closed`.
  public func close() async { await engine.closeAndWait() }

  // MARK: - Rate

  /// The treatment of the pitch at rates other than 1.
  public enum TimePitchAlgorithm: Hashable, Sendable {
    /// The pitch stays the same; for speech and music.
    case timeDomain
    /// The pitch follows the rate, as on a record player.
    case varispeed
  }

  /// The algorithm for rates other than 1; `timeDomain` by default.
  public var audioTimePitchAlgorithm: TimePitchAlgorithm { state.pitchAlgorithm }

  /// Sets the algorithm, which applies from the next change of the synchronizer's rate on.
  public func setAudioTimePitchAlgorithm(_ algorithm: TimePitchAlgorithm) {
    state.set(algorithm)
  }

  // MARK: - Enqueuing

  /// True if `enqueue` accepts a buffer now. At most two seconds of audio wait here, not counting that in the rooms,
  /// with at most 64 MiB of samples.
  public var isReadyForMoreMediaData: Bool { live.map { $0.room > 0 } ?? (queue.room > 0) }

  /// Time from the enqueuing of a buffer to its sound; nil for a renderer with a timeline.
  public var latency: Duration? { live?.latency }

  /// True if enough is enqueued for a start at this time: half a second from there on, or all that was enqueued before
  /// `finish`.
  public func hasSufficientMediaData(from time: PlaybackTime) -> Bool {
    queue.suffices(from: time)
  }

  /// Adds a buffer behind the earlier ones. Gaps between buffers are silent. The late part of a buffer that overlaps,
  /// or comes after its time, is dropped: other renderers may keep the same time, so a renderer does not wait for
  /// audio, as a ``Player`` does.
  ///
  /// The first buffer, and the first after `flush()`, may begin at any time. While time stands still, or has been told
  /// to stop, no buffer is late. If time runs and has passed them, buffers after a `flush()` wait for two seconds:
  /// `setRate(_:time:)` may go there, and plays them from their beginning. As soon as one of them ends after the
  /// sounding time, or those seconds have passed, they join the running time, and their late part is dropped.
  ///
  /// A buffer of another format than the one before follows without a gap. A frame sounds within one frame, at the buffer's
  /// own rate, of its time: where audio was cut, it begins again at a whole frame.
  ///
  /// - Throws: `TuttiError.queueIsFull` while `isReadyForMoreMediaData` is false; `invalid` after `finish`; `closed`.
  public func enqueue(_ buffer: AudioBuffer) throws(TuttiError) {
    if let live {
      guard buffer.format.audio == format.audio else {
        throw .invalid("a renderer with a latency takes samples of its own format")
      }
      return try live.append(buffer.samples)
    }
    enqueued(
      isUnplaced: try queue.enqueue(buffer), buffer.presentationTime, until: buffer.endTime)
  }

  /// Adds a packet of compressed audio in the same way. If all rooms decode its codec, and
  /// `OutputSettings.Codec.automatic` is set, it goes to them unchanged. Otherwise, and at rates other than 1, it is
  /// decoded here; a packet that cannot be decoded is silent. Gaps, and buffers of samples, are allowed between
  /// packets.
  ///
  /// - Throws: as for samples. `AudioRendererEvent.failed` tells if a decoder is needed and FFmpeg is missing.
  public func enqueue(_ buffer: CompressedBuffer) throws(TuttiError) {
    try checkTimeline()
    enqueued(
      isUnplaced: try queue.enqueue(buffer), buffer.presentationTime, until: buffer.endTime)
  }

  /// - Throws: `TuttiError.invalid` if it has none.
  func checkTimeline() throws(TuttiError) {
    if live != nil {
      throw .invalid("a renderer with a latency takes samples only, and has no timeline")
    }
  }

  private func enqueued(isUnplaced: Bool, _ time: PlaybackTime, until end: PlaybackTime) {
    if let late = state.newLateness(ofEnd: end, at: .now) { hub.send(.late(time, by: late)) }
    // The engine looks at the queue after each turn.
    if isUnplaced { engine.post { _ in } }
  }

  /// Asks for audio: each value is a number of frames that may be enqueued now, at least 1. The sequence waits while
  /// there is no space, and ends with `finish`, with `close`, and with the task that iterates it.
  public var mediaDataRequests: MediaDataRequests { MediaDataRequests(queue: queue) }

  /// Waits until `enqueue` accepts a buffer. Returns false once none is accepted any more, and where the task is cancelled.
  package func waitForRoom() async -> Bool {
    if let live { return await live.waitForRoom() }
    return await queue.waitForRoom() != nil
  }

  /// Marks the end: the enqueued audio plays to its end, which `AudioRendererEvent.ended` reports. A flush withdraws
  /// the mark.
  public func finish() {
    if let live { live.finish() } else { queue.end() }
  }

  // MARK: - Flushing

  /// Discards all audio that has not sounded yet. The sound fades out at once; if time was told to stop a moment ago,
  /// the sound ends at that time. The next buffer may begin at any time; while time runs, audio is heard from the
  /// returned time on.
  ///
  /// - Returns: the first time that the rooms can still change.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func flush() async throws(TuttiError) -> PlaybackTime {
    try checkTimeline()
    return try await perform { loop, queue in loop.flush(queue) }
  }

  /// Discards all audio at and after a time; earlier audio plays on without a seam.
  ///
  /// - Returns: the time from which to enqueue: `time`, or later if the rooms cannot change that any more. Buffers must
  ///   follow from there, and soon if it is near: until they come there is silence.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func flush(from time: PlaybackTime) async throws(TuttiError) -> PlaybackTime {
    try checkTimeline()
    let rate = format.sampleRate
    return try await perform { loop, queue in
      let start = PlaybackTime(frame: max(0, time.frame(at: rate)), at: rate)
      let position = loop.flush(queue, from: start)
      return PlaybackTime(frame: position.frameFrom(at: rate), at: rate)
    }
  }

  /// Replaces all audio at and after a time by other audio, in one step: what lies before plays on without a seam, and no
  /// gap comes between. Enqueue the rest as usual.
  ///
  /// - Parameters:
  ///   - time: the first to be replaced.
  ///   - buffers: the first of the new audio, at most two seconds. They may begin earlier than `time`, as packets do that
  ///     prepare a decoder: their part before the returned time is left out, and is not reported as late.
  /// - Returns: the time from which the new audio is heard: `time`, or later if the rooms cannot change that any more.
  /// - Throws: `TuttiError.invalid` for more than two seconds, before anything is changed; `closed`.
  @discardableResult
  public func replace(
    from time: PlaybackTime, with buffers: [MediaBuffer]
  ) async throws(TuttiError) -> PlaybackTime {
    try checkTimeline()
    if let first = buffers.first, let last = buffers.last,
      last.endTime - first.presentationTime > .seconds(SampleQueue.seconds)
    {
      throw .invalid("at most \(SampleQueue.seconds) seconds of audio can be replaced in one step")
    }
    let rate = format.sampleRate
    return try await perform { loop, queue in
      let position = loop.flush(queue, from: max(.zero, time))
      let result = Result { () throws(TuttiError) in try queue.enqueue(buffers, from: position) }
      return result.map { PlaybackTime(frame: position.frameFrom(at: rate), at: rate) }
    }.get()
  }

  /// Runs `body` on the engine's thread. From then on, its result decides if a buffer is late.
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
  /// Returns the first frame that begins at or after this time.
  func frameFrom(at sampleRate: Int) -> Int64 {
    let frame = MediaDuration(frames: 1, at: sampleRate).flicks
    return max(0, flicks + frame - 1) / frame
  }
}
