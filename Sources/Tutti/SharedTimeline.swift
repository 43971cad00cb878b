internal import Sender
internal import Synchronization

/// Which time sounds when, and that all who keep it play it so: what a `RenderSynchronizer` decides, on whatever clock.
final class SharedTimeline<Target: RenderTarget>: Sendable {
  private struct State {
    var targets: [Target] = []
    /// Taken out, and still to be heard until an instant that lies ahead.
    var leaving: [(target: Target, until: HostTime)] = []
    var schedule = RateSchedule()
    /// The instant at which the last target stops, of those that were told to stop. A busy host stops some of them late.
    var silence = HostTime(nanoseconds: 0)
    var jump = HostTime(nanoseconds: 0)

    /// Lets time stand still at `time` once the old sound has ended.
    mutating func jump(to time: PlaybackTime, from ends: HostTime) {
      schedule.stand(at: time, from: ends)
      jump = max(ends, silence)
    }
  }

  private let state = Mutex(State())
  private let turn = Turn()
  private let now: @Sendable () -> HostTime

  init(now: @escaping @Sendable () -> HostTime) { self.now = now }

  var targets: [Target] { state.withLock { $0.targets } }
  var rate: Double { last.rate }
  var currentTime: PlaybackTime { time(at: now()) }
  /// The end of the sound that the last `seek`, or `setRate` with a time, leaves behind. Observers that are added after that
  /// call are told nothing earlier: the old sound may pass the same times until it ends.
  var jump: HostTime { state.withLock { $0.jump } }

  func hostTime(of time: PlaybackTime) -> HostTime? {
    state.withLock { $0.schedule.hostTime(of: time) }
  }

  private var last: RateSchedule.Point { state.withLock { $0.schedule.last } }

  private func time(at instant: HostTime) -> PlaybackTime {
    state.withLock { $0.schedule.time(at: instant) }
  }

  // MARK: - Who keeps it

  /// See `RenderSynchronizer.add`. `didJoin` is called once it belongs to the `targets`.
  func add(_ target: Target, didJoin: @Sendable () -> Void = {}) async throws(TuttiError) {
    await turn.take()
    defer { turn.give() }
    let isNew = state.withLock { state in
      guard !state.targets.contains(where: { $0 === target }) else { return false }
      state.leaving.removeAll { $0.target === target }
      state.targets.append(target)
      return true
    }
    guard isNew else { return }
    didJoin()
    guard rate != 0 else { return }
    // It keeps another timeline by now, or one that it has left.
    try await target.pause(at: now())
    try await target.run(at: rate, from: .zero, hostTime: now())
    try await target.waitUntilReady(for: currentTime + RenderMargins.joining * rate, deadline: nil)
    try await join(target)
  }

  /// Begins with what sounds at that instant. One that was late, because this host was busy, begins again: it would stay
  /// behind the others by as much.
  private func join(_ target: Target) async throws(TuttiError) {
    var margin = Duration.zero
    while true {
      // Time may be about to run.
      let start = max(
        try await earliest([target]) + margin, state.withLock { $0.schedule.startTime })
      let begun = try await target.start(at: time(at: start), hostTime: start)
      if begun - start <= RenderMargins.tolerance || margin > .seconds(1) { return }
      try await target.pause(at: now())
      margin = max(RenderMargins.setUp, margin * 2)
    }
  }

  func remove(_ target: Target, at time: PlaybackTime?) async throws(TuttiError) -> HostTime {
    await turn.take()
    defer { turn.give() }
    state.withLock { $0.targets.removeAll { $0 === target } }
    let wish = time.flatMap { hostTime(of: $0) }
    let instant = max(try await earliest([target]), wish ?? now())
    let now = now()
    state.withLock { state in
      state.leaving.removeAll { $0.target === target || $0.until <= now }
      state.leaving.append((target, instant))
    }
    try await target.pause(at: instant)
    return instant
  }

  // MARK: - Rate

