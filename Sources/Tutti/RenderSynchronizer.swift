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
  /// `time` sounds at `hostTime`; from then on time runs at `rate`, and until then at `rateBefore`.
  private struct Mapping {
    var time = PlaybackTime.zero
    var hostTime = HostTime(nanoseconds: 0)
    var rate = 0.0
    var rateBefore = 0.0

    func time(at now: HostTime) -> PlaybackTime {
      time + (now - hostTime) * (now < hostTime ? rateBefore : rate)
    }
  }

  /// What setting several renderers up at one instant may take.
  private static let margin = Duration.milliseconds(20)

  public private(set) var renderers: [AudioRenderer] = []
  /// Taken out, and still to be heard until an instant that lies ahead.
  private var leaving: [(renderer: AudioRenderer, until: HostTime)] = []
  private let observers = WaitingObservers()
  private nonisolated let mapping = Mutex(Mapping())
  private let turn = Turn()

  public init() {}

  /// 0 stands still, 1 plays. (Other rates are for a `Player`.)
  public nonisolated var rate: Double { mapping.withLock { $0.rate } }

  /// What sounds now, or stands still.
  public nonisolated var currentTime: PlaybackTime { mapping.withLock { $0.time(at: .now) } }

  /// When a time sounds in all rooms, or has sounded: pictures shown at that instant are in step with the sound. Nil while
  /// the rate is 0.
  public nonisolated func hostTime(of time: PlaybackTime) -> HostTime? {
    mapping.withLock { $0.rate == 0 ? nil : $0.hostTime + (time - $0.time) * (1 / $0.rate) }
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

  /// Where the rate is 1, the renderer joins in as soon as something is enqueued that lies ahead, and this waits for it.
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
    try await renderer.prepare(for: currentTime + .milliseconds(500))
    try await renderer.engine.waitUntilPrimed()
    let start = try await earliest([renderer])
    let time = mapping.withLock { $0.time(at: start) }
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

  /// Starts or stops the timeline, in all rooms of all renderers on one sample.
  ///
  /// To start it waits until each renderer has audio enqueued and a room that can play it; the others get two seconds more.
  /// So enqueue first, or in another task. To go to another time while audio is enqueued, flush the renderers and enqueue
  /// from there on.
  ///
  /// - Parameters:
  ///   - rate: 0 or 1.
  ///   - time: goes there; nil stays.
  ///   - hostTime: when `time` is to sound, or the timeline to stop; nil, or one that is too near: as soon as all rooms can.
  /// - Returns: when it really does.
  /// - Throws: `TuttiError.invalid` for other rates; `closed` where a renderer is; `cancelled` with the task.
  @discardableResult
  public func setRate(
    _ rate: Double, time: PlaybackTime? = nil, atHostTime hostTime: HostTime? = nil
  ) async throws(TuttiError) -> HostTime {
    guard rate == 0 || rate == 1 else { throw .invalid("a rate is 0 or 1, not \(rate)") }
    await turn.take()
    defer { turn.give() }
    if rate == self.rate, time == nil { return mapping.withLock { $0.hostTime } }
    var stopped = HostTime.now
    if self.rate != 0 { stopped = try await stop(notBefore: rate == 0 ? hostTime : nil) }
    if let time { mapping.withLock { $0 = Mapping(time: time, hostTime: stopped) } }
    return rate == 0 ? stopped : try await start(notBefore: hostTime)
  }

  private func stop(notBefore wish: HostTime?) async throws(TuttiError) -> HostTime {
    var instant = try await earliest(renderers)
    if let wish { instant = max(instant, wish) }
    for renderer in renderers + leaving.filter({ $0.until > instant }).map(\.renderer) {
      try await renderer.engine.carryOut(.pauseAt(instant.group))
    }
    leaving = []
    mapping.withLock {
      $0 = Mapping(time: $0.time(at: instant), hostTime: instant, rate: 0, rateBefore: 1)
    }
    return instant
  }

  /// All renderers at one instant. One that was late, because this host was busy, makes all begin again.
  private func start(notBefore wish: HostTime?) async throws(TuttiError) -> HostTime {
    let time = mapping.withLock { $0.time }
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
        mapping.withLock { $0 = Mapping(time: time, hostTime: instant, rate: 1) }
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

/// Those who asked for times before there was a renderer to tell them.
private final class WaitingObservers: Sendable {
  private struct State {
    var waiting: [Int: (wish: TimeObservers.Wish, listener: TimeObservers.Listener)] =
      [:]
    var count = 0
  }

  private let state = Mutex(State())

  deinit { for one in state.withLock({ $0.waiting.values }) { one.listener.finish() } }

  func wait(for wish: TimeObservers.Wish) -> AsyncStream<PlaybackTime> {
    let (stream, listener) = TimeObservers.stream()
    let number: Int? = state.withLock { state in
      guard state.waiting.count < TimeObservers.limit else { return nil }
      state.count += 1
      state.waiting[state.count] = (wish, listener)
      return state.count
    }
    guard let number else {
      listener.finish()
      return stream
    }
    listener.onTermination = { [weak self] _ in self?.forget(number) }
    return stream
  }

  func hand(to engine: GroupEngine) {
    let all = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for one in all.values { engine.observe(one.wish, one.listener) }
  }

  private func forget(_ number: Int) {
    state.withLock { _ = $0.waiting.removeValue(forKey: number) }
  }
}
