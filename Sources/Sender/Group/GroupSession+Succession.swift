import Clock
import WireProtocol

/// Lets another process go on with a stream: says what it must know, and takes over from one that has ended. The rooms play
/// on meanwhile. See docs/protocol/coming-back.md.
extension GroupSession {
  // MARK: - For a successor

  /// Tells what a successor must know, if that has changed enough.
  mutating func keep(at now: LocalTime) {
    guard configuration.isKept else { return }
    let playhead = mediaTime(at: now)
    let mark = keptMark(at: now)
    keeper.hear(heldByRooms(beyond: playhead))
    guard keeper.isDue(mark, playhead: playhead) else { return }
    emit(.keep(mark == nil ? nil : record))
  }

  /// Returns what a record is told by that is not outdated; nil if there is nothing to take over.
  private func keptMark(at now: LocalTime) -> StreamKeeper.Mark? {
    // While a place was chosen and is not cut to, the rooms play on what somebody has left: the next process begins at
    // the choice, and not at their place.
    guard !isFinished, finishTime == nil, !isHalted, configuration.holdsAtCuts, live.item == nil,
      !hasChoice,
      let first = timeline.segments.first, let last = timeline.segments.last, !isStopped(at: now),
      let anchor = timeline.anchors.last, let state = timeline.state.kept
    else { return nil }
    return .init(
      state: state, anchor: anchor, generation: timeline.generation, clockLead: clock.lead,
      segments: timeline.segments.count, first: first.start, last: last.start, end: timeline.end,
      beginning: beginning)
  }

  private var beginning: StreamRecord.Beginning? {
    guard case .beginning(let next) = production.stage else { return nil }
    return .init(
      entry: UInt64(clamping: next.item.id), position: next.position, start: next.start,
      resumes: next.resumes)
  }

  /// The media times up to which all connected rooms hold audio, and up to which one of them does; nil if none does. Rooms
  /// that hold next to nothing are left out, unless all do: they run dry before a successor can fill them, and the others
  /// are to keep what they hold.
  private func heldByRooms(beyond playhead: MediaTime) -> StreamKeeper.Held? {
    let held = rooms.links.compactMap(\.connected).filter { keeper.counts($0) }
      .compactMap { $0.status?.bufferedUntil }.filter { $0 > playhead }
    let lasting = held.filter { $0 > playhead + StreamKeeper.nextToNothing }
    guard let all = lasting.min() ?? held.min(), let one = held.max() else { return nil }
    return .init(all: all, one: one)
  }

  private var record: StreamRecord? {
    guard let state = timeline.state.kept else { return nil }
    var segments = timeline.segments[...]
    var (end, next) = (timeline.end, beginning)
    // A status may be older than a cut.
    var produced = store.end ?? .zero
    if segments.count > StreamRecord.segmentLimit {
      produced = segments[segments.startIndex + StreamRecord.segmentLimit].start
      segments = segments.prefix(StreamRecord.segmentLimit)
      (end, next) = (nil, nil)
    }
    return StreamRecord(
      state: state, clockID: configuration.clockID, clockLead: clock.lead,
      generation: timeline.generation, nextSequence: store.nextSequence,
      lastArtwork: announcer.lastArtwork,
      heldByAll: min(keeper.held?.all ?? .zero, produced),
      heldByOne: min(keeper.held?.one ?? .zero, produced), end: end, beginning: next,
      anchors: Array(timeline.anchors),
      cuts: timeline.cuts.map {
        .init(generation: $0.generation, from: $0.from, isRamped: $0.isRamped)
      },
      segments: segments.map(StreamRecord.Segment.init))
  }

  // MARK: - As a successor

  /// Goes on with the timeline as the rooms have it. From the seam on, all is produced anew: what the rooms hold there is
  /// replaced by the same audio, which nobody hears.
  mutating func takeOver(_ succession: StreamSuccession) {
    let record = succession.record
    clock = GroupClock(lead: record.clockLead)
    timeline = succession.timeline
    timeline.skipGenerations(StreamSuccession.generationGap)
    store = PacketStore(
      continuingAt: record.nextSequence + StreamSuccession.sequenceGap, end: record.heldByOne)
    announcer = Announcer(after: record.lastArtwork &+ StreamSuccession.artworkGap)
    effects = succession.effects
    keeper.hear(.init(all: record.heldByAll, one: record.heldByOne))
    let now = clock.continuous(succession.now)
    // Also while it is paused: no time would come at which it begins to sound.
    for segment in timeline.segmentsBegun(by: mediaTime(at: now)) { announce(segment) }
    guard let next = succession.next else {
      timeline.end = record.end
      return production.finished(with: succession.predecessor)
    }
    joinSeam(
      of: record.generation, with: next, after: succession.predecessor,
      isWithin: succession.isWithin, movingFrom: now + StreamSuccession.firstMove, at: now)
    // The list may have been edited since.
    restart.edited(at: now)
  }

  /// Produces all from the seam on anew, in place of what the rooms hold of `generation`.
  private mutating func joinSeam(
    of generation: UInt32, with next: Production.Beginning, after predecessor: PlayItem?,
    isWithin: Bool, movingFrom moveTime: LocalTime, at now: LocalTime
  ) {
    var next = next
    if let segment = timeline.segment(at: next.start), segment.opened.item == next.item {
      next.fading = fading(into: segment, at: next.start)
    }
    makeAnew(
      next, from: next.start, after: predecessor, isRamped: false, isRecoding: isWithin, at: now)
    keeper.seam = (timeline.generation, after: generation, movesFrom: moveTime)
  }

