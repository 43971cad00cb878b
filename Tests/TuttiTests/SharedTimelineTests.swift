import Clock
import Sender
import Testing

@testable import Tutti

/// A timeline with one renderer in simulated time, and the observers of that renderer.
@Suite struct SharedTimelineTests {
  private let log = SimulatedLog()

  private func feed(
    _ renderer: SimulatedRenderer, from time: PlaybackTime, in world: SimulatedWorld
  ) {
    world.cancelFeeds(of: renderer)
    world.start(
      SimulatedFeed(
        renderer, from: time, form: .samples, rate: 48_000, pace: .microseconds(200), tag: 1,
        log: log))
  }

  /// Returns the number of reports to an observer that is added after a seek, until `rest` after its place sounds. The old
  /// sound passes the same place, 2 ms before it ends.
  private func count(seed: UInt64, until rest: Nanoseconds) async throws -> Int {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let renderer = SimulatedRenderer(in: world)
    let timeline = SharedTimeline<SimulatedRenderer> { world.hostTime }
    try await timeline.add(renderer)
    feed(renderer, from: .zero, in: world)
    let start = try await timeline.setRate(2, time: nil, notBefore: nil)
    world.advance(by: .seconds(1))
    let target = timeline.currentTime - .milliseconds(200)
    world.cancelFeeds(of: renderer)
    let ends = try await timeline.seek(to: target)
    let reallyEnds = try #require(renderer.session.standing.map(HostTime.init))
    #expect(ends <= reallyEnds)
    let place = PlaybackTime.zero + (reallyEnds - start - .milliseconds(2)) * 2
    let (told, listener) = TimeObservers.stream()
    renderer.observers.add(1, .boundaries([place]), listener, from: timeline.jump.local)
    feed(renderer, from: target, in: world)
    let instant = try await timeline.setRate(1, time: nil, notBefore: nil)
    let sounds = instant + (place - target)
    world.advance(by: sounds.local - world.now + rest)
    renderer.observers.finish()
    return await told.reduce(0) { count, _ in count + 1 }
  }

  @Test(arguments: 0..<5 as Range<UInt64>)
  func `an observer added after a seek is told by the new sound`(
    seed: UInt64
  ) async throws {
    #expect(try await count(seed: seed, until: .milliseconds(-1)) == 0)
    #expect(try await count(seed: seed, until: .milliseconds(1)) == 1)
  }

  @Test(arguments: 0..<5 as Range<UInt64>)
  func `a start at an instant that lies ahead begins exactly then`(seed: UInt64) async throws {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let renderer = SimulatedRenderer(in: world)
    let timeline = SharedTimeline<SimulatedRenderer> { world.hostTime }
    try await timeline.add(renderer)
    feed(renderer, from: .seconds(7), in: world)
    let wish = world.hostTime + .seconds(1)
    let began = try await timeline.setRate(1, time: .seconds(7), notBefore: wish)
    #expect(began == wish)
    world.advance(by: wish.local - world.now - .milliseconds(1))
    #expect(renderer.listen(at: world.now) == nil)
    world.advance(by: .milliseconds(251))
    #expect(timeline.currentTime == .seconds(7.25))
    let heard = try #require(renderer.listen(at: world.now))
    #expect(abs(heard.time - 7.25) < 0.001, "\(heard.time)")
  }
}
