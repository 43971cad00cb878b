import Audio
import Clock
import WireProtocol

/// What all rooms of the group decode, and what happens when that changes while something is enqueued.
extension GroupSession {
  /// How long making packets anew takes, at most, until the first of them are in the rooms: the others play on meanwhile.
  private static let recodingTime = Nanoseconds.milliseconds(400)
  /// In this step, 40 ms, frames of all rates coincide.
  private static let commonFrames = MediaDuration.milliseconds(40)

  /// A room has come that decodes less than the others: from as soon as possible on, what it cannot decode is made
  /// anew in a codec that all can. The others hear no seam.
  mutating func recodeForNewcomer(at now: LocalTime) {
    guard let newcomer = rooms.newcomer, production.isIdle, !restart.isPending else { return }
    rooms.newcomer = nil
    var earliest = timeline.cutTime(by: commitTime(at: now) + Self.recodingTime)
    if let live = liveSegment(from: earliest) {
      guard live.end == nil else {
        earliest = max(earliest, live.end ?? earliest)
        return recode(from: earliest, for: newcomer, at: now)
      }
      emit(.event(.recoded(newcomer, from: live.codec)))
      return order(.recode(codecs, generation: timeline.generation))
    }
    recode(from: earliest, for: newcomer, at: now)
  }

  /// What goes on there cannot be taken from its source again: what is enqueued of it in a codec that not all rooms decode,
  /// and where it ends, if it does. The newcomer waits until that has sounded, which is a matter of seconds.
  private func liveSegment(from time: MediaTime) -> (codec: Codec, end: MediaTime?)? {
    guard !timeline.anchors.isEmpty, let (begin, codec) = firstUnsuitable(from: time),
      let segment = timeline.segments.last(where: { $0.start <= max(begin, time) }),
      !segment.opened.isSeekable
    else { return nil }
    let next = timeline.segments.first { $0.start > segment.start && !$0.continuesItem }
    if case .item = production.stage, next == nil { return (codec, nil) }
    return (codec, next?.start ?? store.end ?? time)
  }

  private mutating func recode(from earliest: MediaTime, for newcomer: RoomID, at now: LocalTime) {
    guard let (begin, codec) = firstUnsuitable(from: earliest),
      let segment = timeline.segments.last(where: { $0.start <= max(begin, earliest) })
    else { return }
    let time = recodingStart(max(begin, earliest), in: segment)
    let opened = segment.opened
    let isWithin = time > segment.start
    let before = timeline.segments.last { $0.start < segment.start }?.opened.item
    makeAnew(
      .init(
        item: opened.item, position: opened.position(after: time - segment.start), start: time,
        isChosen: isWithin || segment.isChosen),
      from: time, after: isWithin ? opened.item : before, isRamped: false, isRecoding: isWithin,
      at: now)
    emit(.event(.recoded(newcomer, from: codec)))
  }

  private func firstUnsuitable(from time: MediaTime) -> (MediaTime, Codec)? {
    if let found = store.firstPacket(at: time, outside: codecs) { return found }
    guard case .item = production.stage, let codec = production.format?.meaning.codec,
      !codecs.contains(codec)
    else { return nil }
    return (max(time, store.end ?? time), codec)
  }

  /// Where frames of any two rates begin together, counted from the item's first; not beyond what there is.
  private func recodingStart(_ time: MediaTime, in segment: PlaybackTimeline.Segment) -> MediaTime {
    let step = Self.commonFrames.flicks
    let steps = ((time - segment.start).flicks + step - 1) / step
    let common = segment.start + MediaDuration(flicks: max(0, steps) * step)
    return min(common, max(segment.start, store.end ?? time))
  }
}
