import Clock
import Simulation
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

@Suite struct SyncHistogramTests {
  @Test func `nothing recorded is nothing off`() {
    #expect(SyncHistogram().statistics.p99 == .zero)
  }

  /// Compared with the sorted list: never below, at most an eighth and a microsecond above, up to a
  /// second.
  @Test(arguments: 0..<20) func `percentiles are those of a sorted list`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var histogram = SyncHistogram()
    var list: [Int64] = []
    for _ in 0..<Int(random.uniform(1...3000)) {
      let size = Int64(random.exponential(mean: seed % 2 == 0 ? 2e4 : 2e8))
      let error = min(size, 999_000_000) * (random.next() % 2 == 0 ? 1 : -1)
      histogram.record(Nanoseconds(error))
      list.append(abs(error))
    }
    let latest = list.last ?? 0
    list.sort()
    for (percent, found) in [
      (50, histogram.statistics.median), (99, histogram.statistics.p99),
      (100, histogram.percentile(100)),
    ] {
      let exact = list[max(0, (list.count * percent + 99) / 100 - 1)]
      #expect(found.count >= exact)
      #expect(found.count <= exact + exact / 8 + 1000)
    }
    #expect(histogram.statistics.maximum.count == list.last)
    #expect(histogram.statistics.now.magnitude.count == latest)
  }

  @Test func `errors beyond the last bucket are counted there`() {
    var histogram = SyncHistogram()
    for error in [Int64(0), 999, 1000, 1 << 40, 1 << 62, -(1 << 62)] {
      histogram.record(Nanoseconds(error))
    }
    #expect(histogram.statistics.maximum.count == 1 << 62)
    #expect(histogram.statistics.p99 >= .seconds(1))
  }
}
