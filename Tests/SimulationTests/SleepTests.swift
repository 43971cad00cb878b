import Clock
import Sender
import Simulation
import TestSupport
import Testing
import WireProtocol

/// Tests of machines that sleep while music plays.
@Suite struct SleepTests {
  private static func house(seed: UInt64, seconds: Int64 = 100) -> SimulatedGroup.Configuration {
    var house = SimulatedGroup.Configuration.house([.wired, .wired, .wired], seed: seed)
    for index in house.rooms.indices {
      house.rooms[index].capacity = .init(bytes: 32 << 20, duration: .seconds(seconds))
    }
    return house
  }

  @Test(arguments: seeds(1, of: 2), [4, 25])
  func `the sender's sleep is not heard while the rooms have music`(seed: UInt64, seconds: Int64) {
    let group = SimulatedGroup(Self.house(seed: seed))
    group.at(20) { $0.suspendSender(for: .seconds(seconds)) }
    group.run(until: 80)
    group.expectSounding(from: 3, to: 80)
    group.expectSpread(within: 100, from: 20, to: 80)
    expectFlawless(group)
  }

  @Test(arguments: seeds(1, of: 2), [-400, 400])
  func `after a sleep of a length that is not known well, the rooms go on within a second`(
    seed: UInt64, milliseconds: Int64
  ) {
    let group = SimulatedGroup(Self.house(seed: seed))
    group.at(20) {
      $0.suspendSender(for: .seconds(15), misjudgedBy: .milliseconds(milliseconds))
    }
    group.run(until: 80)
    group.expectSounding(from: 3, to: 35)
    group.expectSounding(from: 37, to: 80)
    group.expectSpread(within: 100, from: 45, to: 80)
    expectBounded(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `a pause that a room has missed costs it no music afterwards`(seed: UInt64) {
    let group = SimulatedGroup(Self.house(seed: seed))
    group.at(20) { $0.partition(1) }
    group.at(22) { $0.command(.pause) }
    group.at(32) { $0.command(.resume) }
    group.at(33) { $0.repair(1) }
    group.run(until: 70)
    group.expectSounding([0, 2], from: 33, to: 70)
    let back = group.senderEvents.last { $0.event.change(of: RoomID(2)) == .connected }?.at.seconds
    #expect((back ?? 70) < 45)
    group.expectSounding([1], from: (back ?? 0) + 1, to: 70)
    group.expectSpread(within: 100, from: (back ?? 0) + 5, to: 70)
    expectBounded(group)
  }

  @Test(arguments: seeds(1, of: 2))
  func `a room that comes back in a pause that it has missed starts with the others`(seed: UInt64) {
    let group = SimulatedGroup(Self.house(seed: seed))
    group.at(20) { $0.partition(1) }
    group.at(22) { $0.command(.pause) }
    group.at(33) { $0.repair(1) }
    group.at(50) { $0.command(.resume) }
    group.run(until: 70)
    group.expectSounding(from: 51, to: 70)
    group.expectSpread(within: 100, from: 53, to: 70)
    expectBounded(group)
  }

  @Test(arguments: seeds(1, of: 2))
  func `a room that slept is in step again as soon as it knows the time`(seed: UInt64) {
    let group = SimulatedGroup(Self.house(seed: seed))
    group.at(30) { $0.suspend(1, for: .seconds(4)) }
    group.run(until: 60)
    group.expectSounding([0, 2], from: 3, to: 60)
    group.expectSounding([1], from: 36, to: 60)
    group.expectSpread(within: 100, from: 36, to: 60)
    expectBounded(group)
  }
}
