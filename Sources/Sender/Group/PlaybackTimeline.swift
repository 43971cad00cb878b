import Clock
import WireProtocol

/// When which media time sounds, and what is at which media time. Media time runs on through seeks and skips:
/// they put something else at the times to come.
struct PlaybackTimeline {
  enum State: Equatable {
    /// What begins at this media time waits for the rooms.
    case starting(at: MediaTime)
    case playing(Anchor)
    /// Stands still, as the anchor says, until enough is there of what comes next.
    case holding(Anchor)
    /// The anchor stands still.
    case paused(Anchor)
  }

  /// An item, or the part of it from a seek on.
  struct Segment {
    let start: MediaTime
    let opened: OpenedItem
    /// Whether it was cut to, in the middle of something else, rather than following what lies before it.
    var isChosen = false
    /// The item before it plays on: only what it says of itself is new, as a radio station's title.
    var continuesItem = false
    /// Items that could not be played between it and what lies before it.
    var passed: Set<Int> = []
    var wasAnnounced = false
    /// What the rooms are told of it.
    var description = ItemDescription()
  }

  struct Cut: Hashable {
    let generation: UInt32
    let from: MediaTime
    let isRamped: Bool
  }

  /// One holds, and up to four wait for their time: what every room can keep.
  private static let anchorLimit = 5

  /// At 8 kHz, the lowest rate.
  static let longestFrame = MediaDuration(frames: 1, at: 8_000)

  private(set) var state = State.starting(at: .zero)
  private(set) var generation: UInt32 = 0
  /// In order of generation and of media time: those that a later one makes needless are forgotten.
  private(set) var cuts: [Cut] = []
  /// In order of media time.
  private(set) var segments: [Segment] = []
  /// The anchors that a room must know which comes now: the one that holds and the next.
  private(set) var anchors: [Anchor] = []
  /// Where the stream ends, once the last item is produced.
  var end: MediaTime?

  /// Where playing goes on, if it stands still.
  var nextStart: MediaTime { startTime }

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

  /// What is at `time` is to sound next. Nothing unless time stands still; the anchor, if there is one to tell, holds
  /// from `groupTime` on.
  mutating func cue(to time: MediaTime, at groupTime: GroupTime) -> Anchor? {
    switch state {
    case .starting:
      state = .starting(at: time)
      return nil
    case .paused(let paused):
      let anchor = Anchor(
        mediaTime: time, groupTime: max(groupTime, paused.groupTime), rate: .paused)
      state = .paused(anchor)
      insert(anchor)
      return anchor
    case .playing, .holding: return nil
    }
  }

  /// Media time `start` sounds at `time`.
  mutating func play(from start: MediaTime, at time: GroupTime) -> Anchor {
    let anchor = Anchor(mediaTime: start, groupTime: time, rate: .playing)
    state = .playing(anchor)
    insert(anchor)
    return anchor
  }

  /// Stops at `time`, on whatever media time sounds then; a start that lies behind it does not come. Nil unless playing or
  /// about to.
  mutating func pause(at time: GroupTime) -> Anchor? {
    if case .holding(let anchor) = state {
      state = .paused(anchor)
      return anchor
    }
    guard case .playing = state else { return nil }
    let anchor = Anchor(mediaTime: playhead(at: time), groupTime: time, rate: .paused)
    state = .paused(anchor)
    insert(anchor)
    return anchor
  }

  /// Stops at `place`, lest what comes next sounds before everyone has it. Nil unless playing.
  mutating func hold(at place: MediaTime) -> Anchor? {
    guard case .playing(let playing) = state, let time = playing.groupTime(of: place) else {
      return nil
    }
    let anchor = Anchor(mediaTime: place, groupTime: time, rate: .paused)
    state = .holding(anchor)
    insert(anchor)
    return anchor
  }

  /// Goes on as soon as enough is there. Nothing unless paused.
  mutating func resumeHolding() {
    if case .paused(let anchor) = state { state = .holding(anchor) }
  }

