import Clock
import Simulation
import TestSupport
import Testing
import WireProtocol

@Suite struct ClockTests {
  @Test(arguments: seeds(2, of: 3))
  func `a room whose clock jumps is back within seconds`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(30) { $0.stepClock(of: 1, by: .milliseconds(20)) }
    group.run(until: 60)
    group.expectSpread(within: 50, from: 36, to: 60)
    group.expectSounding([0], from: 2, to: 60)
    group.expectSounding([1], from: 36, to: 60)
    expectBounded(group)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a small jump costs less than a tenth of a second`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(30) { $0.stepClock(of: 1, by: .microseconds(500)) }
    group.run(until: 60)
    group.expectSpread(within: 50, from: 38, to: 60)
    group.expectSounding([0], from: 2, to: 60)
    expectBounded(group)
    #expect(group.microphone.breaks.count <= 1)
    #expect(group.microphone.breaks.allSatisfy { $0.silence < 800 })
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `all rooms follow when the sender's clock jumps`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(30) { $0.stepSenderClock(by: .milliseconds(30)) }
    group.run(until: 60)
    group.expectSpread(within: 50, from: 36, to: 60)
    group.expectSounding(from: 36, to: 60)
    expectBounded(group)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a machine that slept plays with the others again`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(30) { $0.suspend(1, for: .seconds(4)) }
    group.run(until: 60)
    group.expectSounding([0], from: 2, to: 60)
    group.expectSounding([1], from: 37, to: 60)
    group.expectSpread(within: 50, from: 40, to: 60)
    expectBounded(group)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `without answers the clock is held over`(seed: UInt64) {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.isExact = false
    house.rooms[1].capacity.duration = .seconds(200)
    let group = SimulatedGroup(house)
    group.at(100) { $0.partition(1) }
    group.run(until: 220)
    group.expectSounding(from: 2, to: 220)
    group.expectSpread(within: 100, from: 100, to: 220)
    expectFlawless(group)
  }
}
