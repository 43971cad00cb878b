import Clock
import WireProtocol

/// Maps group time to media time by anchors, and media time to items by segments. Media time runs on through seeks and
/// skips, which put other audio at the times to come.
struct PlaybackTimeline {
  enum State: Equatable {
    /// Waits for the rooms, to begin at this media time.
    case starting(at: MediaTime)
    case playing(Anchor)
    /// Stands still, as the anchor says, until enough of the following audio has come.
    case holding(Anchor)
    /// Paused: the anchor stands still.
    case paused(Anchor)
  }

  /// An item, or the part of it from a seek on.
  struct Segment {
    let start: MediaTime
    var opened: OpenedItem
    /// True if the segment was cut to, in the middle of another, instead of following the one before it.
    var isChosen = false
    /// True if the item before it plays on with new metadata, such as a radio station's title.
    var continuesItem = false
    /// Identities of the items before it that could not be played.
    var passed: Set<Int> = []
    var wasAnnounced = false
    /// The description that the rooms get of it.
    var description = ItemDescription()
  }

  struct Cut: Hashable {
    let generation: UInt32
    let from: MediaTime
    let isRamped: Bool
    var isCrossed = false
  }

  /// Cuts that are remembered for packets under way and for rooms that come back. All but a few lie behind the
  /// playhead.
  private static let cutLimit = 32

  /// One frame at 8 kHz, the lowest rate.
  static let longestFrame = MediaDuration(frames: 1, at: 8_000)

  private(set) var state = State.starting(at: .zero)
  private(set) var generation: UInt32 = 0
  /// Sorted by generation and by media time. A cut is forgotten once a later one includes it.
  private(set) var cuts: [Cut] = []
  /// Sorted by media time.
  private(set) var segments: [Segment] = []
  /// The anchors that a room must know when it joins: the one in force and those to come.
  private(set) var anchors = Anchors()
  /// The media time at which the stream ends; nil until the last item is produced.
  var end: MediaTime?

  init() {}

  /// Takes over a timeline that another process has left.
  init(
    _ state: State, generation: UInt32, cuts: [Cut], segments: [Segment], anchors: [Anchor]
  ) {
    (self.state, self.generation, self.cuts, self.segments) = (state, generation, cuts, segments)
    for anchor in anchors { self.anchors.insert(anchor) }
  }

  /// Leaves out numbers of generations.
  mutating func skipGenerations(_ count: UInt32) { generation += count }

  /// True if time runs, according to the last decision.
  var isPlaying: Bool { if case .playing = state { true } else { false } }

  func playhead(at time: GroupTime) -> MediaTime { anchors.playhead(at: time) ?? nextStart }

  /// The media time at which playing goes on, if it stands still.
  var nextStart: MediaTime {
    switch state {
    case .starting(let time): time
    case .playing(let anchor), .holding(let anchor), .paused(let anchor): anchor.mediaTime
    }
  }

  /// Returns the media time at which a cut made now takes effect, if it reaches all rooms by `time`.
  func cutTime(by time: GroupTime) -> MediaTime {
    switch state {
    case .starting(let start): start
    case .holding(let anchor), .paused(let anchor): anchor.mediaTime
    case .playing(let anchor): max(anchor.mediaTime, anchor.mediaTime(at: time))
    }
  }

  /// Makes the audio at `time` sound next. Does nothing unless starting or paused. Returns the anchor to send, if there
  /// is one; it is in force from `groupTime` on.
  mutating func cue(to time: MediaTime, at groupTime: GroupTime) -> Anchor? {
    switch state {
    case .starting:
      state = .starting(at: time)
      return nil
    case .paused(let paused):
      let anchor = Anchor(
        mediaTime: time, groupTime: max(groupTime, paused.groupTime), rate: .paused)
      state = .paused(anchor)
      anchors.insert(anchor)
      return anchor
    case .playing, .holding: return nil
    }
  }

  /// Schedules the media time `start` to sound at `time`.
  mutating func play(from start: MediaTime, at time: GroupTime) -> Anchor {
    let anchor = Anchor(mediaTime: start, groupTime: time, rate: .playing)
    state = .playing(anchor)
    anchors.insert(anchor)
    return anchor
  }

  /// Stops at `time`, at whatever media time sounds then, and cancels a start that lies behind it. Returns nil unless
  /// playing or about to.
  mutating func pause(at time: GroupTime) -> Anchor? {
    if case .holding(let anchor) = state {
      state = .paused(anchor)
      return anchor
    }
    guard case .playing = state else { return nil }
    let anchor = Anchor(mediaTime: playhead(at: time), groupTime: time, rate: .paused)
    state = .paused(anchor)
    anchors.insert(anchor)
    return anchor
  }

