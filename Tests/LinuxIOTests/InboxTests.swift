import Testing

@testable import LinuxIO

struct InboxTests {
  @Test func `values that nobody takes are dropped, the newest first, and counted`() throws {
    let inbox = Inbox<Int>(limit: 3, waker: try Reactor().waker)
    for number in 1...5 { inbox.post(number) }
    #expect(!inbox.hasRoom)
    #expect(inbox.droppedCount == 2)
    #expect(inbox.take() == [1, 2, 3])
    #expect(inbox.room == 3)
  }

  @Test func `where stamps do not come, those that are awaited are forgotten`() {
    var stamps = AwaitedStamps<Int>()
    let limit = AwaitedStamps<Int>.limit
    for number in 0..<limit { stamps.note(TransmitID(number: UInt32(number)), for: number) }
    #expect(stamps[TransmitID(number: 0)] == 0)
    stamps.note(TransmitID(number: UInt32(limit)), for: limit)
    #expect(stamps[TransmitID(number: 0)] == nil)
    #expect(stamps[TransmitID(number: UInt32(limit))] == limit)
  }
}
