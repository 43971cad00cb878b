package import Clock
package import WireProtocol

/// The fate of a stream whose sender's process has ended, as the next process decides it.
package enum StreamFate {
  /// The rooms play on, and this process fills on behind what they hold.
  case goesOn(StreamSuccession)
  /// The rooms have nothing left, or the item cannot be read from its middle: another stream begins at this place of the
  /// list. Nil is where somebody has left the entry, else its beginning.
  case beginsAnew(entry: Int, MediaDuration?)
  /// Everything has sounded.
  case over
  /// The list does not have the items of the stream any more.
  case unknown

  /// - Parameter now: of the machine's clock, which must be the one by which the record was made.
  package init(
    of record: StreamRecord, in playlist: Playlist, effects: Effects = Effects(), at now: LocalTime
  ) {
    guard let timeline = PlaybackTimeline(record, in: playlist, crossfade: effects.crossfade),
      record.hasNumbersLeft
    else {
      self = .unknown
      return
    }
    let group = GroupClock(lead: record.clockLead).group(now)
    let place = SuccessionPlace(record, timeline, at: group)
    guard !place.isOver else {
      self =
        timeline.playhead(at: group) >= record.end ?? .zero
        ? .over
        : .goesOn(
          StreamSuccession(
            record: record, timeline: timeline, effects: effects, next: nil,
            predecessor: place.last,
            isWithin: false, now: now))
      return
    }
    guard let next = place.next(in: playlist) else {
      guard let (entry, position) = place.outage else {
        self = .unknown
        return
      }
      self = .beginsAnew(entry: entry, position)
      return
    }
    self = .goesOn(
      StreamSuccession(
        record: record, timeline: timeline, effects: effects, next: next.beginning,
        predecessor: next.predecessor, isWithin: next.isWithin, now: now))
  }
}

/// A stream of another process, and where this one takes it up.
package struct StreamSuccession {
  /// Numbers that are left out, because the record may be older than what the rooms were told last.
  static let generationGap: UInt32 = 1 << 10
  static let sequenceGap: UInt64 = 1 << 24
  static let artworkGap: UInt32 = 1 << 10
  /// Time from the start of a process until what it has produced is in the rooms.
  static let lead = Nanoseconds.seconds(1)
  /// The seam lies at most this much later: what the rooms hold up to it covers a source that opens slowly, and a process
  /// that ends again.
  static let reach = MediaDuration.seconds(10)
  /// How long a process has lived before it moves the seam.
  static let firstMove = Nanoseconds.seconds(2)
  /// Frames of all sample rates coincide every 40 ms.
  static let commonFrames = MediaDuration.milliseconds(40)

  let record: StreamRecord
  let timeline: PlaybackTimeline
  let effects: Effects
  /// The item that is produced from the seam on; nil if all was produced before.
  let next: Production.Beginning?
  /// The item whose successor in the list comes behind what is there.
  let predecessor: PlayItem?
  /// True if the seam lies in the middle of an item.
  let isWithin: Bool
  /// The time at which it was decided, by the machine's clock.
  let now: LocalTime

  /// The time for which rooms can play on by themselves.
  package var held: Nanoseconds {
    let playhead = timeline.playhead(at: GroupClock(lead: record.clockLead).group(now))
    return Nanoseconds(max(.zero, record.heldByOne - playhead))
  }

  /// The record for the next process, if this one ends before it has made one: that one uses later numbers, and rooms may
  /// have heard of this one's seam.
  package var claim: StreamRecord {
    var claim = record
    claim.generation += Self.generationGap
    claim.nextSequence += Self.sequenceGap
    claim.lastArtwork &+= Self.artworkGap
    if let next {
      claim.heldByAll = min(claim.heldByAll, next.start)
      claim.heldByOne = min(claim.heldByOne, next.start)
    }
    return claim
  }
}

extension StreamRecord {
  fileprivate var hasNumbersLeft: Bool {
    generation < ProtocolLimits.generation.upperBound / 2
      && nextSequence < ProtocolLimits.count.upperBound / 2
  }
}

/// Chooses the place at which another process takes up a stream.
private struct SuccessionPlace {
  private let record: StreamRecord
  private let timeline: PlaybackTimeline
  private let playhead: MediaTime
  /// The first media time that can be produced before it sounds.
  private let earliest: MediaTime

  init(_ record: StreamRecord, _ timeline: PlaybackTimeline, at now: GroupTime) {
    (self.record, self.timeline) = (record, timeline)
    playhead = timeline.playhead(at: now)
    earliest = timeline.cutTime(by: now + StreamSuccession.lead)
  }

  /// True if all was produced, and nothing is left that could be produced anew.
  var isOver: Bool { record.end.map { $0 <= earliest } ?? false }

  var last: PlayItem? { timeline.segments.last?.opened.item }

