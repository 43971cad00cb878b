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
    #expect(connection(in: group) == .connected(status))
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

  @Test func `what has no length is shown with what has come, and has one once all of it has`() {
    var group = TestGroup(
      producesAtOnce: false,
      openSource: { (_) throws(MediaError) in
        TestSource(rate: 8_000, channels: 1, length: 80_000, isSeekable: false)
      })
    group.joinReady()
    for _ in 0..<3 { group.produceOne() }
    var status = group.session.status(at: group.now)
    let before = status.arrived ?? .zero
    #expect(status.duration == nil)
    #expect(before > .milliseconds(100) && before < .seconds(5))
    group.produceOne()
    status = group.session.status(at: group.now)
    #expect(status.duration == nil)
    #expect(status.arrived ?? .zero > before)
    group.produce()
    status = group.session.status(at: group.now)
    #expect(status.duration == .seconds(10))
    #expect(status.arrived == .seconds(10))
  }

  @Test func `what has come of an item ends where the next one begins`() {
    var group = TestGroup(["8000x1:80000", "8000x1:80000"])
    group.joinReady()
    group.advance(by: .milliseconds(500))
    let status = group.session.status(at: group.now)
    #expect(status.arrived == .seconds(10))
    #expect(status.duration == .seconds(10))
    #expect(status.target == nil)
  }

  @Test func `what comes next is known, with its title once it is open, and what was chosen`() {
    var group = TestGroup(["8000x1:80000", "8000x1:80000"])
    group.joinReady()
    group.advance(by: .milliseconds(500))
    var status = group.session.status(at: group.now)
    #expect(status.chosen?.id == 0)
    #expect(status.next?.item.id == 1)
    #expect(status.next?.opened?.duration == .seconds(10))
    group.command(.next)
    status = group.session.status(at: group.now)
    #expect(status.itemNumber == 1)
    #expect(status.chosen?.id == 1)
    #expect(status.next == nil)
  }

  @Test func `a seek is told before it is heard`() {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.seek(to: .seconds(7)))
    #expect(group.session.status(at: group.now).target == .seconds(7))
    group.command(.seekBy(.seconds(1)))
    #expect(group.session.status(at: group.now).target == .seconds(8))
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .seconds(1))
    let status = group.session.status(at: group.now)
    #expect(status.target == nil)
    #expect(status.position > .seconds(8) && status.position < .seconds(9))
  }

  /// Keys repeat some thirty times a second.
  @Test(arguments: [true, false])
  func `steps of a key that is held add up from where the last one leads`(isFast: Bool) {
    var group = TestGroup(["8000x1:4800000"])
    group.joinReady()
    group.advance(by: .milliseconds(500))
    for _ in 0..<30 {
      group.producesAtOnce = isFast
      group.command(.seekBy(.seconds(10)))
      group.advance(by: .milliseconds(33))
      group.produce()
    }
    group.producesAtOnce = true
    group.produce()
    group.advance(by: .seconds(1))
    var position = group.session.status(at: group.now).position
    // The time that played in between counts as well, and no more than that.
    #expect(position >= .seconds(300) && position < .seconds(304))
    for _ in 0..<20 {
      group.command(.seekBy(MediaDuration(flicks: -MediaDuration.seconds(10).flicks)))
      group.advance(by: .milliseconds(33))
    }
    group.advance(by: .seconds(1))
    position = group.session.status(at: group.now).position
    #expect(position >= .seconds(100) && position < .seconds(108))
  }

  private func connection(in group: TestGroup) -> GroupStatus.Room.Connection? {
    group.session.status(at: group.now).rooms.first?.connection
  }
}
