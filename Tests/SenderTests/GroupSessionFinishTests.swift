import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of how a group lets go of its rooms: not before what they are to play has sounded.
@Suite struct GroupSessionFinishTests {
  /// Returns when the rooms were let go, to the millisecond; nil if they were not within two seconds.
  private static func timeOfEnd(_ group: inout TestGroup) -> LocalTime? {
    for _ in 0..<2_000 where group.events.last != .finished { group.advance(by: .milliseconds(1)) }
    return group.events.last == .finished ? group.now : nil
  }

  @Test func `after its last frame a group waits for cards that are a little behind`() throws {
    var group = TestGroup.playing(["8000x1:8000"])
    let end = try #require(group.session.timeline.end)
    let sounded = LocalTime(onSender: try #require(group.session.timeline.groupTime(of: end)))
    let time = try #require(Self.timeOfEnd(&group))
    #expect((50...52).contains((time - sounded).count / 1_000_000))
  }

  @Test func `a group that is stopped waits until it has faded out`() throws {
    var group = TestGroup.playing()
    group.command(.stop)
    let silent = LocalTime(onSender: try #require(group.anchors.last).groupTime)
    let time = try #require(Self.timeOfEnd(&group))
    #expect((20...22).contains((time - silent).count / 1_000_000))
  }

  @Test func `before its start a group is paused once, and one without music is not`() {
    var group = TestGroup()
    group.join()
    group.command(.pause)
    group.command(.pause)
    #expect(group.events.count { $0 == .paused } == 1)
    var empty = TestGroup([], endsWithPlaylist: false)
    empty.join()
    empty.command(.pause)
    #expect(!empty.events.contains(.paused))
  }
}
