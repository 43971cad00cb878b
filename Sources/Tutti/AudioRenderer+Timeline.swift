internal import Clock
internal import Driver
internal import LinuxIO
internal import Sender

/// What a synchronizer asks of its renderers.
extension AudioRenderer {
  func latency() async throws(TuttiError) -> Duration {
    try await engine.perform { Duration($0.driver.session.status(at: HostClock.now).outputLatency) }
  }

  /// When what is enqueued, and encoded, will have sounded; nil where that is all that will ever be.
  func suppliedUntil() async throws(TuttiError) -> HostTime? {
    try await engine.perform { loop in
      loop.driver.session.suppliedUntil(at: HostClock.now).map(HostTime.init)
    }
  }

  /// From `time`, or where time stands still from there, it runs at `rate`. What is enqueued is read again.
  ///
  /// - Parameter hostTime: when `time` sounds.
  func run(
    at rate: Double, from time: PlaybackTime = .zero, hostTime: HostTime = .now
  ) async throws(TuttiError) {
    let (queue, algorithm) = (queue, audioTimePitchAlgorithm)
    try await engine.perform { loop in
      var effects = loop.driver.session.effects
      effects.rate = rate
      effects.keepsPitch = rate == 1 || algorithm == .timeDomain
      let count = queue.readerCount
      let reply = loop.driver.carryOut(.effectsAt(effects, from: time.span, at: hostTime.group))
      guard case .success(.renewed(let position)) = reply else { return }
      queue.reread(from: PlaybackTime(position), since: count)
    }
  }

  /// Makes `time` what sounds next, where the renderer has played before and stands before it. What is enqueued from
  /// there on is kept. What was enqueued from another time on needs nothing: `start` takes it as it is.
  func prepare(for time: PlaybackTime) async throws(TuttiError) {
    let (queue, rate) = (queue, format.sampleRate)
    try await engine.perform { loop in
      let session = loop.driver.session
      let frame = max(0, time.frame(at: rate))
      let position = PlaybackTime(session.upcomingPosition(at: HostClock.now))
      guard session.hasBegun, queue.isPlaced, position.frame(at: rate) < frame else { return }
      let place = PlaybackTime(frame: frame, at: rate)
      if queue.hasRead(past: place), session.mayCue(to: place.span) {
        loop.driver.carryOut(.cue(to: place.span))
      } else {
        loop.jump(queue, to: place)
      }
    }
  }

  /// `time` sounds at `hostTime`; where what is enqueued begins later, it begins so much later. False where it is too late
  /// for that.
  func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> Bool {
    let tolerance = Duration.nanoseconds(1_000_000_000 / format.sampleRate)
    return try await engine.perform { loop in
      let driver = loop.driver
      var instant = hostTime
      let begin = PlaybackTime(driver.session.upcomingPosition(at: HostClock.now))
      let rate = driver.session.effects.rate
      if begin > time { instant = hostTime + (begin - time) * (1 / rate) }
      driver.carryOut(.cue(to: time.span))
      driver.carryOut(.resumeAt(instant.group))
      let actual = driver.session.presentationTime(of: time.span, at: HostClock.now)
      return actual.map { HostTime($0) - hostTime <= tolerance } ?? true
    }
  }
}