  /// See `RenderSynchronizer.setRate`.
  func setRate(
    _ rate: Double, time: PlaybackTime?, notBefore hostTime: HostTime?, deadline: HostTime? = nil
  ) async throws(TuttiError) -> HostTime {
    await turn.take()
    defer { turn.give() }
    if rate == self.rate, time == nil { return last.hostTime }
    if rate != 0, self.rate != 0, time == nil {
      return try await change(to: rate, notBefore: hostTime)
    }
    // A stop that was asked for may lie ahead.
    var stopped = max(now(), last.hostTime)
    if self.rate != 0 { stopped = try await stop(notBefore: rate == 0 ? hostTime : nil) }
    if let time { state.withLock { $0.jump(to: time, from: stopped) } }
    return rate == 0 ? stopped : try await start(at: rate, notBefore: hostTime, deadline)
  }

  /// See `RenderSynchronizer.seek`.
  func seek(to time: PlaybackTime) async throws(TuttiError) -> HostTime {
    await turn.take()
    defer { turn.give() }
    // A stop that was asked for may lie ahead.
    let ends = rate == 0 ? max(now(), last.hostTime) : try await stop(notBefore: nil)
    for target in targets { try await target.discard() }
    state.withLock { $0.jump(to: time, from: ends) }
    return ends
  }

  private func stop(notBefore wish: HostTime?) async throws(TuttiError) -> HostTime {
    var instant = try await earliest(targets)
    if let wish { instant = max(instant, wish) }
    let leaving = state.withLock { state in
      defer { state.leaving = [] }
      return state.leaving.filter { $0.until > instant }.map(\.target)
    }
    var silence = instant
    for target in targets + leaving {
      silence = max(silence, try await target.pause(at: instant))
    }
    state.withLock { state in
      state.schedule.change(to: 0, at: instant)
      state.silence = silence
    }
    return instant
  }

  /// In the middle of what sounds. Who is leaving ends as he is.
  private func change(
    to rate: Double, notBefore wish: HostTime?
  ) async throws(TuttiError) -> HostTime {
    let earliest = try await earliest(targets)
    var instant = earliest + RenderMargins.change
    for target in targets {
      guard let end = try await target.suppliedUntil() else { continue }
      if let wish, wish > end {
        throw .invalid("the rate is to change later than what is enqueued ends; enqueue more first")
      }
      instant = max(earliest, min(instant, end))
    }
    instant = max(instant, wish ?? instant, state.withLock { $0.schedule.startTime })
    let time = time(at: instant)
    for target in targets { try await target.run(at: rate, from: time, hostTime: instant) }
    state.withLock { $0.schedule.change(to: rate, at: instant) }
    return instant
  }

  /// All at one instant. One that was late, because this host was busy, makes all begin again.
  private func start(
    at rate: Double, notBefore wish: HostTime?, _ deadline: HostTime?
  ) async throws(TuttiError) -> HostTime {
    let time = last.time
    let targets = targets
    for target in targets { try await target.run(at: rate, from: .zero, hostTime: now()) }
    var margin = RenderMargins.setUp
    while true {
      for target in targets { try await target.waitUntilReady(for: time, deadline: deadline) }
      var instant = try await earliest(targets) + margin
      if let wish { instant = max(instant, wish) }
      var last = instant
      for target in targets {
        last = max(last, try await target.start(at: time, hostTime: instant))
      }
      let isTogether = last - instant <= RenderMargins.tolerance
      if isTogether || targets.count < 2 || margin > .seconds(1) {
        instant = isTogether ? instant : last
        state.withLock { state in
          state.schedule.change(to: rate, at: instant)
          state.jump = min(state.jump, instant)
        }
        return instant
      }
      for target in targets { try await target.pause(at: now()) }
      margin = margin * 2
    }
  }

  /// The first instant that all of these can still act at.
  private func earliest(_ targets: [Target]) async throws(TuttiError) -> HostTime {
    try await now() + latency(of: targets) + RenderMargins.setUp
  }

  /// The longest of all.
  func latency() async throws(TuttiError) -> Duration { try await latency(of: targets) }

  private func latency(of targets: [Target]) async throws(TuttiError) -> Duration {
    var longest = Duration.zero
    for target in targets { longest = max(longest, try await target.latency()) }
    return longest
  }
}

enum RenderMargins {
  /// Those that begin no later than this after the others begin together: a frame.
  static let tolerance = Duration.microseconds(20)
  /// Longest time that it takes to set up several renderers for one instant.
  static let setUp = Duration.milliseconds(20)
  /// Longest time until audio of another rate is in the rooms: the old one plays on meanwhile.
  static let change = Duration.milliseconds(250)
  /// The same for a renderer that joins in.
  static let joining = Duration.milliseconds(500)
}
