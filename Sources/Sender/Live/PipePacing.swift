package import Clock

/// Detects a program that writes into a pipe as fast as it is read, such as one that copies a file. There is no clock
/// in its data, so the reader sets the pace.
///
/// A program with a clock may also fill a pipe, with a long block or after the reader was held up. But it does not get
/// ahead of time. A program without a clock that is slower than the reader never fills the pipe, but it gets far ahead.
package struct PipePacing: Hashable, Sendable {
  /// Consecutive full reads that are needed.
  private static let fullReads = 3
  /// Audio that a program with a clock may have written ahead: more than the longest block. Seconds.
  private static let mostAhead = 1.0
  /// Audio that only a program without a clock has written ahead, whether it fills the pipe or not. Seconds.
  private static let farAhead = 3.0

  private let sampleRate: Double
  private var begun: LocalTime?
  private var frames: Int64 = 0
  private var fullCount = 0

  package init(sampleRate: Int) { self.sampleRate = Double(sampleRate) }

  /// - Parameters:
  ///   - frames: number of frames that were read at `now`.
  ///   - available: bytes that were in the pipe before the read; it holds `capacity`.
  /// - Returns: true if the source is to be paced from now on.
  package mutating func read(
    _ frames: Int, available: Int, of capacity: Int, at now: LocalTime
  ) -> Bool {
    let begun = begun ?? now
    self.begun = begun
    self.frames += Int64(frames)
    fullCount = available * 10 >= capacity * 9 ? fullCount + 1 : 0
    let ahead = Double(self.frames) / sampleRate - (now - begun).seconds
    return ahead >= (fullCount >= Self.fullReads ? Self.mostAhead : Self.farAhead)
  }
}

/// Detects a program that writes in blocks that take longer than the latency leaves.
package struct BurstWatch: Hashable, Sendable {
  /// Consecutive gaps that have to be too long: one may be a pause.
  private static let gapCount = 8
  /// Reads closer together belong to one block.
  private static let burstGap = Nanoseconds.milliseconds(2)

  private var last: LocalTime?
  private var longGaps = 0
  private var shortest = Nanoseconds.zero
  private var isTold = false

  package init() {}

  /// Returns the length of the blocks, once, if all are longer than `allowance`.
  package mutating func read(at now: LocalTime, allowance: Nanoseconds) -> Nanoseconds? {
    defer { last = now }
    guard let last, now - last >= Self.burstGap else { return nil }
    let gap = now - last
    guard gap > allowance else {
      longGaps = 0
      return nil
    }
    shortest = longGaps == 0 ? gap : min(shortest, gap)
    longGaps += 1
    guard longGaps >= Self.gapCount, !isTold else { return nil }
    isTold = true
    return shortest
  }
}
