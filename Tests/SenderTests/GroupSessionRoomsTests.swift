import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of what a room is told and sent when it comes or comes back, and of when people hear that
/// it starves. Were they wrong, a room would play what was skipped, or get again what it holds.
@Suite struct GroupSessionRoomsTests {
  private static func addLateRoom(to group: inout TestGroup) {
    group.take()
    group.handle(.roomAdded(TestGroup.other, name: "late", receiverID: nil))
    group.greet(TestGroup.other)
  }

  // MARK: - Cuts

  @Test func `a room that comes with nothing is told of a cut that lies ahead`() {
    var group = TestGroup.playing()
    group.command(.renew(from: .seconds(7)))
    Self.addLateRoom(to: &group)
    #expect(
      group.flushes(TestGroup.other) == [
        Flush(from: .zero + .seconds(7), generation: 1, isRamped: false)
      ])
  }

  /// It is sent nothing from before the cut.
  @Test func `a room that comes with nothing is not told of the cut where the others wait`() {
    var group = TestGroup.playing()
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.command(.seek(to: .seconds(7)))
    group.advance(by: .seconds(1))
    Self.addLateRoom(to: &group)
    #expect(group.anchors(TestGroup.other).map(\.rate) == [.paused])
    #expect(group.flushes(TestGroup.other).isEmpty)
  }

  @Test func `a room that holds what sounds now goes on behind all that it holds`() {
    var group = TestGroup.playing()
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .seconds(1))
    group.take()
    let playhead = group.session.mediaTime(at: group.now)
    group.join(with: .test(held: HeldStream(generation: 0, nextSequence: 250, from: playhead)))
    #expect(group.packets().first?.sequence == 250)
  }

  // MARK: - What a room says of itself

  @Test func `a room gets ready until it says that it is`() {
    var group = TestGroup()
    group.join()
    #expect(!group.session.isPriming(TestGroup.room))
    group.say(.status(.test(.priming)))
    #expect(group.session.isPriming(TestGroup.room))
    group.say(.status(.test(.ready)))
    #expect(!group.session.isPriming(TestGroup.room))
    #expect(!group.session.isPriming(TestGroup.other))
  }

  @Test func `a room whose link carries the music is sent what the others are sent`() {
    var group = TestGroup()
    group.joinReady()
    #expect(!group.session.getsSmall(TestGroup.room))
    #expect(!group.session.getsSmall(TestGroup.other))
  }

  // MARK: - Rooms that starve

  private func isToldToStarve(_ group: TestGroup) -> Bool {
    group.events.changes(of: TestGroup.room).contains {
      if case .state(.starved, _) = $0 { true } else { false }
    }
  }

  /// A group that is about to play, and the time at which its first frame sounds.
  private static func starting(_ item: String) throws -> (group: TestGroup, begin: LocalTime) {
    var group = TestGroup([item])
    group.joinReady()
    let anchor = try #require(group.anchors.first)
    return (group, LocalTime(onSender: anchor.groupTime))
  }

  /// Before the first frame there is nothing that it could lack.
  @Test func `a room may lack music for half a second from the last moment before the start`()
    throws
  {
    let start = try Self.starting("8000x1:80000")
    var group = start.group
    let decided = group.now
    group.jump(by: start.begin - group.now)
    group.say(.status(.test(.starved)))
    #expect(!isToldToStarve(group))
    group.jump(by: decided + .milliseconds(500) - group.now)
    group.handle(.timeout)
    #expect(isToldToStarve(group))
  }

  /// With less, a room may have played all that there is.
  @Test func `a room that starves is at fault while a fifth of a second is left to play`() throws {
    for (milliseconds, isAtFault) in [(800, true), (801, false)] as [(Int64, Bool)] {
      let start = try Self.starting("8000x1:8000")
      var group = start.group
      group.advance(by: start.begin + .milliseconds(milliseconds) - group.now)
      group.say(.status(.test(.starved)))
      #expect(isToldToStarve(group) == isAtFault)
    }
  }

  // MARK: - Defaults

  @Test func `a daemon without a second one says no term, and makes one encoding`() {
    let configuration = GroupSession.Configuration(
      senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
      firstSession: 100)
    #expect(configuration.term == 0)
    #expect(configuration.smallCodec == nil)
  }
}
