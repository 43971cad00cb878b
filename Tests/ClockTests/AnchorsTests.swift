import Clock
import Testing

@Suite struct AnchorsTests {
  private static func group(_ milliseconds: Int64) -> GroupTime {
    GroupTime(nanoseconds: milliseconds * 1_000_000)
  }

  private static func anchor(
    _ media: Int64, at time: Int64, _ rate: Anchor.Rate = .playing
  ) -> Anchor {
    Anchor(mediaTime: .zero + .milliseconds(media), groupTime: group(time), rate: rate)
  }

  private static func anchors(at times: [Int64]) -> Anchors {
    var anchors = Anchors()
    for time in times { anchors.insert(anchor(time, at: time)) }
    return anchors
  }

  @Test func `before the first anchor time stands where it will begin`() {
    var anchors = Anchors()
    #expect(anchors.playhead(at: Self.group(0)) == nil)
    anchors.insert(Self.anchor(500, at: 100))
    #expect(anchors.playhead(at: Self.group(0)) == .zero + .milliseconds(500))
    #expect(!anchors.isPlaying(at: Self.group(99)))
    #expect(anchors.isPlaying(at: Self.group(100)))
    #expect(anchors.playhead(at: Self.group(200)) == .zero + .milliseconds(600))
  }

  @Test func `the last anchor that has begun holds`() {
    let anchors = Self.anchors(at: [1, 3, 5])
    #expect(anchors.inForce(at: Self.group(0)) == nil)
    #expect(anchors.inForce(at: Self.group(3)) == Self.anchor(3, at: 3))
    #expect(anchors.inForce(at: Self.group(4)) == Self.anchor(3, at: 3))
    #expect(anchors.next(after: Self.group(3)) == Self.anchor(5, at: 5))
    #expect(anchors.next(after: Self.group(5)) == nil)
  }

  @Test func `those that are forgotten hold no more`() {
    var anchors = Self.anchors(at: [1, 3])
    anchors.removeAll()
    #expect(anchors.isEmpty && anchors.playhead(at: Self.group(4)) == nil)
    #expect(anchors.inForce(at: Self.group(4)) == nil && !anchors.isPlaying(at: Self.group(4)))
  }

  @Test func `an anchor replaces those that begin with it or later`() {
    var anchors = Self.anchors(at: [100, 200, 300, 400])
    #expect(anchors.insert(Self.anchor(9, at: 200, .paused)) == Self.group(200))
    #expect(anchors.map(\.groupTime) == [Self.group(100), Self.group(200)])
    #expect(anchors.playhead(at: Self.group(900)) == .zero + .milliseconds(9))
    #expect(!anchors.isPlaying(at: Self.group(900)))
  }

  @Test func `four may wait behind the one that holds`() {
    var anchors = Self.anchors(at: [0, 100, 200, 300, 400])
    #expect(anchors.playhead(at: Self.group(50)) == .zero + .milliseconds(50))
    // Nobody says what is past.
    #expect(anchors.insert(Self.anchor(500, at: 500)) == Self.group(0))
    #expect(anchors.map(\.groupTime) == [100, 200, 300, 400, 500].map(Self.group))
  }

  @Test func `what is past makes room, and else the last one that waits`() {
    var anchors = Self.anchors(at: [1, 2, 3, 4, 5])
    #expect(anchors.insert(Self.anchor(6, at: 6), now: Self.group(2)) == Self.group(6))
    #expect(anchors.map(\.groupTime) == [2, 3, 4, 5, 6].map(Self.group))
    #expect(anchors.insert(Self.anchor(7, at: 7), now: Self.group(2)) == Self.group(6))
    #expect(anchors.map(\.groupTime) == [2, 3, 4, 5, 7].map(Self.group))
  }
}
