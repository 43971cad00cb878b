import Clock
import Disturbances
import Sender
import Simulation
import TestSupport
import Testing

/// A household with two daemons, of which one leads.
@Suite struct SecondDaemonTests {
  private static func group(_ seed: UInt64) -> SimulatedGroup {
    var house = SimulatedGroup.Configuration.house([.wired, .wired, .wiredLoad], seed: seed)
    house.addSecondDaemon()
    return SimulatedGroup(house)
  }

  /// Expects that the other daemon leads soon after the fault at 15 s, and that nobody has heard of it.
  private func expectTakeover(
    of group: SimulatedGroup, _ location: SourceLocation = #_sourceLocation
  ) {
    group.run(until: 20)
    #expect(group.takeovers.map(\.daemon) == [0, 1], sourceLocation: location)
    #expect(group.takeovers.map(\.term) == [1, 2], sourceLocation: location)
    for room in 0..<3 { #expect(group.welcomedTerm(of: room) == 2, sourceLocation: location) }
    let difference = group.clockDifference(of: 1) ?? .seconds(9)
    print("   group time", difference)
    #expect(Nanoseconds(abs(difference.count)) < .milliseconds(1), sourceLocation: location)
    group.run(until: 60)
    group.expectSounding(from: 5, to: 60)
    group.expectSpread(within: 100, from: 15, to: 60)
    // The daemon knows what the rooms play, within the microseconds by which the two crystals differ.
    for room in 0..<3 {
      let error = group.microphone.syncError(of: room, from: 5, to: 60)
      #expect(error.maximum < 5_000, "\(error)", sourceLocation: location)
    }
    expectFlawless(group, location: location)
    #expect(group.leaders == [1], sourceLocation: location)
  }

  @Test(arguments: seeds(1, of: 12))
  func `a leader without power is not missed`(seed: UInt64) {
    let group = Self.group(seed)
    group.at(15) { $0.pullPlug(0) }
    expectTakeover(of: group)
  }

  @Test(arguments: seeds(1, of: 12))
  func `a leader that is killed comes back as the follower`(seed: UInt64) {
    let group = Self.group(seed)
    group.at(15) { $0.killDaemon(0) }
    group.at(19) { $0.powerOn(0) }
    expectTakeover(of: group)
    #expect(group.isOn(0) && group.term(of: 0) == 2)
  }

  @Test(arguments: seeds(1, of: 12))
  func `a leader without network follows once it has one`(seed: UInt64) {
    let group = Self.group(seed)
    group.at(15) { $0.cutNetwork(of: 0) }
    // Nobody hears what it is told meanwhile.
    group.at(19) { $0.command(.pause, to: 0) }
    group.at(25) { $0.heal() }
    expectTakeover(of: group)
    #expect(group.term(of: 0) == 2)
  }

  @Test func `while the rooms hear the leader, the follower waits`() {
    let group = Self.group(4)
    group.at(15) { $0.split(1, from: [], alone: true) }
    group.run(until: 40)
    #expect(group.leaders == [0])
    expectFlawless(group)
    group.expectSounding(from: 5, to: 40)
  }

  @Test func `both take over from each other in turn`() {
    let group = Self.group(5)
    for (time, number) in [(15.0, 0), (25, 1), (35, 0), (45, 1)] {
      group.at(time) { $0.pullPlug(number) }
      group.at(time + 4) { $0.powerOn(number) }
    }
    group.run(until: 60)
    #expect(group.takeovers.map(\.daemon) == [0, 1, 0, 1, 0])
    #expect(group.takeovers.map(\.term) == [1, 2, 3, 4, 5])
    group.expectSounding(from: 5, to: 60)
    expectFlawless(group)
  }

  /// Splits, kills and power cuts are drawn, some three for each seed: the long tests draw more than 1000.
  @Test(arguments: seeds(4, of: 400))
  func `in drawn splits no room hears two daemons, and music goes on`(seed: UInt64) throws {
    let scenario = try #require(
      Scenario("second", seed: seed, rooms: 2 + Int(seed % 3), hours: 100.0 / 3600))
    let broken = scenario.play().firstBroken
    #expect(broken == nil, "\(scenario.disturbances.map(\.description))")
  }
}
