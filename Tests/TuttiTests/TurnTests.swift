import Synchronization
import Testing

@testable import Tutti

/// Calls from many tasks, and what reaches the renderers of a timeline.
@Suite(.timeLimit(.minutes(1))) struct TurnTests {
  /// A renderer that takes its time, and notes when it is called meanwhile.
  private final class SlowTarget: RenderTarget {
    private let state = Mutex((isBusy: false, overlaps: 0, callCount: 0))
    private let delay: Duration

    init(latency: Duration = .zero) { delay = latency }

    var overlaps: Int { state.withLock { $0.overlaps } }
    var callCount: Int { state.withLock { $0.callCount } }

    private func call() async {
      state.withLock { state in
        if state.isBusy { state.overlaps += 1 }
        (state.isBusy, state.callCount) = (true, state.callCount + 1)
      }
      for _ in 0..<5 { await Task.yield() }
      state.withLock { $0.isBusy = false }
    }

    func latency() async throws(TuttiError) -> Duration {
      await call()
      return delay
    }
    func suppliedUntil() async throws(TuttiError) -> HostTime? {
      await call()
      return nil
    }
    func run(at rate: Double, from time: PlaybackTime, hostTime: HostTime) async throws(TuttiError)
    {
      await call()
    }
    func discard() async throws(TuttiError) { await call() }
    func waitUntilReady(for time: PlaybackTime, deadline: HostTime?) async throws(TuttiError) {
      await call()
    }
    func start(at time: PlaybackTime, hostTime: HostTime) async throws(TuttiError) -> HostTime {
      await call()
      return hostTime
    }
    func pause(at hostTime: HostTime) async throws(TuttiError) -> HostTime {
      await call()
      return hostTime
    }
  }

  @Test func `calls from many tasks reach a renderer one after the other`() async throws {
    let target = SlowTarget()
    let timeline = SharedTimeline<SlowTarget> { HostTime(nanoseconds: 0) }
    try await timeline.add(target)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...40 {
        group.addTask {
          switch number % 4 {
          case 0: _ = try await timeline.seek(to: .seconds(Double(number)))
          case 1: _ = try await timeline.setRate(1, time: nil, notBefore: nil)
          case 2: _ = try await timeline.setRate(2, time: .zero, notBefore: nil)
          default: _ = try await timeline.setRate(0, time: nil, notBefore: nil)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(target.callCount > 40)
    #expect(target.overlaps == 0)
  }

  @Test func `a timeline is as late as the latest of its renderers`() async throws {
    let timeline = SharedTimeline<SlowTarget> { HostTime(nanoseconds: 1_000) }
    for milliseconds in [30, 80, 50] {
      try await timeline.add(SlowTarget(latency: .milliseconds(milliseconds)))
    }
    #expect(try await timeline.latency() == .milliseconds(80))
    let wish = HostTime(nanoseconds: 5_000)
    let began = try await timeline.setRate(1, time: nil, notBefore: wish)
    #expect(began >= HostTime(nanoseconds: 1_000) + .milliseconds(80))
  }
}
