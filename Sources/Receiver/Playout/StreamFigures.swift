import Clock

/// The counters of one stream in a room.
struct StreamFigures {
  private(set) var histogram = SyncHistogram()
  private(set) var late: UInt32 = 0
  /// Packets that were never decoded: skipped because their time had passed although they had
  /// arrived before it, or never arrived in a live stream.
  private(set) var lost: UInt32 = 0
  private(set) var corrupt: UInt32 = 0
  /// Sum over all devices that the stream has played on.
  private(set) var underruns: UInt32 = 0
  private var lateReported: UInt32 = 0
  private var latestLateness = Nanoseconds.zero

  mutating func played(_ report: RenderReport) {
    if case .playing = report.activity { histogram.record(report.syncError) }
  }

  mutating func underran(_ count: UInt32) { underruns &+= count }

  mutating func late(by time: Nanoseconds) {
    late &+= 1
    latestLateness = time
  }

  mutating func lost(_ count: Int) { lost &+= UInt32(clamping: count) }

  /// Counts an unusable packet and returns the new total.
  mutating func countCorrupt() -> UInt32 {
    corrupt &+= 1
    return corrupt
  }

  /// Returns the step that reports packets late since the last call, or nil if there were none.
  mutating func takeLate() -> Playout.Step? {
    guard late != lateReported else { return nil }
    lateReported = late
    return .late(by: latestLateness, total: late)
  }
}
