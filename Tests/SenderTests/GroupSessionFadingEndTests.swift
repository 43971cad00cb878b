import Clock
import Testing

@testable import Sender

/// Tests of what is read again of an item that fades out, at the first and the last flick of its
/// fade. A flick too far, and the producer reads an end of which nothing is left. Each item is ten
/// seconds long.
@Suite struct GroupSessionFadingEndTests {
  private static func effects(_ seconds: Double) -> Effects {
    var effects = Effects()
    effects.crossfade = seconds
    return effects
  }

  /// A group that has played two items for half a second. They fade into each other over so many
  /// seconds.
  private static func playing(seconds: Double) -> TestGroup {
    var group = TestGroup(
      ["8000x1:80000", "8000x1:80000"], producesAtOnce: false, endsWithPlaylist: false)
    group.command(.effects(effects(seconds)))
    group.producesAtOnce = true
    group.joinReady()
    group.produce()
    group.advance(by: .milliseconds(600))
    return group
  }

  private static func time(_ seconds: Int64, _ flicks: Int64 = 0) -> MediaTime {
    MediaTime.zero + .seconds(seconds) + MediaDuration(flicks: flicks)
  }

  private static func span(_ seconds: Int64, _ flicks: Int64 = 0) -> MediaDuration {
    MediaDuration.seconds(seconds) + MediaDuration(flicks: flicks)
  }

  private static func fading(
    _ item: PlayItem, at position: MediaDuration, for span: MediaDuration,
    elapsed: MediaDuration = .zero
  ) -> ProductionOrder.Fading {
    ProductionOrder.Fading(
      item: item, position: position, span: span, elapsed: elapsed, effects: effects(2))
  }

  // MARK: - An item that fades out

