import Sender
import Simulation
import Testing
import WireProtocol

/// Tests of filling buffers over one slow access point, which keeps all packets in order.
@Suite struct FillingTests {
  @Test(arguments: [1, 2] as [UInt64])
  func `while the buffers of four rooms fill, none of them gets in the way of another`(
    seed: UInt64
  ) throws {
    let scenario = try #require(Scenario("filling", seed: seed, rooms: 4, hours: nil))
    let group = SimulatedGroup(scenario.configuration)
    group.run(until: 60)
    // Half of the capacity has come, and not all: the rooms were filling all the time.
    for room in 0..<4 {
      let held = try #require(group.status(of: room)).heldBytes
      #expect(held > 6 << 20, "room \(room) holds \(held) bytes")
    }
    group.expectSounding(from: 3, to: 60)
    group.expectSpread(within: 15, from: 10, to: 60)
    expectFlawless(group)
  }

  @Test func `a pause is heard in time while buffers fill`() throws {
    let scenario = try #require(Scenario("filling", seed: 3, rooms: 4, hours: nil))
    let group = SimulatedGroup(scenario.configuration)
    group.at(15) { $0.command(.pause) }
    group.at(20) { $0.command(.resume) }
    group.run(until: 30)
    for room in 0..<4 {
      #expect(group.microphone.soundingShare(of: room, from: 15.5, to: 19.5) < 0.01)
    }
    group.expectSounding(from: 21, to: 30)
    expectFlawless(group)
  }
}
