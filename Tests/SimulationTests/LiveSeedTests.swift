import Clock
import Simulation
import TestSupport
import Testing
import WireProtocol

/// A live group on paths made from a seed: loss, bursts, jitter, other traffic, reordering and duplication.
enum LiveSeed {
  static func path(_ random: inout SplitMix64) -> PathQuality {
    var link = LinkQuality()
    link.delay = .microseconds(Int64(random.uniform(50...2_000)))
    link.noise = (1.2, random.uniform(1e-6...0.6e-3))
    link.spikes = [(random.uniform(0...0.03), random.uniform(1e-3...8e-3))]
    link.loss = random.chance(0.5) ? random.uniform(0...0.05) : 0
    link.lossBurst = random.chance(0.5) ? random.uniform(1...6) : 1
    link.duplication = random.chance(0.3) ? random.uniform(0...0.1) : 0
    link.reordering = random.chance(0.3) ? random.uniform(0...0.05) : 0
    link.keepsOrder = random.chance(0.5)
    link.countsDatagrams = random.chance(0.5)
    link.rate = random.uniform(0.5e6...12e6)
    var path = PathQuality(up: link, down: link)
    if random.chance(0.3) {
      path.down.traffic = .init(bursts: (20, 8), spans: (3, 6), work: 3e-3)
      path.down.traffic?.limit = 0.04
    }
    return path
  }

  /// Checks the promises for every seed: rooms play without a pause and in sync, nothing is heard that must not be, and
  /// no more is sent than is allowed.
  static func expectPromises(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 99)
    let paths = [path(&random), path(&random)]
    let group = LiveStreamTests.group(
      paths, latency: .milliseconds(Int64(random.uniform(100...200))), seed: seed, isExact: false)
    let seconds = 12.0
    group.run(until: seconds)
    expectBounded(group)
    for room in paths.indices {
      let share = group.microphone.soundingShare(of: room, from: 5, to: seconds)
      #expect(share > 0.99, "seed \(seed): room \(room) sounded \(share) of the time")
      let reports = group.liveReports(of: room).dropFirst(8)
      let received = reports.reduce(0) { $0 + $1.received }
      let concealed = reports.reduce(0) { $0 + $1.concealed }
      #expect(received > 100, "seed \(seed)")
      #expect(concealed * 20 <= received, "seed \(seed): \(concealed) of \(received) concealed")
    }
    #expect(Double(group.audioCount) < 2 * (1.5 * 200 * seconds + 64), "seed \(seed)")
    let spread = group.microphone.spread(from: 8, to: seconds)
    #expect(spread.median < 2_000, "seed \(seed): \(spread)")
  }
}

@Suite struct LiveSeedTests {
  @Test(arguments: seeds(6, of: 30)) func `a live group keeps its promises on any path`(
    seed: UInt64
  ) {
    LiveSeed.expectPromises(seed: seed)
  }

  @Test func `one seed is one course of events`() {
    func digest(_ seed: UInt64) -> Digest {
      var random = SplitMix64(seed: seed, part: 99)
      let group = LiveStreamTests.group(
        [LiveSeed.path(&random)], latency: .milliseconds(120), seed: seed, isExact: false)
      group.run(until: 8)
      return group.digest
    }
    #expect(digest(3).value == digest(3).value)
    #expect(digest(3).value != digest(4).value)
  }
}

@Suite struct LiveLongTests {
  @Test func `a thousand live groups keep their promises`() {
    for seed in 1_000..<2_000 as Range<UInt64> { LiveSeed.expectPromises(seed: seed) }
  }
}
