import Clock
import WireProtocol

/// Where one item fades out over the next, and what must be read again of it if another one follows.
extension GroupSession {
  /// Shorter than this before an item's end there is no time to let it fade out anew, unless it must.
  private static let readingTime = MediaDuration.seconds(1)

  /// The end of an item as it sounds if it does not fade out.
  struct FadingEnd {
    /// The item, or its part after a seek.
    let segment: PlaybackTimeline.Segment
    let start: MediaTime
    let end: MediaTime
  }

  /// Returns the end of the item before `segment`, if that still fades out at `time`.
  func fading(
    into segment: PlaybackTimeline.Segment, at time: MediaTime
  ) -> ProductionOrder.Fading? {
    guard let fade = segment.opened.fade, time >= segment.start else { return nil }
    let passed = time - segment.start
    guard passed < fade.length else { return nil }
    return fading(
      fade.item, at: fade.position(after: passed), for: fade.length - passed,
      elapsed: fade.elapsed + passed)
  }

  /// Returns the end of `item`, behind which the next one began at `boundary`; nil if it does not fade.
  func fadingEnd(of item: PlayItem, before boundary: MediaTime) -> FadingEnd? {
    guard
      let segment = timeline.segments.last(where: { $0.start < boundary }),
      segment.opened.item.id == item.id, segment.opened.isSeekable
    else { return nil }
    let fade = timeline.segments.first { $0.start == boundary }?.opened.fade
    guard segment.opened.fadeOut > .zero, fade != nil || effects.crossfade > 0 else { return nil }
    let end = boundary + (fade?.length ?? .zero)
    return FadingEnd(
      segment: segment, start: max(segment.start, end - segment.opened.fadeOut), end: end)
  }

  /// Returns from where on another item is to follow `last`, and what is read again of it.
  ///
  /// - Parameters:
  ///   - boundary: where the next item begins so far.
  ///   - earliest: the first media time that all rooms can still change.
  func replacement(
    after last: FadingEnd?, at boundary: MediaTime, notBefore earliest: MediaTime
  ) -> (time: MediaTime, fading: ProductionOrder.Fading?) {
    guard let last else { return (max(boundary, earliest), nil) }
    let isInTime = earliest + Self.readingTime <= last.start
    let time = isInTime ? min(last.start, boundary) : max(boundary, earliest)
    guard time < last.end else { return (time, nil) }
    let opened = last.segment.opened
    return (
      time,
      fading(
        opened.item, at: opened.position(after: time - last.segment.start),
        for: last.end - time)
    )
  }

  private func fading(
    _ item: PlayItem, at position: MediaDuration, for span: MediaDuration,
    elapsed: MediaDuration = .zero
  ) -> ProductionOrder.Fading {
    .init(
      item: item, position: position, span: span, elapsed: elapsed, effects: effects,
      neighbours: effects.loudness == nil ? [] : playlist.neighbours(of: item))
  }
}

extension PlaybackTimeline.Segment {
  /// Finds out of a record, which does not say it, that the item before fades out over this one: it would end later.
  mutating func findFade(after before: inout Self, seconds: Double) {
    let (item, longest) = (before.opened, MediaDuration(seconds: seconds))
    guard !isChosen, !continuesItem, item.isSeekable, item.item.id != opened.item.id,
      let duration = item.duration
    else { return }
    let length = before.start + item.span(to: duration) - start
    guard length > .zero, length <= longest else { return }
    opened.fade = .init(
      item: item.item, position: item.position(after: start - before.start), rate: item.rate,
      length: length)
    before.opened.fadeOut = length
  }
}
