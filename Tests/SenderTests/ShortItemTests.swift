import Audio
import Clock
import Testing

@testable import Sender

/// An item holds less than it says, and somebody goes beyond that.
@Suite struct ShortItemTests {
  private static func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    TestSource(rate: 8_000, channels: 1, length: 80_000, brokenAt: 16_000)
  }

  /// A cut lies anywhere, and what follows it begins with the next whole frame: nothing may be left to wait for.
  @Test(arguments: [501_333_333, 500_000_000, 700_010_001])
  func `a seek beyond what is there ends the item, wherever the cut lies`(time: Int64) {
    var group = TestGroup(["short"], openSource: Self.open)
    group.joinReady()
    group.advance(by: Nanoseconds(time))
    group.command(.seek(to: .seconds(5)))
    group.advance(by: .seconds(5))
    #expect(group.session.isFinished, "\(group.session.status(at: group.now).state)")
  }
}
