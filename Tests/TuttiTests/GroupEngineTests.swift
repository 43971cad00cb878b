import Dispatch
import Driver
import Testing

@testable import Tutti

@Suite struct GroupEngineTests {
  /// Stalls an engine's thread until the second semaphore is signalled.
  private func stall(_ player: Player) -> DispatchSemaphore {
    let (entered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    player.engine.post { _ in
      entered.signal()
      released.wait()
    }
    entered.wait()
    return released
  }

  @Test(.timeLimit(.minutes(3)))
  func `more calls than can wait are refused, and those that wait are answered`() async throws {
    let player = try await Player()
    let released = stall(player)
    for _ in 0..<Mailbox<GroupLoop>.limit { #expect(player.engine.offer { _ in } == nil) }
    #expect(player.engine.offer { _ in } == .busy)
    await #expect(throws: TuttiError.busy) { try await player.pause() }
    // A sequence that cannot be served ends; an order that must not be lost does not.
    for await _ in player.positions() { Issue.record("it tells") }
    #expect(player.engine.post { _ in })
    released.signal()
    await player.close()
    #expect(player.engine.offer { _ in } == .closed)
  }

  @Test(.timeLimit(.minutes(3)))
  func `the sequence of an observer too many is empty`() async throws {
    let player = try await Player()
    var streams: [AsyncStream<PlaybackTime>] = []
    // Each call waits for the engine. This many may not wait at once.
    for _ in 0..<TimeObservers.limit {
      streams.append(player.positions())
      _ = try await player.position()
    }
    for await _ in player.positions() { Issue.record("it tells") }
    withExtendedLifetime(streams) {}
    await player.close()
  }
}
