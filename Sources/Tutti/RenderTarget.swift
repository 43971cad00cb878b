internal import Clock
internal import Driver
internal import Sender

/// What a timeline asks of each renderer that keeps it.
protocol RenderTarget: AnyObject, Sendable {
  /// How long after it is asked for a change is heard.
  func latency() async throws(TuttiError) -> Duration
  /// When what is enqueued, and encoded, will have sounded; nil where that is all that will ever be.
  func suppliedUntil() async throws(TuttiError) -> HostTime?
  /// From `time`, which sounds at `hostTime`, it runs at `rate`; where time stands still, from there.
  func run(at rate: Double, from time: PlaybackTime, hostTime: HostTime) async throws(TuttiError)
  /// Makes `time` what sounds next, and waits until it can.
  func waitUntilReady(for time: PlaybackTime) async throws(TuttiError)
  /// `time` sounds at `hostTime`, or where it is too late for that, as soon after it as can be. Returns when.
  func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> HostTime
  /// Time stands still from `hostTime` on, or from as soon after it as can be.
  func pause(at hostTime: HostTime) async throws(TuttiError)
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

  func waitUntilReady(for time: PlaybackTime) async throws(TuttiError) {
    let queue = queue
    try await engine.waitUntil { $0.approach(time, queue) }
  }

  func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> HostTime {
    try await perform { loop, queue in loop.start(queue, at: time, hostTime: hostTime) }
  }

  func pause(at hostTime: HostTime) async throws(TuttiError) {
    try await perform { loop, _ in loop.pause(at: hostTime) }
  }
}
