import Clock
import Foundation
import Simulation
import Testing

@Suite struct LongTests {
  private func play(rooms: Int, hours: Double, seed: UInt64) -> SimulatedGroup {
    let paths: [PathQuality] = (0..<rooms).map { $0.isMultiple(of: 4) ? .wifi : .wired }
    var house = SimulatedGroup.Configuration.house(paths, seed: seed, cards: [.fine, .edge])
    house.isExact = false
    house.interval = .milliseconds(500)
    let group = SimulatedGroup(house)
    group.run(until: hours * 3600)
    return group
  }

  private func check(_ group: SimulatedGroup, hours: Double) {
    let wired = group.microphone.records.indices.filter { !$0.isMultiple(of: 4) }
    group.expectSpread(within: 100, from: 60, to: hours * 3600)
    group.expectSpread(within: 15, from: 60, to: hours * 3600, rooms: wired)
    group.expectSounding(from: 5, to: hours * 3600)
    expectFlawless(group)
  }

  @Test(arguments: [8, 16])
  func `rooms play together for an hour`(rooms: Int) {
    check(play(rooms: rooms, hours: 1, seed: 1), hours: 1)
  }

  /// Some twenty minutes, where there is time: TUTTI_LONG=1.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TUTTI_LONG"] != nil))
  func `sixteen rooms play together for a day`() {
    check(play(rooms: 16, hours: 24, seed: 2), hours: 24)
  }
}
