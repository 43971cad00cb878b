internal import Clock
internal import Driver
internal import Sender

/// The operations that a timeline needs of each renderer.
protocol RenderTarget: AnyObject, Sendable {
  /// Returns the time from a command to its sound.
  func latency() async throws(TuttiError) -> Duration
  /// Returns when the encoded audio will have sounded; nil if no more audio will come.
  func suppliedUntil() async throws(TuttiError) -> HostTime?
  /// Lets time run at `rate` from `time`, which sounds at `hostTime`; if time stands still, from there.
  func run(at rate: Double, from time: PlaybackTime, hostTime: HostTime) async throws(TuttiError)
  /// Forgets what was enqueued: what is enqueued from now on belongs to what comes.
  func discard() async throws(TuttiError)
  /// Makes `time` the next to sound, and waits until it can.
  ///
  /// - Throws: `TuttiError.notReady` at the deadline, if there is one.
  func waitUntilReady(for time: PlaybackTime, deadline: HostTime?) async throws(TuttiError)
  /// Starts `time` at `hostTime`, or as soon as possible after it. Returns the instant.
  func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> HostTime
  /// Stops time at `hostTime`, or as soon as possible after it. Returns the instant.
  @discardableResult
  func pause(at hostTime: HostTime) async throws(TuttiError) -> HostTime
}

extension AudioRenderer: RenderTarget {
  func latency() async throws(TuttiError) -> Duration {
    try await engine.perform { Duration($0.session.status(at: $0.now).outputLatency) }
  }

  func suppliedUntil() async throws(TuttiError) -> HostTime? {
    try await engine.perform { $0.session.suppliedUntil(at: $0.now).map(HostTime.init) }
  }

  func run(at rate: Double, from time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) {
    let algorithm = audioTimePitchAlgorithm
    try await perform { loop, queue in
      var effects = loop.session.effects
      effects.rate = rate
      effects.keepsPitch = rate == 1 || algorithm == .timeDomain
      loop.run(queue, with: effects, from: time, at: hostTime)
    }
  }

  func discard() async throws(TuttiError) {
    try await perform { loop, queue in _ = loop.flush(queue) }
  }

  func waitUntilReady(for time: PlaybackTime, deadline: HostTime?) async throws(TuttiError) {
    let queue = queue
    try await engine.waitUntil({ $0.approach(time, queue) }, deadline: deadline)
  }

  func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> HostTime {
    try await perform { loop, queue in loop.start(queue, at: time, hostTime: hostTime) }
  }

  func pause(at hostTime: HostTime) async throws(TuttiError) -> HostTime {
    try await perform { loop, _ in loop.pause(at: hostTime) }
  }
}
