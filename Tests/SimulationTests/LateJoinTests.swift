import Simulation
import TestSupport
import Testing

@Suite struct LateJoinTests {
  @Test(arguments: seeds(2, of: 3))
  func `a room that joins late plays with the others at once`(seed: UInt64) throws {
    let group = SimulatedGroup(.house([.wired, .wired, .wifi], seed: seed))
    group.partition(1)
    group.partition(2)
    group.at(20) { $0.repair(1) }
    group.at(25) { $0.repair(2) }
    group.run(until: 60)
    let joined = try #require(group.microphone.records[1].firstSound).seconds
    let radio = try #require(group.microphone.records[2].firstSound).seconds
    // The sender tries again every five seconds, because nobody announces the room here.
    #expect(joined > 20 && joined < 32)
    #expect(radio > 25 && radio < 40)
    group.expectSpread(within: 100, from: joined, to: joined + 5, rooms: [0, 1])
    group.expectSpread(within: 100, from: 45, to: 60)
    group.expectSounding([0], from: 3, to: 60)
    expectFlawless(group)
  }
}
