import Clock
import Testing
import WireProtocol

@testable import Receiver

/// Tests of a room that two senders want.
@Suite struct RoomClaimTests {
  private func goodbye(_ receiver: TestReceiver, _ id: ConnectionID) -> Goodbye.Reason? {
    if case .goodbye(let goodbye)? = receiver.farewell(id) { goodbye.reason } else { nil }
  }

  @Test func `who takes over for a while lends the room, and its owner may ask for it again`() {
    var receiver = TestReceiver()
    let owner = receiver.hello(sender: 1)
    let visitor = receiver.hello(
      sender: 2, session: 6, clock: 78, takesOver: true, givesBack: true)
    #expect(
      receiver.farewell(owner)
        == .goodbye(Goodbye(reason: .lent, detail: "sender 2")))
    #expect(receiver.welcome(visitor) != nil)
    let early = receiver.hello(sender: 1, session: 7)
    #expect(
      receiver.farewell(early) == .refuse(Refusal(reason: .busy, detail: "sender 2")))
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: visitor)
    let back = receiver.hello(sender: 1, session: 8)
    #expect(receiver.welcome(back) != nil)
  }

  @Test(arguments: [false, true])
  func `a room that was lent is kept for its owner, though another sender asks first`(
    comesBack: Bool
  ) {
    var receiver = TestReceiver()
    _ = receiver.hello(sender: 1)
    let visitor = receiver.hello(
      sender: 2, session: 6, clock: 78, takesOver: true, givesBack: true)
    receiver.take()
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: visitor)
    #expect(receiver.advertised.isEmpty)
    receiver.advance(by: .milliseconds(100))
    let other = receiver.hello(sender: 3, session: 7, clock: 79)
    #expect(
      receiver.farewell(other) == .refuse(Refusal(reason: .busy, detail: "sender 1")))
    receiver.advance(by: .seconds(comesBack ? 10 : 11))
    #expect(receiver.advertised == (comesBack ? [] : [false]))
    let next = receiver.hello(sender: comesBack ? 1 : 3, session: 8, clock: 77)
    #expect(receiver.welcome(next) != nil)
  }

  @Test func `a borrower that comes back after it was lost still gives the room back`() {
    var receiver = TestReceiver()
    _ = receiver.hello(sender: 1)
    let first = receiver.hello(sender: 2, session: 6, clock: 78, takesOver: true, givesBack: true)
    let media = receiver.attach(session: 6, sender: 2)
    receiver.send(1, on: media)
    receiver.handle(.closed(first))
    let second = receiver.hello(sender: 2, session: 7, clock: 78, givesBack: true)
    #expect(receiver.welcome(second) != nil)
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: second)
    let other = receiver.hello(sender: 3, session: 7, clock: 79)
    #expect(
      receiver.farewell(other) == .refuse(Refusal(reason: .busy, detail: "sender 1")))
  }

  @Test func `another program of the owner that visits gives the room back, others keep it`() {
    for givesBack in [false, true] {
      var receiver = TestReceiver()
      let owner = receiver.hello(sender: 1)
      let visitor = receiver.hello(sender: 1, session: 6, clock: 78, givesBack: givesBack)
      #expect(receiver.welcome(visitor) != nil)
      #expect(goodbye(receiver, owner) == (givesBack ? .lent : .replaced))
    }
  }

  @Test func `who gives back takes nothing that it does not ask for`() {
    var receiver = TestReceiver()
    _ = receiver.hello(sender: 1)
    let visitor = receiver.hello(sender: 2, session: 6, clock: 78, givesBack: true)
    #expect(receiver.welcome(visitor) == nil)
  }

  @Test func `a receiver may let everybody take over`() {
    var receiver = TestReceiver(whenBusy: .takeOver)
    let owner = receiver.hello(sender: 1)
    let next = receiver.hello(sender: 2, session: 6, clock: 78)
    #expect(goodbye(receiver, owner) == .replaced)
    #expect(receiver.welcome(next) != nil)
  }

  @Test func `by priority the higher one has the room for as long as it wants, and gives it back`()
  {
    var receiver = TestReceiver(whenBusy: .priority)
    let owner = receiver.hello(sender: 1)
    for priority: UInt8 in [0, 99, 100] {
      let equal = receiver.hello(sender: 2, session: 6, clock: 78, priority: priority)
      #expect(receiver.welcome(equal) == nil)
    }
    let higher = receiver.hello(sender: 2, session: 6, clock: 78, priority: 101)
    #expect(receiver.welcome(higher) != nil)
    #expect(goodbye(receiver, owner) == .lent)
    let early = receiver.hello(sender: 1, session: 7)
    #expect(receiver.welcome(early) == nil)
  }

  @Test func `priority counts for nothing where the receiver does not go by it`() {
    var receiver = TestReceiver()
    _ = receiver.hello(sender: 1)
    let higher = receiver.hello(sender: 2, session: 6, clock: 78, priority: 255)
    #expect(receiver.welcome(higher) == nil)
  }

  @Test func `a room that is kept is kept from lower priorities as well`() {
    var receiver = TestReceiver(whenBusy: .priority)
    let owner = receiver.hello(sender: 1, priority: 150)
    let media = receiver.attach()
    receiver.send(100, on: media)
    receiver.handle(.closed(owner))
    let lower = receiver.hello(sender: 2, session: 6, clock: 78, priority: 150)
    #expect(receiver.welcome(lower) == nil)
    let higher = receiver.hello(sender: 2, session: 6, clock: 78, priority: 151)
    #expect(receiver.welcome(higher) != nil)
  }
}
