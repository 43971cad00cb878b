import Audio

/// Cuts that were commanded and have not taken effect, in their order; at most four. More than that between two
/// turns of the output loop come from nobody's fingers.
struct PendingCuts {
  private static var capacity: Int { @_noLocks @_noAllocation get { 4 } }

  private var cuts = InlineArray<4, FrameCut?>(repeating: nil)
  private var count = 0

  @_noLocks @_noAllocation
  init() {}

  /// The oldest is answered where there is no room for it any more.
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
