import Audio
import Clock
import WireProtocol

/// Chooses codecs that all rooms of the group decode, and recodes enqueued audio when that choice changes.
extension GroupSession {
  /// Longest time from ordering recoded packets until the first of them are in the rooms. The other rooms play on
  /// meanwhile.
  private static let recodingTime = Nanoseconds.milliseconds(400)
  /// Frames of all sample rates coincide every 40 ms.
  private static let commonFrames = MediaDuration.milliseconds(40)

  /// A room has joined that decodes fewer codecs than the others. Recodes what it cannot decode, from as soon as
  /// possible on, in a codec that all rooms decode. The other rooms hear no seam.
  mutating func recodeForNewcomer(at now: LocalTime) {
    guard let newcomer = rooms.newcomer, production.isIdle, !restart.isPending else { return }
    rooms.newcomer = nil
    var earliest = timeline.cutTime(by: commitTime(at: now) + Self.recodingTime)
    if let live = liveSegment(from: earliest) {
      guard live.end == nil else {
        earliest = max(earliest, live.end ?? earliest)
        return recode(from: earliest, for: newcomer, at: now)
      }
      rooms.tellOf(newcomer, .recoded(from: live.codec))
      return order(.recode(codecs, generation: timeline.generation))
    }
    recode(from: earliest, for: newcomer, at: now)
  }

  /// Returns the codec that not all rooms decode, and the end if there is one, of a segment that cannot be read from
  /// its source again, or not to the frame; nil if there is no such segment. The newcomer waits until this audio has
  /// sounded, which takes seconds.
  private func liveSegment(from time: MediaTime) -> (codec: Codec, end: MediaTime?)? {
    guard !timeline.anchors.isEmpty, let (begin, codec) = firstUnsuitable(from: time),
      let segment = timeline.segments.last(where: { $0.start <= max(begin, time) }),
      !segment.opened.isSeekable || segment.opened.isKept
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
        isChosen: isWithin || segment.isChosen, fading: fading(into: segment, at: time)),
      from: time, after: isWithin ? opened.item : before, isRamped: false, isRecoding: isWithin,
      at: now)
    rooms.tellOf(newcomer, .recoded(from: codec))
  }

  private func firstUnsuitable(from time: MediaTime) -> (MediaTime, Codec)? {
    if let found = store.firstPacket(at: time, outside: codecs) { return found }
    guard case .item = production.stage, let codec = production.format?.meaning.codec,
      !codecs.contains(codec)
    else { return nil }
    return (max(time, store.end ?? time), codec)
  }

  /// Returns the next media time at which frames of any two rates begin together, counted from the item's first frame;
  /// at most the end of the produced audio.
  private func recodingStart(_ time: MediaTime, in segment: PlaybackTimeline.Segment) -> MediaTime {
    let step = Self.commonFrames.flicks
    let steps = ((time - segment.start).flicks + step - 1) / step
    let common = segment.start + MediaDuration(flicks: max(0, steps) * step)
    return min(common, max(segment.start, store.end ?? time))
  }
}
