import Foundation
import Simulation
import Testing

@Suite struct LongTests {
  /// Every fourth room uses radio. The test takes some minutes, so it prints its progress.
  @Test func `sixteen rooms play together for a day`() {
    let hours = 24
    let paths: [PathQuality] = (0..<16).map { $0.isMultiple(of: 4) ? .wifi : .wired }
    var house = SimulatedGroup.Configuration.house(paths, seed: 2, cards: [.fine, .edge])
    house.suitHours()
    let group = SimulatedGroup(house)
    for hour in 1...hours {
      group.run(until: Double(hour) * 3600)
      let line = "  \(hour) of \(hours) virtual hours\n"
      FileHandle.standardError.write(Data(line.utf8))
    }
    let end = Double(hours) * 3600
    let wired = group.microphone.records.indices.filter { !$0.isMultiple(of: 4) }
    group.expectSpread(within: 100, from: 60, to: end)
    group.expectSpread(within: 15, from: 60, to: end, rooms: wired)
    group.expectSounding(from: 5, to: end)
    expectFlawless(group)
  }

  @Test(arguments: LiveSourceTests.trials)
  func `for a day a source keeps its latency and has no hole`(trial: LiveSourceTrial) {
    LiveSourceTests.expectSteady(trial, for: 86_400)
  }
}
