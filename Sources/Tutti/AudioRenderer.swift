internal import Audio
internal import Clock
internal import Driver
internal import LinuxIO
internal import Sender

/// Plays the audio that a program enqueues, in one room or in several together, under a `RenderSynchronizer`.
///
/// Buffers carry the times at which they are to sound. They are encoded and sent as they come, minutes ahead of their time
/// if the program is quick: `mediaDataRequests` asks for more until the rooms are full. Every method may be called from any
/// task. A renderer that is dropped fades out and lets its rooms go; `close` does that and waits.
public final class AudioRenderer: Sendable {
  /// What all enqueued buffers must be.
  public let format: PCMFormat
  /// Which rooms play, and how each sounds.
  public let rooms: RoomGroup
  let queue: SampleQueue
  private let hub: EventHub<AudioRendererEvent>

  /// Opens sockets and starts two threads.
  ///
  /// - Parameters:
  ///   - rooms: where to play; more may be added at any time.
  ///   - format: of all buffers.
  ///   - settings: what is sent.
  /// - Throws: `TuttiError.invalid` for settings out of range; `unavailable` where a socket or thread is refused.
  public init(
    rooms: [Room] = [], format: PCMFormat = .stereo48k, settings: OutputSettings = .init()
  ) async throws(TuttiError) {
    let queue = SampleQueue(format: format)
    let hub = EventHub<AudioRendererEvent>()
    (self.format, self.queue, self.hub) = (format, queue, hub)
    let engine = try await GroupEngine.start(
      .init(
        settings: settings, items: ["enqueued"], holdsAtCuts: false,
        open: { _ throws(MediaError) in QueueSource(queue) },
        reads: ReadControl(
          abandon: { queue.abandonRead() }, resume: { queue.readAgain() }, end: { queue.close() }),
        onEvent: { event, loop in
          if let event = AudioRendererEvent(event, name: loop.name) { hub.send(event) }
        },
        onEnd: {
          queue.close()
          hub.finish()
        }))
    self.rooms = RoomGroup(engine: engine)
    for room in rooms { try await self.rooms.add(room) }
  }

  var engine: GroupEngine { rooms.engine }

  /// What happens from now on, for each caller a sequence of its own; it ends when the renderer is closed. A listener that
  /// leaves more than 1024 events untaken loses the oldest.
  public var events: AsyncStream<AudioRendererEvent> { hub.stream() }

  /// Fades out, lets the rooms go and ends the renderer's threads; returns when that is done, within a second. What is
  /// asked of it afterwards throws `TuttiError.closed`.
  public func close() async { await engine.closeAndWait() }

  // MARK: - Enqueuing

  /// Whether `enqueue` takes a buffer now: two seconds of audio wait here at most, what the rooms hold not counted.
  public var isReadyForMoreMediaData: Bool { queue.room > 0 }

  /// Adds a buffer behind those that were enqueued before. Gaps between buffers are silent; of what overlaps, and of what
  /// comes after its time, the part that is late is dropped. The first buffer, and the first after `flush()`, may begin at
  /// any time.
  ///
  /// - Throws: `TuttiError.queueIsFull` while `isReadyForMoreMediaData` is false; `invalid` for another format, or after
  ///   `finish`; `closed`.
  public func enqueue(_ buffer: AudioBuffer) throws(TuttiError) {
    guard let frame = try queue.enqueue(buffer) else { return }
    let position = PlaybackTime(frame: frame, at: format.sampleRate)
    let queue = queue
    engine.post { loop in loop.begin(queue, at: position) }
  }

  /// Asks for audio: each value is a number of frames that may be enqueued now, at least 1. The sequence waits while there
  /// is room for none, and ends with `finish`, with `close`, and with the task that iterates it.
  public var mediaDataRequests: MediaDataRequests { MediaDataRequests(queue: queue) }

  /// Nothing more is enqueued: what is there plays to its end, which `AudioRendererEvent.ended` tells. A flush takes it
  /// back.
  public func finish() { queue.end() }

