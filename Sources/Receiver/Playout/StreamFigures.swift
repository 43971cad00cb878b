import Clock

/// What a room counts as long as a stream lasts.
struct StreamFigures {
  private(set) var histogram = SyncHistogram()
  private(set) var late: UInt32 = 0
  /// Never decoded, because their time had passed, though they had come before it.
  private(set) var lost: UInt32 = 0
  private(set) var corrupt: UInt32 = 0
  private var lateReported: UInt32 = 0
  private var latestLateness = Nanoseconds.zero

  mutating func played(_ report: RenderReport) {
    if case .playing = report.activity { histogram.record(report.syncError) }
  }

  mutating func late(by time: Nanoseconds) {
    late &+= 1
    latestLateness = time
  }

  mutating func lost(_ count: Int) { lost &+= UInt32(clamping: count) }

  /// A packet that cannot be used; returns how many there were.
  mutating func countCorrupt() -> UInt32 {
    corrupt &+= 1
    return corrupt
  }

  /// What is to be said of packets that have come too late since the last call.
  mutating func takeLate() -> Playout.Step? {
    guard late != lateReported else { return nil }
    lateReported = late
    return .late(by: latestLateness, total: late)
  }
}
