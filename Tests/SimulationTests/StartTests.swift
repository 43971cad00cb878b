import Clock
import Sender
import Simulation
import TestSupport
import Testing

@Suite struct StartTests {
  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `wired rooms begin together within half a second`(seed: UInt64) throws {
    let group = SimulatedGroup(.house([.wired, .wired, .wired, .wired], seed: seed))
    group.run(until: 3)
    let first = try group.microphone.records.map { try #require($0.firstSound).seconds }
    #expect((first.max() ?? 9) < 0.5)
    // The first frame that a card plays may lie anywhere within a frame of 125 µs.
    #expect((first.max() ?? 9) - (first.min() ?? 0) < 250e-6)
    group.expectSpread(within: 100, from: first.max() ?? 0, to: 3)
    expectFlawless(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `rooms on the radio begin together`(seed: UInt64) throws {
    let group = SimulatedGroup(.house([.wired, .wifi, .wifi], seed: seed))
    group.run(until: 6)
    let first = try group.microphone.records.map { try #require($0.firstSound).seconds }
    #expect((first.max() ?? 9) < 2.5)
    group.expectSpread(within: 1000, from: first.max() ?? 0, to: 6)
    expectFlawless(group)
  }

  @Test func `a room that is away does not keep the others waiting`() throws {
    let group = SimulatedGroup(.house([.wired, .wired], seed: 6))
    group.partition(1)
    group.run(until: 5)
    let first = try #require(group.microphone.records[0].firstSound)
    #expect(first.seconds < 2.5)
    #expect(group.microphone.records[1].firstSound == nil)
  }

  /// Checks each room from its first audible frame, not only once it has settled.
  @Test(arguments: seeds(2, of: 3))
  func `wired rooms resume, seek and come back together`(seed: UInt64) {
    let group = SimulatedGroup(
      .house([.wired, .wired, .wired], seed: seed, cards: [.fine, .edge]))
    group.at(10) { $0.command(.pause) }
    group.at(14) { $0.command(.resume) }
    group.at(20) { $0.command(.seek(to: .seconds(300))) }
    group.at(26) { $0.killReceiver(2) }
    group.at(28) { $0.restartReceiver(2) }
    group.run(until: 40)
    for (start, end) in [(14.0, 20.0), (20, 26), (28, 40)] {
      let spread = group.microphone.spread(from: start, to: end)
      #expect(spread.count > 100 && spread.maximum < 100, "from \(start) s: \(spread)")
    }
    group.expectSounding(from: 33, to: 40)
  }
}