  private var isRunning: Bool { if case .playing = timeline.state { true } else { false } }

  /// True if no room holds what sounds next.
  private var isDry: Bool { isRunning && record.heldByOne < earliest }

  /// As late as all rooms can wait for it. Where time stands still, nobody waits, and a room may have lost what it held.
  private var seam: MediaTime {
    isRunning
      ? max(earliest, min(record.heldByAll, earliest + StreamSuccession.reach)) : earliest
  }

  /// Returns what is to be produced, from the seam on; nil if the stream cannot go on.
  func next(
    in playlist: Playlist
  ) -> (beginning: Production.Beginning, predecessor: PlayItem?, isWithin: Bool)? {
    guard !isDry else { return nil }
    if let beginning = record.beginning, seam >= beginning.start {
      guard let item = playlist.item(Int(clamping: beginning.entry)) else { return nil }
      let start = max(beginning.start, earliest)
      return (
        .init(
          item: item, position: beginning.position, start: start, isChosen: true,
          resumes: beginning.resumes), last, false
      )
    }
    return timeline.seam(at: seam, notBefore: earliest)
  }

  /// The entry and the position at which the rooms have run dry, or are now. What they lack before the place that was
  /// chosen last was left.
  var outage: (Int, MediaDuration?)? {
    let dry = isDry ? min(record.heldByOne, playhead) : playhead
    let chosen = record.cuts.last { $0.isRamped }?.from
    let time = max(dry, chosen ?? dry)
    if let beginning = record.beginning, time >= beginning.start {
      let position = beginning.resumes ? nil : beginning.position
      return (Int(clamping: beginning.entry), position)
    }
    guard let segment = timeline.segment(at: time) else { return nil }
    return (
      segment.opened.item.id, max(.zero, segment.opened.position(after: time - segment.start))
    )
  }
}

extension PlaybackTimeline {
  /// Returns what is produced from a seam on that lies before `time`, unless that is before `earliest`: where frames of all
  /// rates begin, counted from the item's first frame. Nil if the item cannot be read from there.
  func seam(
    at time: MediaTime, notBefore earliest: MediaTime
  ) -> (beginning: Production.Beginning, predecessor: PlayItem?, isWithin: Bool)? {
    guard let index = segmentIndex(at: time) else { return nil }
    let segment = segments[index]
    guard segment.opened.isSeekable else { return nil }
    let step = StreamSuccession.commonFrames
    // The segment behind a cut begins with the next whole frame.
    let steps = max(.zero, time - segment.start).flicks / step.flicks
    var start = segment.start + MediaDuration(flicks: steps * step.flicks)
    if start < earliest { start = start + step }
    let isWithin = start > segment.start
    let before = segments[..<index].last { $0.start < segment.start }?.opened.item
    return (
      .init(
        item: segment.opened.item, position: segment.opened.position(after: start - segment.start),
        start: start, isChosen: isWithin || segment.isChosen),
      isWithin ? segment.opened.item : before, isWithin
    )
  }

  /// Returns nil if `playlist` lacks an item, or if the record contradicts itself.
  fileprivate init?(_ record: StreamRecord, in playlist: Playlist, crossfade: Double) {
    guard let anchor = record.anchors.last else { return nil }
    let state: State? =
      switch (record.state, anchor.rate) {
      case (.playing, .playing): .playing(anchor)
      case (.holding, .paused): .holding(anchor)
      case (.paused, .paused): .paused(anchor)
      case (.playing, _), (.holding, _), (.paused, _): nil
      }
    var segments = record.segments.compactMap { Segment($0, in: playlist) }
    for index in segments.indices.dropFirst() {
      var before = segments[index - 1]
      segments[index].findFade(after: &before, seconds: crossfade)
      segments[index - 1] = before
    }
    guard let state, segments.count == record.segments.count else { return nil }
    self.init(
      state, generation: record.generation,
      cuts: record.cuts.map {
        Cut(generation: $0.generation, from: $0.from, isRamped: $0.isRamped)
      },
      segments: segments, anchors: record.anchors)
  }
}

extension PlaybackTimeline.Segment {
  fileprivate init?(_ record: StreamRecord.Segment, in playlist: Playlist) {
    guard let item = playlist.item(Int(clamping: record.entry)) else { return nil }
    let description = record.description
    func known(_ text: String) -> String? { text.isEmpty ? nil : text }
    var metadata = ItemMetadata(
      title: known(description.title), artist: known(description.artist),
      album: known(description.album))
    metadata.track = description.track > 0 ? Int(description.track) : nil
    let duration = description.duration > .zero ? description.duration : nil
    self.init(
      start: record.start,
      opened: OpenedItem(
        item: item, duration: duration, position: record.position, isSeekable: record.isSeekable,
        metadata: metadata, rate: record.rate),
      isChosen: record.isChosen, continuesItem: record.continuesItem, description: description)
  }
}
