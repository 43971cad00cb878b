/// Device frames rendered as silence because stream frames are missing, or that will be if these do not arrive.
struct RenderedGap {
  var device: Int64 = 0
  /// One past the last frame.
  var end: Int64 = 0
  /// Stream frame due at the first device frame; the others follow at a step near one.
  var stream: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  @_noLocks @_noAllocation
  init(device: Int64, end: Int64, stream: Int64) {
    self.device = device
    self.end = end
    self.stream = stream
  }

  /// True if `other` begins no later than this gap ends and misses the stream frames that follow.
  @_noLocks @_noAllocation
  fileprivate func isContinued(by other: RenderedGap) -> Bool {
    let difference = (other.stream - stream) - (other.device - device)
    return other.device <= end && difference.magnitude < 100
  }
}

/// The gaps among the frames that are written and not heard yet, in order. Each may still be filled: frames that
/// arrive after silence was written in their place can be in time to be heard. After a flush, this is the rule.
struct RenderedGaps {
  private static var capacity: Int { @_noLocks @_noAllocation get { 8 } }

  private var gaps = InlineArray<8, RenderedGap>(repeating: RenderedGap())
  private(set) var count = 0

  @_noLocks @_noAllocation
  init() {}

  subscript(index: Int) -> RenderedGap {
    @_noLocks @_noAllocation get { gaps[index] }
  }

  /// Adds a gap that begins after all others or continues the last one. If there are too many, the last one grows
  /// instead.
  @_noLocks @_noAllocation
  mutating func note(_ new: RenderedGap) {
    let last = count - 1
    if count > 0, gaps[last].isContinued(by: new) || count == Self.capacity {
      gaps[last].end = max(gaps[last].end, new.end)
    } else {
      gaps[count] = new
      count += 1
    }
  }

  /// Drops the gaps from device frame `frame` on, because those frames are rendered again.
  @_noLocks @_noAllocation
  mutating func rewind(to frame: Int64) {
    while count > 0, gaps[count - 1].device >= frame { count -= 1 }
    if count > 0 { gaps[count - 1].end = min(gaps[count - 1].end, frame) }
  }

  /// Drops the frames before device frame `frame`, which were heard. Returns true if a gap was among them.
  @_noLocks @_noAllocation
  mutating func hear(upTo frame: Int64) -> Bool {
    var wasHeard = false
    var kept = 0
    for i in 0..<count {
      var gap = gaps[i]
      let heard = max(0, frame - gap.device)
      if heard > 0 { wasHeard = true }
      gap.device += heard
      gap.stream += heard
      guard gap.device < gap.end else { continue }
      gaps[kept] = gap
      kept += 1
    }
    count = kept
    return wasHeard
  }

  @_noLocks @_noAllocation
  mutating func removeAll() { count = 0 }
}
