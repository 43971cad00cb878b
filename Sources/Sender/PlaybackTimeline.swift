import Clock

/// When which media time sounds, and what is at which media time. Media time runs on through seeks and skips:
/// they put something else at the times to come.
struct PlaybackTimeline {
  enum State: Equatable {
    /// What begins at this media time waits for the rooms.
    case starting(at: MediaTime)
    case playing(Anchor)
    /// Stands still at a cut, as the anchor says, until the first packets behind it are there.
    case holding(Anchor)
    /// The anchor stands still.
    case paused(Anchor)
  }

  /// An item, or the part of it from a seek on.
  struct Segment {
    let start: MediaTime
    let opened: OpenedItem
    var wasAnnounced = false
  }

  /// One holds, and up to four wait for their time: what every room can keep.
  private static let anchorLimit = 5

  private(set) var state = State.starting(at: .zero)
  private(set) var generation: UInt32 = 0
  private(set) var cuts: [(generation: UInt32, from: MediaTime, isRamped: Bool)] = []
  /// In order of media time.
  private(set) var segments: [Segment] = []
  /// The anchors that a room must know which comes now: the one that holds and the next.
  private(set) var anchors: [Anchor] = []
  /// Where the stream ends, once the last item is produced.
  var end: MediaTime?

  func playhead(at time: GroupTime) -> MediaTime {
    guard let holding = anchors.last(where: { $0.groupTime <= time }) else {
      return anchors.first?.mediaTime ?? startTime
    }
    return holding.mediaTime(at: time)
  }

  private var startTime: MediaTime {
    switch state {
    case .starting(let time): time
    case .playing(let anchor), .holding(let anchor), .paused(let anchor): anchor.mediaTime
    }
  }

  /// Where a cut made now takes effect, if it reaches everyone by `time`.
  func cutTime(by time: GroupTime) -> MediaTime {
    switch state {
    case .starting(let start): start
    case .holding(let anchor), .paused(let anchor): anchor.mediaTime
    case .playing(let anchor): max(anchor.mediaTime, anchor.mediaTime(at: time))
    }
  }

  /// Media time `start` sounds at `time`.
  mutating func play(from start: MediaTime, at time: GroupTime) -> Anchor {
    let anchor = Anchor(mediaTime: start, groupTime: time, rate: .playing)
    state = .playing(anchor)
    insert(anchor)
    return anchor
  }

  /// Stops at `time`, on whatever media time sounds then. Nil unless playing or about to.
  mutating func pause(at time: GroupTime) -> Anchor? {
    if case .holding(let anchor) = state {
      state = .paused(anchor)
      return anchor
    }
    guard case .playing(let playing) = state else { return nil }
    let time = max(time, playing.groupTime)
    let anchor = Anchor(mediaTime: playing.mediaTime(at: time), groupTime: time, rate: .paused)
    state = .paused(anchor)
    insert(anchor)
    return anchor
  }

  /// Stops where a cut is, lest what comes behind it sounds before everyone has it. Nil unless playing.
  mutating func hold(at cut: MediaTime) -> Anchor? {
    guard case .playing(let playing) = state, let time = playing.groupTime(of: cut) else {
      return nil
    }
    let anchor = Anchor(mediaTime: cut, groupTime: time, rate: .paused)
    state = .holding(anchor)
    insert(anchor)
    return anchor
  }

  /// Goes on as soon as the first packets are there. Nothing unless paused.
  mutating func resumeHolding() {
    if case .paused(let anchor) = state { state = .holding(anchor) }
  }

  /// Begins a generation: everything from `time` on is to be made anew.
  mutating func cut(from time: MediaTime, isRamped: Bool) -> UInt32 {
    generation += 1
    cuts.append((generation, time, isRamped))
    if cuts.count > 32 { cuts.removeFirst() }
    segments.removeAll { $0.start >= time }
    end = nil
    return generation
  }

  mutating func append(_ opened: OpenedItem, at time: MediaTime) {
    segments.append(Segment(start: time, opened: opened))
  }

  /// The segment that sounds at `time`.
  func segment(at time: MediaTime) -> Segment? {
    segments.last { $0.start <= time } ?? segments.first
  }

  /// Segments that have begun to sound since the last call, and forgets those long past.
  mutating func segmentsBegun(by time: MediaTime) -> [OpenedItem] {
    var begun: [OpenedItem] = []
    for index in segments.indices where segments[index].start <= time {
      if !segments[index].wasAnnounced { begun.append(segments[index].opened) }
      segments[index].wasAnnounced = true
    }
    while segments.count > 1, segments[1].start <= time { segments.removeFirst() }
    return begun
  }

  func nextSegmentStart(after time: MediaTime) -> MediaTime? {
    segments.first { !$0.wasAnnounced && $0.start > time }?.start
  }

  private mutating func insert(_ anchor: Anchor) {
    anchors.removeAll { $0.groupTime >= anchor.groupTime }
    anchors.append(anchor)
    if anchors.count > Self.anchorLimit { anchors.removeFirst() }
  }
}