  @Test func `an item fades out from the next one's first flick to its own last one`() throws {
    let session = Self.playing(seconds: 2).session
    let segments = session.timeline.segments
    try #require(segments.map(\.start) == [Self.time(0), Self.time(8)])
    let (item, segment) = (segments[0].opened.item, segments[1])
    #expect(session.fading(into: segment, at: Self.time(8, -1)) == nil)
    #expect(
      session.fading(into: segment, at: Self.time(8))
        == Self.fading(item, at: Self.span(8), for: Self.span(2)))
    #expect(
      session.fading(into: segment, at: Self.time(9))
        == Self.fading(item, at: Self.span(9), for: Self.span(1), elapsed: Self.span(1)))
    #expect(
      session.fading(into: segment, at: Self.time(10, -1))
        == Self.fading(
          item, at: Self.span(10, -1), for: Self.span(0, 1), elapsed: Self.span(2, -1)))
    #expect(session.fading(into: segment, at: Self.time(10)) == nil)
    #expect(session.fading(into: segment, at: Self.time(11)) == nil)
    #expect(session.fading(into: segments[0], at: Self.time(0)) == nil)
  }

  /// A change of effects during a fade cuts it, and a second change cuts it again.
  @Test func `a fade that was cut before counts what has passed of it`() throws {
    let session = Self.playing(seconds: 2).session
    let segments = session.timeline.segments
    try #require(segments.count == 2)
    var segment = segments[1]
    segment.opened.fade?.elapsed = .seconds(3)
    segment.opened.fade?.rate = 2
    #expect(
      session.fading(into: segment, at: Self.time(9))
        == Self.fading(
          segments[0].opened.item, at: Self.span(10), for: Self.span(1), elapsed: Self.span(4)))
  }

  // MARK: - An end that may fade anew

  @Test func `an item that fades out ends where its fade does`() throws {
    var session = Self.playing(seconds: 2).session
    let items = session.playlist.items
    let end = try #require(session.fadingEnd(of: items[0], before: Self.time(8)))
    #expect(end.segment.opened.item == items[0])
    #expect(end.start == Self.time(8))
    #expect(end.end == Self.time(10))
    // The items that end there are others.
    #expect(session.fadingEnd(of: items[1], before: Self.time(8))?.end == nil)
    #expect(session.fadingEnd(of: items[0], before: Self.time(18))?.end == nil)
    // It fades out as it was produced, whatever was asked for since.
    session.effects.crossfade = 0
    let same = try #require(session.fadingEnd(of: items[0], before: Self.time(8)))
    #expect(same.start == Self.time(8) && same.end == Self.time(10))
  }

  @Test func `an item that nothing follows ends at its boundary, and may fade before it`() throws {
    var session = Self.playing(seconds: 2).session
    let last = session.playlist.items[1]
    for seconds in [2, 1, 0.5] {
      session.effects.crossfade = seconds
      let end = try #require(session.fadingEnd(of: last, before: Self.time(18)))
      #expect(end.segment.start == Self.time(8))
      #expect(end.start == Self.time(16))
      #expect(end.end == Self.time(18))
    }
    session.effects.crossfade = 0
    #expect(session.fadingEnd(of: last, before: Self.time(18))?.end == nil)
  }

  @Test func `an item that was produced without a fade has no end that fades`() throws {
    var session = Self.playing(seconds: 0).session
    let (items, segments) = (session.playlist.items, session.timeline.segments)
    try #require(segments.map(\.start) == [Self.time(0), Self.time(10)])
    for seconds in [0.0, 2] {
      session.effects.crossfade = seconds
      #expect(session.fadingEnd(of: items[0], before: Self.time(10))?.end == nil)
      #expect(session.fadingEnd(of: items[1], before: Self.time(20))?.end == nil)
    }
    #expect(session.fading(into: segments[1], at: Self.time(10)) == nil)
  }

  // MARK: - Another item that follows

  /// The producer gets a second to read the end again.
  @Test func `another item fades in over an end if a second is left to read it`() throws {
    let session = Self.playing(seconds: 2).session
    let item = session.playlist.items[1]
    let last = try #require(session.fadingEnd(of: item, before: Self.time(18)))
    for earliest in [Self.time(1), Self.time(15)] {
      let next = session.replacement(after: last, at: Self.time(18), notBefore: earliest)
      #expect(next.time == Self.time(16))
      #expect(next.fading == Self.fading(item, at: Self.span(8), for: Self.span(2)))
    }
    let late = session.replacement(after: last, at: Self.time(18), notBefore: Self.time(15, 1))
    #expect(late.time == Self.time(18))
    #expect(late.fading == nil)
  }

  @Test func `another item fades in over what is left of a fade, and over nothing at its end`()
    throws
  {
    let session = Self.playing(seconds: 2).session
    let item = session.playlist.items[0]
    let last = try #require(session.fadingEnd(of: item, before: Self.time(8)))
    func replacement(_ earliest: MediaTime) -> (time: MediaTime, fading: ProductionOrder.Fading?) {
      session.replacement(after: last, at: Self.time(8), notBefore: earliest)
    }
    for earliest in [Self.time(7), Self.time(7, 1), Self.time(8)] {
      #expect(replacement(earliest).time == Self.time(8))
      #expect(
        replacement(earliest).fading == Self.fading(item, at: Self.span(8), for: Self.span(2)))
    }
    #expect(replacement(Self.time(9)).time == Self.time(9))
    #expect(
      replacement(Self.time(9)).fading == Self.fading(item, at: Self.span(9), for: Self.span(1)))
    #expect(
      replacement(Self.time(10, -1)).fading
        == Self.fading(item, at: Self.span(10, -1), for: Self.span(0, 1)))
    for earliest in [Self.time(10), Self.time(11)] {
      #expect(replacement(earliest).time == earliest)
      #expect(replacement(earliest).fading == nil)
    }
  }

  @Test func `where nothing fades another item follows at the boundary, or as soon as it can`() {
    let session = Self.playing(seconds: 0).session
    for (earliest, time) in [(3, 10), (10, 10), (11, 11)] as [(Int64, Int64)] {
      let next = session.replacement(
        after: nil, at: Self.time(10), notBefore: Self.time(earliest))
      #expect(next.time == Self.time(time))
      #expect(next.fading == nil)
    }
  }
}
