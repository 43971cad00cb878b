import Audio

/// Commanded cuts that have not taken effect yet, in order; at most four, because no user makes more between
/// two turns of the output loop.
struct PendingCuts {
  private static var capacity: Int { @_noLocks @_noAllocation get { 4 } }

  private var cuts = InlineArray<4, FrameCut?>(repeating: nil)
  private var count = 0

  @_noLocks @_noAllocation
  init() {}

  /// Appends a cut. If there was no space, removes and returns the oldest one.
  @_noLocks @_noAllocation
  mutating func append(_ cut: FrameCut) -> FrameCut? {
    let oldest = count == Self.capacity ? removeFirst() : nil
    cuts[count] = cut
    count += 1
    return oldest
  }

  @_noLocks @_noAllocation
  mutating func removeFirst() -> FrameCut? {
    guard count > 0 else { return nil }
    let first = cuts[0]
    for i in 1..<count { cuts[i - 1] = cuts[i] }
    count -= 1
    return first
  }
}
