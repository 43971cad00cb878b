import Simulation
import Testing

@Suite struct SyncTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `wired rooms stay within fifteen microseconds`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired, .wired], seed: seed))
    group.run(until: 40)
    let spread = group.microphone.spread(from: 20, to: 40)
    print(seed, "spread", spread, "first", group.microphone.records.map { $0.firstSound?.seconds ?? -1 })
    for r in 0..<3 { print(group.microphone.syncError(of: r, from: 20, to: 40), group.events(of: r).map { "\($0.at.seconds) \($0.event)" }) }
    print(group.microphone.breaks.prefix(5), group.microphone.ghosts.prefix(3), group.violations, group.eventCount)
    print(group.senderEvents)
    #expect(spread.p99 <= 15)
    #expect(spread.count > 900)
  }
}
