import Clock
import Sender
import Testing
import WireProtocol

@Suite struct GroupStatusTests {
  @Test func `a room is connecting, live, or away with its reason`() {
    var group = TestGroup()
    #expect(connection(in: group) == .connecting)
    group.join()
    let status = RoomStatus.test(.ready)
    group.say(.status(status))
    #expect(connection(in: group) == .live(status))
    group.handle(.closed(TestGroup.room, .control, reason: "no route"))
    #expect(connection(in: group) == .away(reason: "no route"))
  }

  @Test func `the position is the item's, and the state what a listener would say`() {
    var group = TestGroup.playing()
    #expect(group.session.status(at: group.now).state == .playing)
    group.command(.pause)
    group.advance(by: .seconds(1))
    let status = group.session.status(at: group.now)
    #expect(status.state == .paused)
    #expect(status.itemNumber == 1)
    #expect(status.itemCount == 1)
    #expect(status.position >= .milliseconds(500))
    #expect(status.position < .milliseconds(700))
    group.command(.stop)
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).state == .finished)
  }

  private func connection(in group: TestGroup) -> GroupStatus.Room.Connection? {
    group.session.status(at: group.now).rooms.first?.connection
  }
}
