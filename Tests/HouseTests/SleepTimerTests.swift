import Clock
import Sender
import Testing
import WireProtocol

@testable import House

/// The timer as people hear it, in virtual time.
@Suite struct SleepTimerTests {
  private let world: SimulatedWorld
  private let group: String

  init() throws {
    world = try SimulatedWorld(rooms: 1, holding: .zero)
    group = try world.play(in: [world.receivers[0].id])
  }

  private var player: SimulatedPlayer { get throws { try #require(world.players.first) } }
  private var isPaused: Bool { world.session.groups[group]?.player.status.state == .paused }

  private func sleep(in seconds: Double) throws {
    try world.ask(.change(group: group, .init(sleepInS: seconds)))
  }

  @Test func `the music grows quieter for half a minute, pauses, and is as loud as before`() throws
  {
    let begin = world.now
    try sleep(in: 120)
    world.advance(by: .seconds(89))
    #expect(try player.streamVolumes.isEmpty)
    world.advance(by: .seconds(30))
    let fade = try player.streamVolumes
    #expect(fade.count >= 140 && fade.first?.volume == 1000 && !isPaused)
    #expect(zip(fade, fade.dropFirst()).allSatisfy { $0.volume - $1.volume <= 8 })
    #expect(
      fade.allSatisfy { step in
        let left = Double((begin + .seconds(120) - step.time).count) / 1e9
        return abs(Double(step.volume) - 1000 * left / 30) <= 1
      })
    world.advance(by: .seconds(2))
    #expect(isPaused)
    #expect(try player.streamVolumes.last?.volume ?? 1000 < 10)
    #expect(world.session.state(at: world.now).groups.first?.sleepAtMs == nil)
    world.advance(by: .seconds(2))
    #expect(try player.streamVolumes.last?.volume == 1000)
  }

  @Test func `who goes on at once hears the music at once`() throws {
    try sleep(in: 40)
    world.advance(by: .seconds(40) + .milliseconds(300))
    #expect(isPaused)
    try world.ask(.transport(group: group, .play))
    #expect(try player.streamVolumes.last?.volume == 1000 && !isPaused)
  }

  @Test(arguments: [0.0, 600])
  func `a timer that is set anew, or turned off, lets the music be loud again`(seconds: Double)
    throws
  {
    try sleep(in: 60)
    world.advance(by: .seconds(45))
    #expect((450...550).contains(try player.streamVolumes.last?.volume ?? 0))
    try sleep(in: seconds)
    #expect(try player.streamVolumes.last?.volume == 1000)
    world.advance(by: .seconds(30))
    #expect(try player.streamVolumes.last?.volume == 1000 && !isPaused)
  }

  @Test func `a short time fades for half of it`() throws {
    try sleep(in: 10)
    world.advance(by: .seconds(4))
    #expect(try player.streamVolumes.isEmpty)
    world.advance(by: .milliseconds(1_100))
    #expect(try player.streamVolumes.first?.volume == 1000)
  }

  @Test func `a timer lasts no longer than ever where the clock is wrong after a start`() throws {
    try sleep(in: 600)
    world.advance(by: .seconds(12))
    try world.restart(after: .seconds(-400 * 86_400))
    let end = try #require(world.session.groups[group]?.sleep.end)
    #expect((end - world.now).seconds <= Order.GroupChange.sleeps.upperBound)
    #expect(end > world.now)
  }

  @Test func `what is paused already does not fade`() throws {
    try sleep(in: 60)
    try world.ask(.transport(group: group, .pause))
    world.advance(by: .seconds(50))
    #expect(try player.streamVolumes.allSatisfy { $0.volume == 1000 })
  }
}