  /// Begins a generation: everything from `time` on is to be made anew.
  mutating func cut(from time: MediaTime, isRamped: Bool) -> UInt32 {
    generation += 1
    cuts.removeAll { $0.from >= time }
    cuts.append(Cut(generation: generation, from: time, isRamped: isRamped))
    if cuts.count > 32 { cuts.removeFirst() }
    segments.removeAll { $0.start >= time }
    end = nil
    return generation
  }

  /// Where the packets of `generation` had to make room for others; nil if nowhere.
  func limit(of generation: UInt32) -> MediaTime? {
    cuts.first { $0.generation > generation }?.from
  }

  /// The generation of what is at `time`.
  func generation(at time: MediaTime) -> UInt32 { cuts.last { $0.from <= time }?.generation ?? 0 }

  mutating func append(_ segment: Segment) { segments.append(segment) }

  /// Takes back segments of which nothing was produced, and an end that is none any more.
  mutating func removeSegments(from time: MediaTime) {
    segments.removeAll { $0.start >= time }
    end = nil
  }

  /// Takes the last segment back, of which nothing was produced.
  mutating func removeLastSegment() { _ = segments.popLast() }

  /// The segment that sounds at `time`. A cut lies anywhere, and what comes behind it begins with the next whole frame
  /// of its rate: where nothing else is left, that is what sounds.
  func segment(at time: MediaTime) -> Segment? {
    segmentIndex(at: time).map { segments[$0] } ?? segments.first
  }

  func segmentIndex(at time: MediaTime) -> Int? {
    segments.lastIndex { $0.start < time + Self.longestFrame }
  }

  /// Segments that have begun to sound since the last call, and forgets those long past.
  mutating func segmentsBegun(by time: MediaTime) -> [Segment] {
    var begun: [Segment] = []
    for index in segments.indices where segments[index].start <= time {
      if !segments[index].wasAnnounced { begun.append(segments[index]) }
      segments[index].wasAnnounced = true
    }
    while segments.count > 1, segments[1].start <= time { segments.removeFirst() }
    return begun
  }

  /// Where the next segment begins that has not sounded yet.
  var nextSegmentStart: MediaTime? { segments.first { !$0.wasAnnounced }?.start }

  /// The anchor that holds at `time`, and those that will.
  func anchors(from time: GroupTime) -> [Anchor] {
    let holding = anchors.lastIndex { $0.groupTime <= time } ?? 0
    return Array(anchors[min(holding, anchors.count)...])
  }

  /// When the playhead comes to `time`, by the anchors that are set; nil if it does not.
  func groupTime(of time: MediaTime) -> GroupTime? {
    groupTime(passing: time) ?? anchors.first { $0.mediaTime == time }?.groupTime
  }

  /// When `time` begins to sound; nil if it does not, or if the playhead stands still there.
  func groupTime(passing time: MediaTime) -> GroupTime? {
    for (index, anchor) in anchors.enumerated() {
      guard let reached = anchor.groupTime(of: time), reached >= anchor.groupTime else { continue }
      if index + 1 == anchors.count || reached < anchors[index + 1].groupTime { return reached }
    }
    return nil
  }

  /// When rooms can keep `count` more anchors, if they cannot at `time`.
  func timeOfRoom(for count: Int, at time: GroupTime) -> GroupTime? {
    let waiting = anchors.filter { $0.groupTime > time }
    let surplus = waiting.count + count - (Self.anchorLimit - 1)
    return surplus > 0 ? waiting[min(surplus, waiting.count) - 1].groupTime : nil
  }

  /// Whether media time runs.
  func isSounding(at time: GroupTime) -> Bool {
    anchors.last { $0.groupTime <= time }?.rate == .playing
  }

  /// Everything has sounded: stands still at `time` until there is more.
  mutating func stop(at time: MediaTime) -> Anchor? {
    guard let groupTime = groupTime(of: time) else {
      state = .starting(at: time)
      return nil
    }
    let anchor = Anchor(mediaTime: time, groupTime: groupTime, rate: .paused)
    insert(anchor)
    state = .starting(at: time)
    return anchor
  }

  private mutating func insert(_ anchor: Anchor) {
    anchors.removeAll { $0.groupTime >= anchor.groupTime }
    anchors.append(anchor)
    if anchors.count > Self.anchorLimit { anchors.removeFirst() }
  }
}