  /// Stops at `place`, lest the audio behind it sounds before all rooms have it. Returns nil unless playing.
  mutating func hold(at place: MediaTime) -> Anchor? {
    guard case .playing(let playing) = state, let time = playing.groupTime(of: place) else {
      return nil
    }
    let anchor = Anchor(mediaTime: place, groupTime: time, rate: .paused)
    state = .holding(anchor)
    anchors.insert(anchor)
    return anchor
  }

  /// Continues as soon as enough audio has come. Does nothing unless paused.
  mutating func resumeHolding() {
    if case .paused(let anchor) = state { state = .holding(anchor) }
  }

  /// Begins a generation: everything from `time` on is to be produced anew. Returns its number.
  mutating func cut(from time: MediaTime, isRamped: Bool, isCrossed: Bool = false) -> UInt32 {
    generation += 1
    cuts.removeAll { $0.from >= time }
    cuts.append(
      Cut(generation: generation, from: time, isRamped: isRamped, isCrossed: isCrossed))
    if cuts.count > Self.cutLimit { cuts.removeFirst() }
    segments.removeAll { $0.start >= time }
    end = nil
    return generation
  }

  /// Returns the media time at which other packets replace those of `generation`; nil if there is none.
  func limit(of generation: UInt32) -> MediaTime? {
    cuts.first { $0.generation > generation }?.from
  }

  /// Returns the generation of the audio at `time`.
  func generation(at time: MediaTime) -> UInt32 { cuts.last { $0.from <= time }?.generation ?? 0 }

  mutating func append(_ segment: Segment) { segments.append(segment) }

  /// Removes the segments from `time` on, of which nothing was produced, and an end that is no longer valid.
  mutating func removeSegments(from time: MediaTime) {
    segments.removeAll { $0.start >= time }
    end = nil
  }

  /// Removes the last segment, of which nothing was produced.
  mutating func removeLastSegment() { _ = segments.popLast() }

  /// Returns the segment that sounds at `time`. A cut may lie between two frames; the segment behind it begins with the
  /// next whole frame of its rate, and counts as sounding from the cut on if no other is left.
  func segment(at time: MediaTime) -> Segment? {
    segmentIndex(at: time).map { segments[$0] } ?? segments.first
  }

  func segmentIndex(at time: MediaTime) -> Int? {
    segments.lastIndex { $0.start < time + Self.longestFrame }
  }

  /// Returns the segments that have begun to sound since the last call, and forgets those that are past.
  mutating func segmentsBegun(by time: MediaTime) -> [Segment] {
    var begun: [Segment] = []
    for index in segments.indices where segments[index].start <= time {
      if !segments[index].wasAnnounced { begun.append(segments[index]) }
      segments[index].wasAnnounced = true
    }
    while segments.count > 1, segments[1].start <= time { segments.removeFirst() }
    return begun
  }

  /// The start of the first segment that has not sounded yet.
  var nextSegmentStart: MediaTime? { segments.first { !$0.wasAnnounced }?.start }

  /// Returns the anchor in force at `time`, and those to come.
  func anchors(from time: GroupTime) -> [Anchor] {
    let holding = anchors.lastIndex { $0.groupTime <= time } ?? 0
    return Array(anchors[min(holding, anchors.count)...])
  }

  /// Returns when the playhead reaches `time` according to the anchors; nil if it does not.
  func groupTime(of time: MediaTime) -> GroupTime? {
    groupTime(passing: time) ?? anchors.first { $0.mediaTime == time }?.groupTime
  }

  /// Returns when `time` begins to sound; nil if it does not, or if the playhead stands still there.
  func groupTime(passing time: MediaTime) -> GroupTime? {
    for (index, anchor) in anchors.enumerated() {
      guard let reached = anchor.groupTime(of: time), reached >= anchor.groupTime else { continue }
      if index + 1 == anchors.count || reached < anchors[index + 1].groupTime { return reached }
    }
    return nil
  }

  /// Returns when rooms can keep `count` more anchors; nil if they can at `time`.
  func timeOfRoom(for count: Int, at time: GroupTime) -> GroupTime? {
    let waiting = anchors.filter { $0.groupTime > time }
    let surplus = waiting.count + count - (Anchors.limit - 1)
    return surplus > 0 ? waiting[min(surplus, waiting.count) - 1].groupTime : nil
  }

  /// True if media time runs at `time`.
  func isSounding(at time: GroupTime) -> Bool { anchors.isPlaying(at: time) }

  /// Everything has sounded: stands still at `time` until there is more. Returns the anchor to send, if there is one.
  mutating func stop(at time: MediaTime) -> Anchor? {
    guard let groupTime = groupTime(of: time) else {
      state = .starting(at: time)
      return nil
    }
    let anchor = Anchor(mediaTime: time, groupTime: groupTime, rate: .paused)
    anchors.insert(anchor)
    state = .starting(at: time)
    return anchor
  }
}
