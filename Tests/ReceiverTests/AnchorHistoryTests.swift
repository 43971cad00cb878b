import Clock
import Testing

@testable import Receiver

@Suite struct AnchorHistoryTests {
  private static func group(_ milliseconds: Int64) -> GroupTime {
    GroupTime(nanoseconds: milliseconds * 1_000_000)
  }

  private static func anchor(
    _ media: Int64, at time: Int64, _ rate: Anchor.Rate = .playing
  ) -> Anchor {
    Anchor(mediaTime: .zero + .milliseconds(media), groupTime: group(time), rate: rate)
  }

  @Test func `before the first anchor time stands where it will begin`() {
    var history = AnchorHistory()
    #expect(history.playhead(at: Self.group(0)) == nil)
    history.insert(Self.anchor(500, at: 100))
    #expect(history.playhead(at: Self.group(0)) == .zero + .milliseconds(500))
    #expect(!history.isPlaying(at: Self.group(99)))
    #expect(history.isPlaying(at: Self.group(100)))
    #expect(history.playhead(at: Self.group(200)) == .zero + .milliseconds(600))
  }

  @Test func `an anchor replaces those that begin with it or later`() {
    var history = AnchorHistory()
    for time in [100, 200, 300, 400] as [Int64] { history.insert(Self.anchor(time, at: time)) }
    history.insert(Self.anchor(9, at: 200, .paused))
    #expect(history.all.map(\.groupTime) == [Self.group(100), Self.group(200)])
    #expect(history.playhead(at: Self.group(900)) == .zero + .milliseconds(9))
    #expect(!history.isPlaying(at: Self.group(900)))
  }

  @Test func `four may wait behind the one that holds`() {
    var history = AnchorHistory()
    history.insert(Self.anchor(0, at: 0))
    for time in [100, 200, 300, 400] as [Int64] { history.insert(Self.anchor(5000, at: time)) }
    #expect(history.playhead(at: Self.group(50)) == .zero + .milliseconds(50))
    for time in [500, 600, 700] as [Int64] { history.insert(Self.anchor(5000, at: time)) }
    #expect(history.all.count == 5)
  }
}
