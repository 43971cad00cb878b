internal import Clock
internal import Driver
internal import LinuxIO
internal import Sender
internal import Synchronization

/// The timeline of one or several `AudioRenderer`s: which time sounds when. All rooms of all its renderers play the same
/// time at the same instant.
///
/// Begins at time zero and rate 0. Everything may be called from any task; calls that change the rate or the renderers are
/// carried out one after the other.
public actor RenderSynchronizer {
  /// What setting several renderers up at one instant may take.
  private static let margin = Duration.milliseconds(20)
  /// What it takes, at most, until audio of another rate is in the rooms: the old one plays on meanwhile.
  private static let changeMargin = Duration.milliseconds(250)

  public private(set) var renderers: [AudioRenderer] = []
  /// Taken out, and still to be heard until an instant that lies ahead.
  private var leaving: [(renderer: AudioRenderer, until: HostTime)] = []
  private let observers = WaitingObservers()
  private nonisolated let schedule = Mutex(RateSchedule())
  private let turn = Turn()

  public init() {}

  /// Seconds of the timeline in one second; 0 stands still.
  public nonisolated var rate: Double { schedule.withLock { $0.last.rate } }

  /// What sounds now, or stands still.
  public nonisolated var currentTime: PlaybackTime { schedule.withLock { $0.time(at: .now) } }

  /// When a time sounds in all rooms, or has sounded: pictures shown at that instant are in step with the sound. Nil while
  /// the rate is 0.
  public nonisolated func hostTime(of time: PlaybackTime) -> HostTime? {
    schedule.withLock { $0.hostTime(of: time) }
  }

  /// How long after it is asked for a change is heard: the longest of the renderers.
  ///
  /// - Throws: `TuttiError.closed` where one of them is.
  public func outputLatency() async throws(TuttiError) -> Duration {
    var longest = Duration.zero
    for renderer in renderers { longest = max(longest, try await renderer.latency()) }
    return longest
  }

  // MARK: - Renderers

  /// Unless the rate is 0, the renderer joins in as soon as something is enqueued that lies ahead, and this waits for it.
  ///
  /// - Throws: `TuttiError.closed` where the renderer is; `cancelled` with the task.
  public func add(_ renderer: AudioRenderer) async throws(TuttiError) {
    await turn.take()
    defer { turn.give() }
    guard !renderers.contains(where: { $0 === renderer }) else { return }
    leaving.removeAll { $0.renderer === renderer }
    renderers.append(renderer)
    observers.hand(to: renderer.engine)
    guard rate != 0 else { return }
    try await renderer.run(at: rate)
    try await renderer.prepare(for: currentTime + .milliseconds(500) * rate)
    try await renderer.engine.waitUntilPrimed()
    let start = try await earliest([renderer])
    let time = schedule.withLock { $0.time(at: start) }
    _ = try await renderer.start(at: time, hostTime: start)
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
    await turn.take()
    defer { turn.give() }
    renderers.removeAll { $0 === renderer }
    let wish = time.flatMap { hostTime(of: $0) }
    let instant = max(try await earliest([renderer]), wish ?? .now)
    leaving.removeAll { $0.renderer === renderer || $0.until <= .now }
    leaving.append((renderer, instant))
    try await renderer.engine.carryOut(.pauseAt(instant.group))
    return instant
  }

  // MARK: - Rate

  /// Starts or stops the timeline, or makes it faster or slower, in all rooms of all renderers on one sample.
  ///
  /// To start it waits until each renderer has audio enqueued and a room that can play it; the others get two seconds more.
  /// So enqueue first, or in another task. To go to another time while audio is enqueued, flush the renderers and enqueue
  /// from there on. Another rate, while time runs, is heard about a third of a second later: what the rooms hold is
  /// replaced without a gap, and nothing need be enqueued again.
  ///
  /// - Parameters:
  ///   - rate: 0, or 0.25 to 4. `AudioRenderer.audioTimePitchAlgorithm` says what becomes of the pitch.
  ///   - time: goes there; nil stays.
  ///   - hostTime: when `time` is to sound, or the rate to change; nil, or one that is too near: as soon as all rooms can.
  /// - Returns: when it really does.
  /// - Throws: `TuttiError.invalid` for other rates, and where a rate is to change later than what is enqueued ends;
  ///   `unavailable` where FFmpeg's filters, which rates other than 0 and 1
  ///   need, are not there; `closed` where a renderer is; `cancelled` with the task.
  @discardableResult
  public func setRate(
    _ rate: Double, time: PlaybackTime? = nil, atHostTime hostTime: HostTime? = nil
  ) async throws(TuttiError) -> HostTime {
    guard rate == 0 || Effects.rates.contains(rate) else {
      throw .invalid("a rate is 0, or 0.25 to 4, not \(rate)")
    }
    if rate != 0 { try Effects(rate: rate).check() }
    await turn.take()
    defer { turn.give() }
    if rate == self.rate, time == nil { return schedule.withLock { $0.last.hostTime } }
    if rate != 0, self.rate != 0, time == nil {
      return try await change(to: rate, notBefore: hostTime)
    }
    var stopped = HostTime.now
    if self.rate != 0 { stopped = try await stop(notBefore: rate == 0 ? hostTime : nil) }
    if let time { schedule.withLock { $0.stand(at: time, from: stopped) } }
    return rate == 0 ? stopped : try await start(at: rate, notBefore: hostTime)
  }

  private func stop(notBefore wish: HostTime?) async throws(TuttiError) -> HostTime {
    var instant = try await earliest(renderers)
    if let wish { instant = max(instant, wish) }
    for renderer in renderers + leaving.filter({ $0.until > instant }).map(\.renderer) {
      try await renderer.engine.carryOut(.pauseAt(instant.group))
    }
    leaving = []
    schedule.withLock { $0.change(to: 0, at: instant) }
    return instant
  }

  /// In the middle of what sounds. A renderer that is leaving ends as it is.
  private func change(
    to rate: Double, notBefore wish: HostTime?
  ) async throws(TuttiError) -> HostTime {
    let earliest = try await earliest(renderers)
    var instant = earliest + Self.changeMargin
    for renderer in renderers {
      guard let end = try await renderer.suppliedUntil() else { continue }
      if let wish, wish > end {
        throw .invalid("the rate is to change later than what is enqueued ends; enqueue more first")
      }
      instant = max(earliest, min(instant, end))
    }
    instant = max(instant, wish ?? instant, schedule.withLock { $0.startTime })
    let time = schedule.withLock { $0.time(at: instant) }
    for renderer in renderers { try await renderer.run(at: rate, from: time, hostTime: instant) }
    schedule.withLock { $0.change(to: rate, at: instant) }
    return instant
  }

  /// All renderers at one instant. One that was late, because this host was busy, makes all begin again.
  private func start(
    at rate: Double, notBefore wish: HostTime?
  ) async throws(TuttiError) -> HostTime {
    let time = schedule.withLock { $0.last.time }
    for renderer in renderers { try await renderer.run(at: rate) }
    var margin = Self.margin
    while true {
      for renderer in renderers { try await renderer.prepare(for: time) }
      for renderer in renderers { try await renderer.engine.waitUntilPrimed() }
      var instant = try await earliest(renderers) + margin
      if let wish { instant = max(instant, wish) }
      var isTogether = true
      for renderer in renderers {
        isTogether = try await renderer.start(at: time, hostTime: instant) && isTogether
      }
      if isTogether || renderers.count < 2 || margin > .seconds(1) {
        schedule.withLock { $0.change(to: rate, at: instant) }
        return instant
      }
      for renderer in renderers { try await renderer.engine.carryOut(.pause) }
      margin = margin * 2
    }
  }

  /// The first instant that all of these renderers can still act at.
  private func earliest(_ renderers: [AudioRenderer]) async throws(TuttiError) -> HostTime {
    var longest = Duration.zero
    for renderer in renderers { longest = max(longest, try await renderer.latency()) }
    return .now + longest + Self.margin
  }

  // MARK: - Observers

  /// The time each time that it has moved on by `interval`, and at each jump. The first renderer tells it: the sequence
  /// waits until there is one, and ends when that one is closed, or with a synchronizer that never had one.
  public func times(every interval: Duration = .milliseconds(100)) -> AsyncStream<PlaybackTime> {
    observe(.times(every: interval))
  }

  /// Each of these times when it sounds; those that are jumped over are not told. As for `times(every:)`, the first renderer
  /// tells them.
  public func boundaries(at times: [PlaybackTime]) -> AsyncStream<PlaybackTime> {
    observe(.boundaries(times))
  }

  private func observe(_ wish: TimeObservers.Wish) -> AsyncStream<PlaybackTime> {
    renderers.first?.engine.observe(wish) ?? observers.wait(for: wish)
  }
}
