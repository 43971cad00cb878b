import Testing

@testable import Sender

@Suite struct PlayQueueTests {
  @Test func `production goes through the items in order and stays at the end`() {
    var queue = PlayQueue(["a", "b"])
    #expect(queue.current?.location == "a")
    #expect(queue.advance()?.location == "b")
    #expect(queue.advance() == nil)
    #expect(queue.advance() == nil)
    #expect(queue.current == nil)
  }

  @Test func `one file twice is two items`() {
    var queue = PlayQueue(["a", "a"])
    let second = queue.items[1]
    #expect(queue.items[0] != second)
    queue.jump(to: second)
    #expect(queue.current == second)
    #expect(queue.item(before: second) == queue.items[0])
    #expect(queue.item(after: second) == nil)
  }

  @Test func `an item of another queue has no neighbours`() {
    var queue = PlayQueue(["a"])
    let stranger = PlayItem(id: 7, location: "a")
    #expect(queue.item(after: stranger) == nil)
    #expect(queue.item(before: stranger) == nil)
    queue.jump(to: stranger)
    #expect(queue.current == nil)
  }

  @Test func `an empty queue has nothing`() {
    var queue = PlayQueue([])
    #expect(queue.current == nil)
    #expect(queue.advance() == nil)
  }
}
