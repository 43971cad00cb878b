import Audio
import Clock
import TestSupport
import Testing

@testable import Sender

@Suite struct PlaybackTimelineTests {
  private static func group(_ milliseconds: Int64) -> GroupTime {
    GroupTime(nanoseconds: milliseconds * 1_000_000)
  }

  private static func media(_ milliseconds: Int64) -> MediaTime {
    .zero + .milliseconds(milliseconds)
  }

  private static func opened(_ id: Int) -> OpenedItem {
    OpenedItem(
      item: PlayItem(id: id, location: ""), duration: nil, position: .zero,
      isSeekable: true, metadata: ItemMetadata())
  }

  private static func playing() -> PlaybackTimeline {
    var timeline = PlaybackTimeline()
    _ = timeline.play(from: .zero, at: group(100))
    return timeline
  }

  @Test func `nothing moves before the first anchor's time`() {
    let timeline = Self.playing()
    #expect(timeline.playhead(at: Self.group(0)) == .zero)
    #expect(timeline.playhead(at: Self.group(100)) == .zero)
    #expect(timeline.playhead(at: Self.group(600)) == Self.media(500))
  }

  @Test func `a pause stands where it takes effect, and a resume goes on from there`() throws {
    var timeline = Self.playing()
    let stopped = timeline.pause(at: Self.group(600))
    let pause = try #require(stopped)
    #expect(pause.mediaTime == Self.media(500))
    #expect(pause.rate == .paused)
    #expect(timeline.playhead(at: Self.group(550)) == Self.media(450))
    #expect(timeline.playhead(at: Self.group(2000)) == Self.media(500))
    _ = timeline.play(from: pause.mediaTime, at: Self.group(2000))
    #expect(timeline.playhead(at: Self.group(1999)) == Self.media(500))
    #expect(timeline.playhead(at: Self.group(2100)) == Self.media(600))
  }

  @Test func `a pause before the start keeps the place, and the start does not come`() throws {
    var timeline = Self.playing()
    let stopped = timeline.pause(at: Self.group(50))
    let pause = try #require(stopped)
    #expect(pause.groupTime == Self.group(50))
    #expect(pause.mediaTime == .zero)
    #expect(Array(timeline.anchors) == [pause])
    #expect(timeline.pause(at: Self.group(200)) == nil)
  }

  @Test func `a cut is where all rooms can still make it`() {
    var timeline = PlaybackTimeline()
    #expect(timeline.cutTime(by: Self.group(5000)) == .zero)
    _ = timeline.play(from: Self.media(10), at: Self.group(100))
    #expect(timeline.cutTime(by: Self.group(50)) == Self.media(10))
    #expect(timeline.cutTime(by: Self.group(300)) == Self.media(210))
    _ = timeline.pause(at: Self.group(400))
    #expect(timeline.cutTime(by: Self.group(900)) == Self.media(310))
  }

  @Test func `a cut begins a generation and forgets the items behind it`() {
    var timeline = Self.playing()
    timeline.append(.init(start: .zero, opened: Self.opened(0)))
    timeline.append(.init(start: Self.media(1000), opened: Self.opened(1)))
    timeline.end = Self.media(2000)
    let generation = timeline.cut(from: Self.media(500), isRamped: true)
    #expect(generation == 1)
    #expect(timeline.segments.map(\.opened.item.id) == [0])
    #expect(timeline.end == nil)
    #expect(timeline.cuts.count == 1)
  }

  @Test func `of many cuts the last thirty-two are kept`() {
    var timeline = Self.playing()
    for place in Int64(0)..<100 { _ = timeline.cut(from: Self.media(place), isRamped: true) }
    #expect(timeline.generation == 100)
    #expect(timeline.cuts.map(\.generation) == Array(69...100))
  }

  @Test func `a cut makes those that lie behind it needless`() {
    var timeline = Self.playing()
    for place in [100, 300, 200] as [Int64] {
      _ = timeline.cut(from: Self.media(place), isRamped: true)
    }
    #expect(timeline.cuts.map(\.generation) == [1, 3])
    #expect(timeline.limit(of: 0) == Self.media(100))
    #expect(timeline.limit(of: 2) == Self.media(200))
    #expect(timeline.limit(of: 3) == nil)
  }

  @Test func `the time of a place is when it begins to sound`() {
    var timeline = Self.playing()
    #expect(timeline.groupTime(passing: Self.media(500)) == Self.group(600))
    _ = timeline.pause(at: Self.group(600))
    #expect(timeline.groupTime(passing: Self.media(499)) == Self.group(599))
    #expect(timeline.groupTime(passing: Self.media(500)) == nil)
    #expect(timeline.groupTime(of: Self.media(500)) == Self.group(600))
    #expect(timeline.groupTime(of: Self.media(501)) == nil)
    _ = timeline.play(from: Self.media(500), at: Self.group(900))
    #expect(timeline.groupTime(passing: Self.media(500)) == Self.group(900))
    #expect(timeline.isSounding(at: Self.group(900)))
    #expect(!timeline.isSounding(at: Self.group(899)))
  }

  @Test func `each item begins once, and those that are over are forgotten`() {
    var timeline = Self.playing()
    for id in 0..<4 {
      timeline.append(.init(start: Self.media(Int64(id) * 100), opened: Self.opened(id)))
    }
    #expect(timeline.segmentsBegun(by: .zero).map(\.opened.item.id) == [0])
    #expect(timeline.segmentsBegun(by: Self.media(99)).isEmpty)
    #expect(timeline.nextSegmentStart == Self.media(100))
    #expect(timeline.segmentsBegun(by: Self.media(250)).map(\.opened.item.id) == [1, 2])
    #expect(timeline.segments.map(\.opened.item.id) == [2, 3])
    #expect(timeline.segment(at: Self.media(299))?.opened.item.id == 2)
    #expect(timeline.segment(at: Self.media(300))?.opened.item.id == 3)
  }

  /// A listener who presses the key as fast as a program can.
  @Test func `hasty pauses and resumes do not move what sounds now`() throws {
    var timeline = Self.playing()
    for step in Int64(0)..<4 {
      let time = Self.group(1000 + step + 65)
      if let pause = timeline.pause(at: time) {
        #expect(pause.groupTime == time)
      } else if case .paused(let anchor) = timeline.state {
        _ = timeline.play(from: anchor.mediaTime, at: time)
      }
      #expect(timeline.playhead(at: Self.group(1000 + step)) == Self.media(900 + step))
      #expect(timeline.anchors.count <= 5)
    }
  }

  /// With any commands, media time never runs backwards except by `play(from:)`.
  @Test(arguments: 0..<20) func `the playhead runs on between anchors`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var timeline = Self.playing()
    var now: Int64 = 100
    var before = timeline.playhead(at: Self.group(now))
    for _ in 0..<200 {
      now += 70 + Int64(random.next() % 500)
      let playhead = timeline.playhead(at: Self.group(now))
      #expect(playhead >= before)
      before = playhead
      switch timeline.state {
      case .playing: _ = timeline.pause(at: Self.group(now + 65))
      case .paused(let anchor): _ = timeline.play(from: anchor.mediaTime, at: Self.group(now + 65))
      case .starting, .holding: Issue.record("it plays")
      }
    }
  }
}
