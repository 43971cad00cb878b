import Sender
import Simulation
import TestSupport
import Testing

/// Tests of the profile for live sources: little is decoded and written ahead.
@Suite struct LiveTests {
  @Test(arguments: seeds(2, of: 3))
  func `rooms that keep little ahead play without a gap, and together`(seed: UInt64) throws {
    let scenario = try #require(Scenario("live", seed: seed, rooms: 4, hours: nil))
    let group = SimulatedGroup(scenario.configuration)
    group.run(until: 60)
    group.expectSounding(from: 3, to: 60)
    group.expectSpread(within: 15, from: 20, to: 60)
    expectFlawless(group)
  }

  @Test func `a room that is away holds a live group up no longer than its profile says`() throws {
    func firstSound(_ profile: String) throws -> Double {
      let scenario = try #require(Scenario(profile, seed: 4, rooms: 2, hours: nil))
      let group = SimulatedGroup(scenario.configuration)
      group.partition(1)
      group.run(until: 10)
      return try #require(group.microphone.records[0].firstSound).seconds
    }
    let gained = try firstSound("wired") - firstSound("live")
    #expect(gained > 1.7 && gained < 2.2, "\(gained) s")
  }

  @Test func `a card that takes nothing back hears of a pause behind less`() throws {
    func silence(_ profile: String) throws -> Double {
      let scenario = try #require(Scenario(profile, seed: 5, rooms: 2, hours: nil))
      var configuration = scenario.configuration
      for room in configuration.rooms.indices { configuration.rooms[room].card.canRewind = false }
      let group = SimulatedGroup(configuration)
      group.at(10) { $0.command(.pause) }
      group.run(until: 12)
      return 2 * group.microphone.soundingShare(of: 0, from: 10, to: 12)
    }
    let (deep, live) = (try silence("wired"), try silence("live"))
    #expect(live < deep - 0.02, "\(live) s instead of \(deep) s")
  }
}
