import Clock

/// The anchors that matter: the one in force and the later ones, in order of group time.
/// The session keeps them to know what sounds; the renderer has its own.
struct AnchorHistory {
  /// One anchor in force and four later ones, as docs/protocol/flush.md demands.
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

  /// Returns the anchor in force at `time`, or the first one if none is yet.
  func anchor(at time: GroupTime) -> Anchor? {
    anchors.last { $0.groupTime <= time } ?? anchors.first
  }

  /// Returns the media time that sounds at `time`; before the first anchor, the media time at which
  /// it starts.
  func playhead(at time: GroupTime) -> MediaTime? {
    anchor(at: time).map { $0.groupTime > time ? $0.mediaTime : $0.mediaTime(at: time) }
  }

  func isPlaying(at time: GroupTime) -> Bool {
    anchors.last { $0.groupTime <= time }?.rate == .playing
  }
}