  /// A room that has begun since would be silent up to the seam: the seam moves to an earlier place, once the source has
  /// shown that it can be read.
  mutating func moveSeamIfDue(at now: LocalTime) {
    guard let seam = keeper.seam, seam.movesFrom <= now, seam.generation == timeline.generation,
      let place = timeline.cuts.last?.from, timeline.isPlaying, restart.target == nil,
      store.end.map({ $0 > place }) ?? false
    else { return }
    let earliest = timeline.cutTime(by: commitTime(at: now) + StreamSuccession.lead)
    let gain = MediaDuration(StreamSuccession.lead)
    guard place > earliest + gain, doesAnyRoomLack(place),
      let next = timeline.seam(at: earliest, notBefore: earliest)
    else { return }
    joinSeam(
      of: seam.after, with: next.beginning, after: next.predecessor, isWithin: next.isWithin,
      movingFrom: seam.movesFrom, at: now)
  }

  /// True if a room lacks what sounds before the seam: it came with nothing, or with too little, or has run dry.
  private func doesAnyRoomLack(_ seam: MediaTime) -> Bool {
    rooms.links.compactMap(\.connected).contains { room in
      guard room.welcome.held != nil, room.status?.state != .starved else { return true }
      return room.heldUntil.map { $0 < seam } ?? false
    }
  }

  /// Returns the packet with which a room goes on that comes back when the seam is past: one that it can still get in
  /// time. What it holds before that packet is the same audio. Returns nil if the room goes on as any other does.
  func lateSeam(for held: HeldStream?, at now: LocalTime) -> (sequence: UInt64, from: MediaTime)? {
    guard let held, let seam = keeper.seam, held.generation == seam.after,
      let cut = timeline.cuts.last, cut.generation == seam.generation,
      case .playing = timeline.state
    else { return nil }
    // The room's packets are there already, so it needs no longer than a message takes.
    func place(after span: Nanoseconds) -> MediaTime {
      timeline.cutTime(by: commitTime(at: now) + span)
    }
    guard cut.from < place(after: .milliseconds(200)),
      let entry = store.entry(from: store.sequence(at: place(after: .milliseconds(400)))),
      let next = store.usual(after: entry)
    else { return nil }
    return (next.sequence, next.mediaTime)
  }
}

/// Decides when the record for a successor is made anew.
struct StreamKeeper {
  /// The facts whose change is told at once.
  struct Mark: Equatable {
    var state: StreamRecord.State
    var anchor: Anchor
    var generation: UInt32
    var clockLead: Nanoseconds
    var segments: Int
    var first: MediaTime
    var last: MediaTime
    var end: MediaTime?
    var beginning: StreamRecord.Beginning?
  }

  struct Held: Equatable {
    var all: MediaTime
    var one: MediaTime
  }

  /// Rooms hold minutes, and a seam lies ten seconds ahead: how much they hold matters only where that is little.
  private static let little = MediaDuration.seconds(30)
  /// Growth of what the rooms hold that is told again, as usual and where they hold little.
  private static let step = MediaDuration.seconds(15)
  private static let littleStep = MediaDuration.seconds(1)

  /// Time that a flush takes to a room, and a status from there.
  private static let flushTime = Nanoseconds.milliseconds(250)
  /// A room that holds no more runs dry before a successor can fill it, which is there after a second or two.
  static let nextToNothing = MediaDuration.seconds(2)

  private(set) var held: Held?
  private var cutTime = LocalTime(nanoseconds: .min / 2)
  private var told: (mark: Mark, held: Held?)?
  /// The generation that began where this process took over, the one before it, and from when on that place may move: a
  /// process that ends again at once leaves the rooms what they hold up to it. Nil if it did not take over.
  var seam: (generation: UInt32, after: UInt32, movesFrom: LocalTime)?

  /// Notes how much the rooms hold. While none is connected, the last word counts.
  mutating func hear(_ held: Held?) { self.held = held ?? self.held }

  /// All rooms are told to discard what they hold from `place` on.
  mutating func cut(from place: MediaTime, at now: LocalTime) {
    held = held.map { Held(all: min($0.all, place), one: min($0.one, place)) }
    cutTime = now
  }

  /// True if the room's status says what it holds, and was made after it has heard of the last cut.
  func counts(_ room: ConnectedRoom) -> Bool {
    room.statusTime >= max(room.began, cutTime) + Self.flushTime
  }

  mutating func isDue(_ mark: Mark?, playhead: MediaTime) -> Bool {
    guard mark != told?.mark || hasGrown(playhead) else { return false }
    told = mark.map { ($0, held) }
    return true
  }

  private func hasGrown(_ playhead: MediaTime) -> Bool {
    guard told != nil, let held else { return false }
    guard let before = told?.held else { return true }
    let step = before.all - playhead < Self.little ? Self.littleStep : Self.step
    return held.all - before.all >= step || held.one - before.one >= step
      || held.all < before.all || held.one < before.one
  }
}

extension PlaybackTimeline.State {
  /// Nil before anything sounds.
  fileprivate var kept: StreamRecord.State? {
    switch self {
    case .starting: nil
    case .playing: .playing
    case .holding: .holding
    case .paused: .paused
    }
  }
}

extension StreamRecord.Segment {
  fileprivate init(_ segment: PlaybackTimeline.Segment) {
    let opened = segment.opened
    self.init(
      start: segment.start, entry: UInt64(clamping: opened.item.id), position: opened.position,
      rate: opened.rate, isSeekable: opened.isSeekable && opened.supply.isKept,
      isChosen: segment.isChosen, continuesItem: segment.continuesItem,
      description: segment.description)
  }
}

extension Supply {
  /// True if another process can read the same again.
  fileprivate var isKept: Bool {
    switch self {
    case .stored, .fetched: true
    case .live, .piped, .input: false
    }
  }
}
