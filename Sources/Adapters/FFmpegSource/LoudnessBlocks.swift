import Glibc

/// A histogram of a sound's loudness: its blocks of 400 ms, ten of which begin in each second, counted in steps of
/// 0.1 LU. From these comes the loudness of one track, and of an album whose tracks are added up (ITU-R BS.1770-4,
/// EBU R 128).
package struct LoudnessBlocks: Hashable, Sendable {
  /// In LUFS; quieter blocks count as silence.
  private static let least = -70.0
  private static let binCount = 800
  /// Below the mean of all blocks by so much, in LU, a block does not count.
  private static let relativeGate = 10.0

  /// Counts of blocks, from `least` on.
  private var counts: [Int] = Array(repeating: 0, count: binCount)

  package init() {}

  /// - Parameter loudness: of one block, in LUFS.
  package mutating func add(_ loudness: Double) {
    guard loudness >= Self.least else { return }
    counts[min(Int((loudness - Self.least) * 10), Self.binCount - 1)] += 1
  }

  package mutating func add(_ other: LoudnessBlocks) {
    for bin in counts.indices { counts[bin] += other.counts[bin] }
  }

  /// In LUFS; nil if all of it is silence.
  package var loudness: Double? {
    guard let all = mean(from: 0) else { return nil }
    let gate = Int(((all - Self.relativeGate - Self.least) * 10).rounded(.up))
    return mean(from: max(0, gate))
  }

  /// Means are those of energies.
  private func mean(from first: Int) -> Double? {
    var (energy, count) = (0.0, 0)
    for bin in counts.indices.dropFirst(first) where counts[bin] > 0 {
      energy += Double(counts[bin]) * pow(10, Self.loudness(of: bin) / 10)
      count += counts[bin]
    }
    return count == 0 ? nil : 10 * log10(energy / Double(count))
  }

  private static func loudness(of bin: Int) -> Double { least + (Double(bin) + 0.5) / 10 }

  /// The counts that are not zero, as `bin:count`, separated by blanks.
  package var text: String {
    counts.enumerated().filter { $0.element > 0 }.map { "\($0.offset):\($0.element)" }
      .joined(separator: " ")
  }

  /// Nil unless it is such a text.
  package init?(text: String) {
    for pair in text.split(separator: " ") {
      let numbers = pair.split(separator: ":").map { Int($0) }
      guard numbers.count == 2, let bin = numbers[0], let count = numbers[1],
        counts.indices.contains(bin), (1...Self.countLimit).contains(count)
      else { return nil }
      counts[bin] = count
    }
  }

  /// Blocks of ten years.
  private static let countLimit = 1 << 32
}
