internal import Sender

/// The timeline of one or several `AudioRenderer`s: which time sounds when. All rooms of all its renderers play the same
/// time at the same instant.
///
/// Begins at time zero and rate 0. Everything may be called from any task; calls that change the rate or the renderers are
/// carried out one after the other.
public actor RenderSynchronizer {
  private nonisolated let timeline = SharedTimeline<AudioRenderer> { .now }
  private let observers = WaitingObservers()

  public init() {}

  public var renderers: [AudioRenderer] { timeline.targets }

  /// Seconds of the timeline in one second; 0 stands still.
  public nonisolated var rate: Double { timeline.rate }

  /// The time that sounds now, or at which time stands still.
  public nonisolated var currentTime: PlaybackTime { timeline.currentTime }

  /// When a time sounds in all rooms, or has sounded: pictures shown at that instant are in step with the sound. Nil while
  /// the rate is 0.
  public nonisolated func hostTime(of time: PlaybackTime) -> HostTime? {
    timeline.hostTime(of: time)
  }

  /// How long after it is asked for a change is heard: the longest of the renderers.
  ///
  /// - Throws: `TuttiError.closed` where one of them is.
  public func outputLatency() async throws(TuttiError) -> Duration {
    try await timeline.latency()
  }

  // MARK: - Renderers

  /// Unless the rate is 0, the renderer joins in as soon as something is enqueued that lies ahead, and this waits for it.
  ///
  /// - Throws: `TuttiError.invalid` for a renderer with a latency, which has no timeline; `closed` where the renderer is;
  ///   `cancelled` with the task.
  public func add(_ renderer: AudioRenderer) async throws(TuttiError) {
    try renderer.checkTimeline()
    try await timeline.add(renderer) { [observers] in observers.hand(to: renderer.engine) }
  }

  /// Stops the renderer, which keeps its rooms and what is enqueued: added again, it joins in with that.
  ///
  /// - Parameters:
  ///   - renderer: it sounds until then, though it is none of the `renderers` any more.
  ///   - time: when it falls silent, in all its rooms on one sample; nil, or one that is too near: as soon as they can.
  /// - Returns: when it really does.
  /// - Throws: `TuttiError.closed` where it is.
  @discardableResult
  public func remove(
    _ renderer: AudioRenderer, at time: PlaybackTime? = nil
  ) async throws(TuttiError) -> HostTime {
    try await timeline.remove(renderer, at: time)
  }

  // MARK: - Rate

  /// Starts or stops the timeline, or makes it faster or slower, in all rooms of all renderers on one sample.
  ///
  /// To start it waits until each renderer has audio enqueued that reaches beyond `time`, and a room that can play it; the
  /// other rooms get two seconds more. So enqueue first, or in another task. A renderer whose audio has ended is not waited
  /// for.
  ///
  /// ``seek(to:)`` goes to another time. To do it yourself, flush the renderers, enqueue from there on, and set the
  /// time: whether time stands still meanwhile, has been told to, or runs. What is enqueued after a flush belongs to
  /// what comes, not to what still sounds. Where time runs, call this within two seconds of enqueuing, and before you
  /// enqueue beyond what sounds: else the buffers join the time that runs, and those that lie before it are dropped.
  /// Without a flush you can go ahead, to what is enqueued already.
  ///
  /// Another rate, while time runs, is heard about a third of a second later: what the rooms hold is replaced without a gap,
  /// and nothing need be enqueued again.
  ///
  /// - Parameters:
  ///   - rate: 0, or 0.25 to 4. `AudioRenderer.audioTimePitchAlgorithm` says what becomes of the pitch.
  ///   - time: goes there; nil stays.
  ///   - hostTime: when `time` is to sound, or the rate to change; nil, or one that is too near: as soon as all rooms can.
  ///   - deadline: until when a start waits for audio and rooms; nil waits for as long as it takes.
  /// - Returns: when it really does. After `setRate(0)` the sound goes on until then, and you need not wait for it.
  /// - Throws: `TuttiError.notReady` at the deadline: time stands still then. `invalid` for other rates, and where a
  ///   rate is to change later than what is enqueued ends;
  ///   `unavailable` where FFmpeg's filters, which rates other than 0 and 1
  ///   need, are not there; `closed` where a renderer is; `cancelled` with the task.
  @discardableResult
  public func setRate(
    _ rate: Double, time: PlaybackTime? = nil, atHostTime hostTime: HostTime? = nil,
    deadline: HostTime? = nil
  ) async throws(TuttiError) -> HostTime {
    guard rate == 0 || Effects.rates.contains(rate) else {
      throw .invalid("a rate is 0, or 0.25 to 4, not \(rate)")
    }
    if rate != 0 { try Effects(rate: rate).check() }
    return try await timeline.setRate(
      rate, time: time, notBefore: hostTime, deadline: deadline)
  }

  /// True if each renderer has enough enqueued for a start at this time: half a second, or all that it will ever have.
  /// `setRate` then waits for rooms alone.
  public nonisolated func hasSufficientMediaData(from time: PlaybackTime) -> Bool {
    timeline.targets.allSatisfy { $0.hasSufficientMediaData(from: time) }
  }

  /// Goes to another time, and leaves what was enqueued for the time before behind: in one step, in all rooms of all
  /// renderers.
  ///
  /// When it returns, the old timeline is dead. Nothing of it is heard after the returned instant. What you enqueue from now
  /// on belongs to the new one, which stands still at `time` until you start it. There is no hurry, and no order to keep:
  ///
  ///     try await synchronizer.seek(to: time)
  ///     // Enqueue from `time` on, here or in another task.
  ///     try await synchronizer.setRate(1)
  ///
  /// Observers that you add from now on are told times of the new timeline only, though the old sound may pass the same
  /// times before it ends. Earlier observers are told those times too.
  ///
  /// A task that still enqueues for the old time must have ended before.
  ///
  /// - Returns: when the sound ends; you need not wait for it. The instant of the call if there is none.
  /// - Throws: `TuttiError.closed` where a renderer is.
  @discardableResult
  public func seek(to time: PlaybackTime) async throws(TuttiError) -> HostTime {
    try await timeline.seek(to: time)
  }

  // MARK: - Observers

  /// The time each time that it has moved on by `interval`, and where it begins to run after a jump. The first renderer tells
  /// it: the sequence waits until there is one, and ends when that one is closed, or with a synchronizer that never had one.
  public func times(every interval: Duration = .milliseconds(100)) -> AsyncStream<PlaybackTime> {
    observe(.times(every: interval))
  }

  /// The same as ``times(every:)``, and whether time has jumped there.
  public func ticks(every interval: Duration = .milliseconds(100)) -> AsyncStream<PlaybackTick> {
    let (stream, listener) = TimeObservers.tickStream()
    let wish = TimeObservers.Wish.times(every: interval)
    if let first = renderers.first {
      first.engine.observe(wish, listener, from: timeline.jump)
    } else {
      observers.wait(for: wish, listener)
    }
    return stream
  }

  /// Each of these times when it sounds; those that are jumped over are not told. As for `times(every:)`, the first renderer
  /// tells them. After ``seek(to:)``, or `setRate` with a time, a new sequence tells nothing of the sound that was left.
  public func boundaries(at times: [PlaybackTime]) -> AsyncStream<PlaybackTime> {
    observe(.boundaries(times))
  }

  private func observe(_ wish: TimeObservers.Wish) -> AsyncStream<PlaybackTime> {
    renderers.first?.engine.observe(wish, from: timeline.jump) ?? observers.wait(for: wish)
  }
}
