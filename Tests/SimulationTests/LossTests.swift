import Clock
import Sender
import Simulation
import TestSupport
import Testing
import WireProtocol

@Suite struct LossTests {
  @Test(arguments: [1, 2] as [UInt64])
  func `an outage of half a minute is not heard`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired, .wifi], seed: seed))
    group.at(30) { $0.partition(1) }
    group.at(60) { $0.repair(1) }
    group.run(until: 90)
    group.expectSounding(from: 3, to: 90)
    group.expectSpread(within: 60, from: 20, to: 90)
    expectFlawless(group)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `after an outage longer than the buffer a room comes back aligned`(seed: UInt64) {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.rooms[1].capacity = Capacity(bytes: 1 << 20, duration: .seconds(10))
    let group = SimulatedGroup(house)
    group.at(20) { $0.partition(1) }
    group.at(50) { $0.repair(1) }
    group.run(until: 80)
    group.expectSounding([0], from: 2, to: 80)
    #expect(group.microphone.soundingShare(of: 1, from: 40, to: 50) < 0.01)
    group.expectSounding([1], from: 62, to: 80)
    group.expectSpread(within: 50, from: 62, to: 80)
    expectBounded(group)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `rooms play on together when the sender is gone`(seed: UInt64) {
    var house = SimulatedGroup.Configuration.house([.wired, .wired, .wired], seed: seed)
    for index in house.rooms.indices {
      house.rooms[index].capacity = Capacity(bytes: 32 << 20, duration: .seconds(100))
    }
    let group = SimulatedGroup(house)
    group.at(40) { $0.killSender() }
    group.run(until: 100)
    group.expectSounding(from: 2, to: 100)
    group.expectSpread(within: 100, from: 40, to: 100)
    expectFlawless(group)
  }

  /// The sender gets a limit that leaves a megabyte more than the room can hold, which is two and a
  /// half seconds.
  private static func overrun(seed: UInt64) -> SimulatedGroup {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.rooms[1].capacity = Capacity(bytes: 400_000, duration: .seconds(40))
    let group = SimulatedGroup(house)
    group.at(10) { $0.overstateCredit(of: 1, by: 1_000_000) }
    return group
  }

  @Test(arguments: seeds(2, of: 3))
  func `a limit beyond what a room can hold does no harm`(seed: UInt64) {
    let group = Self.overrun(seed: seed)
    group.run(until: 30)
    #expect(!group.senderEvents.contains { $0.event.change(of: RoomID(2)) == .flushed })
    group.expectSounding(from: 3, to: 30)
    group.expectSpread(within: 50, from: 15, to: 30)
    expectFlawless(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `a receiver that starts again is back within a second`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired, .wired], seed: seed))
    group.at(20) { $0.killReceiver(1) }
    group.at(22) { $0.restartReceiver(1) }
    group.run(until: 40)
    group.expectSounding([0, 2], from: 2, to: 40)
    group.expectSounding([1], from: 23, to: 40)
    group.expectSpread(within: 15, from: 20, to: 40, rooms: [0, 2])
    group.expectSpread(within: 100, from: 23, to: 40)
    expectBounded(group)
    #expect(group.microphone.breaks.allSatisfy { $0.room == 1 && $0.kind == .hole })
  }
}
