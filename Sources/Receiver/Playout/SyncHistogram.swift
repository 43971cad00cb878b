package import Clock
package import WireProtocol

/// Distribution of this room's distance from the schedule, as counts of magnitudes in buckets that grow by an
/// eighth. Percentiles are at most an eighth too high from 1 µs to 1 s, in constant memory however long the
/// session lasts.
package struct SyncHistogram {
  /// Buckets per doubling.
  private static let steps = 8
  private static let doublings = 20
  private var counts = [UInt64](repeating: 0, count: Self.steps * Self.doublings + 1)
  private var total: UInt64 = 0
  private var maximum = Nanoseconds.zero
  private var latest = Nanoseconds.zero

  package init() {}

  package mutating func record(_ error: Nanoseconds) {
    latest = error
    maximum = max(maximum, error.magnitude)
    counts[Self.bucket(of: error.magnitude)] += 1
    total += 1
  }

  package var statistics: SyncErrorStatistics {
    SyncErrorStatistics(
      now: latest, median: percentile(50), p99: percentile(99), maximum: maximum)
  }

  /// Returns the upper edge of the bucket that holds the percentile `percent`; at most the maximum.
  func percentile(_ percent: UInt64) -> Nanoseconds {
    guard total > 0 else { return .zero }
    let rank = (total * percent + 99) / 100
    var seen: UInt64 = 0
    for (index, count) in counts.enumerated() {
      seen += count
      if seen >= rank { return min(Self.upperEdge(of: index), maximum) }
    }
    return maximum
  }

  /// Bucket 0 is below 1 µs; then each doubling has eight linear steps; the last bucket is open.
  private static func bucket(of magnitude: Nanoseconds) -> Int {
    let microseconds = magnitude.count / 1000
    guard microseconds > 0 else { return 0 }
    let doubling = 63 - microseconds.leadingZeroBitCount
    guard doubling < doublings else { return steps * doublings }
    let base = Int64(1000) << Int64(doubling)
    return 1 + doubling * steps + Int((magnitude.count - base) * Int64(steps) / base)
  }

  private static func upperEdge(of index: Int) -> Nanoseconds {
    guard index > 0 else { return Nanoseconds(1000) }
    let (doubling, step) = (index - 1).quotientAndRemainder(dividingBy: steps)
    let base = Int64(1000) << Int64(doubling)
    return Nanoseconds(base + base * Int64(step + 1) / Int64(steps))
  }
}