  // MARK: - Flushing

  /// Forgets everything that has not sounded yet. The sound fades out at once; the next buffer may begin at any time from
  /// the one returned on.
  ///
  /// - Returns: the first time that the rooms can still change.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func flush() async throws(TuttiError) -> PlaybackTime {
    let queue = queue
    return try await engine.perform { loop in
      queue.reset()
      return PlaybackTime(loop.renew(from: .zero))
    }
  }

  /// Forgets everything at and after a time; what lies before it plays on without a seam.
  ///
  /// - Returns: where enqueuing goes on: `time`, or later where the rooms cannot change that any more. Buffers must follow
  ///   from there, and be quick where it is near: until they come there is silence.
  /// - Throws: `TuttiError.closed`.
  @discardableResult
  public func flush(from time: PlaybackTime) async throws(TuttiError) -> PlaybackTime {
    let queue = queue
    let rate = format.sampleRate
    return try await engine.perform { loop in
      let frame = max(0, time.frame(at: rate))
      if queue.truncate(from: frame) { return PlaybackTime(frame: frame, at: rate) }
      let position = loop.renew(from: PlaybackTime(frame: frame, at: rate).span)
      let first = PlaybackTime(position).frameFrom(at: rate)
      queue.expect(start: first)
      return PlaybackTime(frame: first, at: rate)
    }
  }
}

/// What happens to a renderer.
public enum AudioRendererEvent: Hashable, Sendable {
  /// The first frame is about to sound.
  case started
  /// All that was enqueued before `finish` has sounded.
  case ended
  /// It cannot be encoded; one line for people.
  case failed(reason: String)
  case room(RoomEvent)

  /// Nil for what concerns nobody outside.
  init?(_ event: SenderEvent, name: (RoomID) -> Room.ID) {
    if let event = RoomEvent(event, name: name) {
      self = .room(event)
      return
    }
    switch event {
    case .started: self = .started
    case .stopped: self = .ended
    case .itemFailed(_, let error): self = .failed(reason: error.description)
    default: return nil
    }
  }
}

/// How many frames a renderer can take, again and again. For one iteration at a time.
public struct MediaDataRequests: AsyncSequence, Sendable {
  public typealias Element = Int
  public typealias Failure = Never

  let queue: SampleQueue

  public struct Iterator: AsyncIteratorProtocol {
    let queue: SampleQueue

    /// Nil when nothing can be enqueued any more, and when the task is cancelled.
    public mutating func next() async -> Int? { await queue.waitForRoom() }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Int? {
      await queue.waitForRoom()
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }
}

extension PlaybackTime {
  /// The first frame that begins at or after this time.
  func frameFrom(at sampleRate: Int) -> Int64 {
    let frame = MediaDuration(frames: 1, at: sampleRate).flicks
    return max(0, flicks + frame - 1) / frame
  }
}

extension GroupLoop {
  /// The one item of a renderer.
  private static let item = 0

  /// The source is opened anew, where the first buffer begins. While time runs the buffer sounds when its time comes;
  /// else its time is where playing begins.
  func begin(_ queue: SampleQueue, at position: PlaybackTime) {
    guard driver.session.isRunning else { return jump(queue, to: position) }
    let rate = queue.format.sampleRate
    queue.expect(start: PlaybackTime(renew(from: position.span)).frameFrom(at: rate))
  }

  func jump(_ queue: SampleQueue, to position: PlaybackTime) {
    queue.expect(start: position.frameFrom(at: queue.format.sampleRate))
    driver.carryOut(.jump(to: Self.item, at: position.span))
  }

  /// Where it goes on.
  func renew(from position: MediaDuration) -> MediaDuration {
    var answer = position
    let report = driver.onEvent
    driver.onEvent = { event in
      if case .renewed(_, let from) = event { answer = from }
      report(event)
    }
    driver.carryOut(.renew(from: position))
    driver.onEvent = report
    return answer
  }
}
