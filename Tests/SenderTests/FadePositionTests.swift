import Audio
import Clock
import Testing

@testable import Sender

/// Tests of positions in items that play faster or slower than time. Where one is wrong, an item
/// that is read again goes on at another place than the one that was heard.
@Suite struct FadePositionTests {
  private static let item = PlayItem(id: 0, location: "a")
  /// 148 days: a `Double` cannot hold this number of flicks exactly.
  private static let long = MediaDuration(flicks: (1 << 53) + 1)
  private static let endless = MediaDuration(flicks: .max)

  /// An item that fades out from its tenth second on.
  private static func fade(rate: Double) -> OpenedItem.Fade {
    OpenedItem.Fade(item: item, position: .seconds(10), rate: rate, length: .seconds(8))
  }

  /// An item whose first frame is that of its tenth second.
  private static func opened(rate: Double) -> OpenedItem {
    var opened = OpenedItem(
      item: item, duration: nil, position: .seconds(10), isSeekable: true,
      metadata: ItemMetadata())
    opened.rate = rate
    return opened
  }

  @Test func `an item that fades out goes on at its own rate`() {
    #expect(Self.fade(rate: 1).position(after: .seconds(4)) == .seconds(14))
    #expect(Self.fade(rate: 2).position(after: .seconds(4)) == .seconds(18))
    #expect(Self.fade(rate: 0.5).position(after: .seconds(4)) == .seconds(12))
    for rate in [0.5, 1, 2] {
      #expect(Self.fade(rate: rate).position(after: .zero) == .seconds(10))
    }
  }

  @Test func `an item goes on at its own rate`() {
    #expect(Self.opened(rate: 1).position(after: .seconds(4)) == .seconds(14))
    #expect(Self.opened(rate: 2).position(after: .seconds(4)) == .seconds(18))
    #expect(Self.opened(rate: 0.5).position(after: .seconds(4)) == .seconds(12))
    #expect(Self.opened(rate: 2).position(after: .seconds(-4)) == .seconds(2))
  }

  @Test func `the span to a position is the time in which the item comes there`() {
    #expect(Self.opened(rate: 1).span(to: .seconds(14)) == .seconds(4))
    #expect(Self.opened(rate: 2).span(to: .seconds(14)) == .seconds(2))
    #expect(Self.opened(rate: 0.5).span(to: .seconds(14)) == .seconds(8))
    #expect(Self.opened(rate: 2).span(to: .seconds(6)) == .seconds(-2))
  }

  @Test(arguments: [0.25, 0.5, 1, 1.5, 2, 4])
  func `a span and its position lead to each other`(rate: Double) {
    let opened = Self.opened(rate: rate)
    for seconds: Int64 in [-8, 0, 1, 4, 3_600] {
      let span = MediaDuration.seconds(seconds)
      #expect(opened.span(to: opened.position(after: span)) == span)
    }
  }

  /// A station may play for months, and its frames must still join without a gap.
  @Test func `at an item's usual rate no flick is lost, however long it plays`() {
    let place = MediaDuration.seconds(10) + Self.long
    #expect(Self.fade(rate: 1).position(after: Self.long) == place)
    #expect(Self.opened(rate: 1).position(after: Self.long) == place)
    #expect(Self.opened(rate: 1).span(to: place) == Self.long)
  }

  /// Files and programs give positions and rates, and none of them may crash the sender.
  @Test func `a span that cannot be counted, or scaled, does not trap`() {
    #expect(Self.fade(rate: 4).position(after: Self.endless) == .seconds(10))
    #expect(Self.opened(rate: 4).position(after: Self.endless) == .seconds(10))
    #expect(Self.opened(rate: 0.25).span(to: Self.endless) == .zero)
    #expect(Self.opened(rate: 0).span(to: .seconds(14)) == .seconds(4))
  }
}
