import Disturbances
import Simulation
import Testing

@Suite struct SwarmTests {
  @Test func `each drawn fault is over half a minute before the end`() throws {
    for seed in 1...300 as ClosedRange<UInt64> {
      let scenario = try #require(Scenario("swarm", seed: seed, rooms: 4, hours: nil))
      for fault in scenario.disturbances.dropLast() {
        #expect(fault.settled <= scenario.seconds, "seed \(seed): \(fault)")
      }
    }
  }
}
