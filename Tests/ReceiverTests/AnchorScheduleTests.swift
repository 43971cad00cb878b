import Clock
import Receiver
import Testing

@Suite struct AnchorScheduleTests {
  private func anchor(_ seconds: Int64) -> Anchor {
    Anchor(
      mediaTime: .zero, groupTime: GroupTime(nanoseconds: seconds * 1_000_000_000), rate: .playing)
  }

  private func time(_ seconds: Int64) -> GroupTime { anchor(seconds).groupTime }

  @Test func `the last anchor that has begun holds`() {
    var schedule = AnchorSchedule()
    for second in [1, 3, 5] as [Int64] { _ = schedule.insert(anchor(second), now: nil) }
    #expect(schedule.active(at: time(0)) == nil)
    #expect(schedule.active(at: time(3)) == anchor(3))
    #expect(schedule.active(at: time(4)) == anchor(3))
    #expect(schedule.next(after: time(3)) == anchor(5))
    #expect(schedule.next(after: time(5)) == nil)
  }

  @Test func `an anchor replaces those that begin at or after it does`() {
    var schedule = AnchorSchedule()
    for second in [1, 3, 5, 3] as [Int64] { _ = schedule.insert(anchor(second), now: nil) }
    #expect(schedule.count == 2)
    #expect(schedule.active(at: time(9)) == anchor(3))
  }

  @Test func `what is past makes room, and else the last one that waits`() {
    var schedule = AnchorSchedule()
    for second in [1, 2, 3, 4, 5] as [Int64] { _ = schedule.insert(anchor(second), now: nil) }
    #expect(schedule.insert(anchor(6), now: time(2)) == time(6))
    #expect(schedule.count == 5)
    #expect(schedule.active(at: time(2)) == anchor(2))
    #expect(schedule.insert(anchor(7), now: time(2)) == time(6))
    #expect(schedule.active(at: time(9)) == anchor(7))
    #expect(schedule.active(at: time(6)) == anchor(5))
  }
}
