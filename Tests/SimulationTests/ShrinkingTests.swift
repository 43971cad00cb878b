import Disturbances
import Sender
import Simulation
import Testing

@Suite struct ShrinkingTests {
  @Test(arguments: [[], [0], [99], [7, 8], [3, 50, 51, 98]])
  func `of a hundred items those are left that fail together`(culprits: [Int]) {
    var trials = 0
    let left = Shrinking.fewest(of: Array(0..<100)) { items in
      trials += 1
      return culprits.allSatisfy(items.contains)
    }
    #expect(left == culprits)
    #expect(trials <= 100)
  }

  @Test func `what matters only beside others goes with them`() {
    // Each pair needs its other half, so that single ones can be left out only one after the other.
    let left = Shrinking.fewest(of: Array(0..<8)) { items in
      items.contains(0) && (!items.contains(6) || items.contains(7))
    }
    #expect(left == [0])
  }

  @Test func `a scenario is left with the one fault that breaks it`() throws {
    var scenario = try #require(Scenario("wired", seed: 3, rooms: 2, hours: 0.008))
    scenario.disturbances = [
      .init(at: 6, kind: .command(.pause)), .init(at: 7, kind: .command(.resume)),
      .init(at: 9, kind: .stall(1, seconds: 0.05)), .init(at: 12, kind: .partition(1, seconds: 2)),
      .init(at: 28, kind: .clockStep(1, seconds: 0.02)),
    ]
    let shrunk = try #require(scenario.shrunk())
    #expect(
      shrunk.disturbances.map(\.description) == ["28 s: the clock of room 1 steps by 0.02 s"])
    scenario.disturbances.removeLast()
    #expect(scenario.shrunk() == nil)
  }
}
