import Clock
import Simulation
import TestSupport
import Testing
import WireProtocol

@Suite struct DeviceTests {
  @Test(arguments: seeds(2, of: 3))
  func `a stall shorter than what is written is not heard`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    for index in 0..<10 {
      group.at(5 + Double(index) * 1.037) { $0.stall(1, for: .milliseconds(450)) }
    }
    group.run(until: 20)
    group.expectSounding(from: 1, to: 20)
    group.expectSpread(within: 50, from: 5, to: 20)
    #expect(group.underruns(of: 1) == 0)
    expectFlawless(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `after an underrun a room is aligned at once`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(20) { $0.stall(1, for: .milliseconds(700)) }
    group.run(until: 40)
    #expect(group.underruns(of: 1) == 1)
    group.expectSounding([0], from: 1, to: 40)
    group.expectSounding([1], from: 20.9, to: 40)
    // There is one jump and no drift.
    group.expectSpread(within: 100, from: 20.9, to: 40)
    #expect(group.microphone.breaks.count <= 1)
    expectBounded(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `a card that was pulled out is aligned when it is back`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(20) { $0.unplug(1) }
    group.at(26) { $0.plug(1) }
    group.run(until: 40)
    group.expectSounding([0], from: 1, to: 40)
    #expect(group.microphone.soundingShare(of: 1, from: 20.1, to: 26) == 0)
    group.expectSounding([1], from: 26.5, to: 40)
    group.expectSpread(within: 100, from: 26.5, to: 40)
    #expect(group.microphone.breaks.count == 1)
    expectBounded(group)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `no underrun is counted that did not happen`(seed: UInt64) throws {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.run(until: 5)
    for room in 0..<2 { #expect(try #require(group.status(of: room)).underruns == 0) }
  }
}
