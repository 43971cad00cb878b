import Clock
import Testing
import WireProtocol

@testable import Sender

/// A group of a daemon that has a second one beside it.
@Suite struct GroupSessionTermTests {
  private func terms(_ group: TestGroup) -> [Term] {
    group.told().compactMap { if case .hello(let hello) = $0 { hello.term } else { nil } }
  }

  @Test func `the term is in each hello, and rooms hear of the leader twice a second`() {
    var group = TestGroup(term: 3)
    group.join()
    #expect(terms(group) == [3])
    for _ in 0..<3 {
      group.take()
      group.advance(by: .milliseconds(501))
      #expect(group.told().contains(.keepAlive))
    }
  }

  @Test func `a room that obeys a higher term is told of, and asked again later`() {
    var group = TestGroup(term: 1)
    group.handle(.connected(TestGroup.room, .control, .test(.counting(from: 9))))
    group.say(.refuse(Refusal(reason: .outdated, detail: "", term: 2)))
    #expect(group.outputs.contains(.outdated(by: 2)))
    group.take()
    group.advance(by: .milliseconds(5_100))
    #expect(group.outputs.contains(.connect(TestGroup.room, .control)))
  }

  @Test func `a room that hears the other daemon is no reason to yield`() {
    var group = TestGroup(term: 2)
    group.handle(.connected(TestGroup.room, .control, .test(.counting(from: 9))))
    group.say(.refuse(Refusal(reason: .isLed, detail: "", term: 1)))
    #expect(!group.outputs.contains { if case .outdated = $0 { true } else { false } })
    #expect(
      group.events.contains(
        .room(
          SenderEvent.Room(id: TestGroup.room, name: "room 1"),
          .refused(reason: "the other daemon of this household leads it"))))
  }
}
