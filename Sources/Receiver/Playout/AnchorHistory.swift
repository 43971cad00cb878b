import Clock

/// The anchors that matter: the one that holds and those that are to come, in order of group time.
/// The session keeps them to know what sounds; the renderer has its own.
struct AnchorHistory {
  /// One holds, and four wait for their time, as docs/protocol/flush.md asks for.
  static let limit = 5
  private var anchors: [Anchor] = []

  var all: [Anchor] { anchors }
  var isEmpty: Bool { anchors.isEmpty }

  /// An anchor replaces those that would begin at or after it.
  mutating func insert(_ anchor: Anchor) {
    anchors.removeAll { $0.groupTime >= anchor.groupTime }
    anchors.append(anchor)
    if anchors.count > Self.limit { anchors.removeFirst() }
  }

  mutating func removeAll() { anchors.removeAll() }

  /// The anchor that holds at `time`, or the first that will.
  func anchor(at time: GroupTime) -> Anchor? {
    anchors.last { $0.groupTime <= time } ?? anchors.first
  }

  /// What sounds at `time`; before the first anchor, what it will begin with.
  func playhead(at time: GroupTime) -> MediaTime? {
    anchor(at: time).map { $0.groupTime > time ? $0.mediaTime : $0.mediaTime(at: time) }
  }

  func isPlaying(at time: GroupTime) -> Bool {
    anchors.last { $0.groupTime <= time }?.rate == .playing
  }
}
