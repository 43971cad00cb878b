import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// A room obeys the daemon of its household that has the highest term, and no other.
@Suite struct TermTests {
  private func hello(
    _ receiver: inout TestReceiver, term: Term, session: UInt64 = 5, clock: UInt64 = 77
  ) -> ConnectionID {
    let id = receiver.accept()
    receiver.say(
      .hello(
        Hello(
          version: 2, senderID: .counting(from: 1), senderName: "home", session: session,
          clockID: clock, clockPort: 46_000, term: term)), on: id)
    return id
  }

  private func ask(
    _ receiver: inout TestReceiver, _ term: Term, claims: Bool = false, sender: UInt8 = 1
  ) -> TermReply? {
    let id = receiver.accept(sender: sender)
    let request = TermRequest(term: term, isClaim: claims)
    receiver.handle(.received(id, request.encoded()))
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    for bytes in receiver.takeSent(id) { framer.append(bytes) }
    #expect(receiver.closed.contains(id))
    return (try? framer.next()).flatMap(\.self).flatMap { try? TermReply.decode($0) }
  }

  private func refusal(_ receiver: TestReceiver, _ id: ConnectionID) -> Refusal? {
    if case .refuse(let refusal)? = receiver.farewell(id) { refusal } else { nil }
  }

  @Test func `a lower term is refused, and told the higher one`() {
    var receiver = TestReceiver()
    let leader = hello(&receiver, term: 2)
    #expect(receiver.welcome(leader) != nil)
    let old = hello(&receiver, term: 1, session: 6)
    #expect(refusal(receiver, old)?.reason == .outdated)
    #expect(refusal(receiver, old)?.term == 2)
    #expect(!receiver.closed.contains(leader))
  }

  @Test func `a higher term waits until the leader is silent`() {
    var receiver = TestReceiver()
    let leader = hello(&receiver, term: 1)
    receiver.advance(by: .milliseconds(1900))
    let early = hello(&receiver, term: 2, session: 6)
    #expect(refusal(receiver, early)?.reason == .isLed)
    #expect(ask(&receiver, 1) == TermReply(term: 1, isHeard: true))
    #expect(ask(&receiver, 2, claims: true) == TermReply(term: 1, isHeard: true))
    receiver.say(.keepAlive, on: leader)
    receiver.advance(by: .milliseconds(1900))
    #expect(ask(&receiver, 1)?.isHeard == true)
    receiver.advance(by: .milliseconds(200))
    let late = hello(&receiver, term: 2, session: 7)
    #expect(receiver.welcome(late) != nil)
    #expect(receiver.closed.contains(leader))
  }

  @Test func `a claim ends the session of the silent leader, and not its music`() {
    var receiver = TestReceiver(capacity: Capacity(bytes: 32 << 20, duration: .seconds(600)))
    let leader = hello(&receiver, term: 1)
    let media = receiver.attach()
    receiver.send(3000, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: leader)
    receiver.advance(by: .milliseconds(2100))
    #expect(ask(&receiver, 2, claims: true) == TermReply(term: 2, isHeard: false))
    #expect(receiver.closed.contains(leader) && receiver.closed.contains(media))
    let old = hello(&receiver, term: 1, session: 6)
    #expect(refusal(receiver, old)?.reason == .outdated)
    let next = hello(&receiver, term: 2, session: 7)
    #expect(receiver.welcome(next)?.held?.nextSequence == 3000)
  }

  @Test func `a question changes nothing`() {
    var receiver = TestReceiver()
    #expect(ask(&receiver, 9) == TermReply(term: 0, isHeard: false))
    let leader = hello(&receiver, term: 1)
    #expect(receiver.welcome(leader) != nil)
  }

  @Test func `a leader that closes its connection is not heard`() {
    var receiver = TestReceiver()
    let leader = hello(&receiver, term: 1)
    receiver.handle(.closed(leader))
    #expect(ask(&receiver, 2, claims: true) == TermReply(term: 2, isHeard: false))
  }

  @Test func `a sender without a term is not fenced, and does not count as a leader`() {
    var receiver = TestReceiver()
    _ = ask(&receiver, 2, claims: true)
    let command = hello(&receiver, term: 0)
    #expect(receiver.welcome(command) != nil)
    #expect(ask(&receiver, 3, claims: true) == TermReply(term: 3, isHeard: false))
    #expect(!receiver.closed.contains(command))
  }

  @Test func `terms are those of one key, are kept, and have a bound`() {
    var receiver = TestReceiver()
    #expect(ask(&receiver, 5, claims: true, sender: 1)?.term == 5)
    #expect(ask(&receiver, 1, sender: 2)?.term == 0)
    let kept = receiver.outputs.compactMap { output -> ReceiverMemory? in
      if case .persist(let memory) = output { memory } else { nil }
    }.last
    #expect(kept?.term(of: .counting(from: 1)) == 5)
    var again = TestReceiver(memory: kept ?? ReceiverMemory())
    let old = hello(&again, term: 3)
    #expect(refusal(again, old)?.term == 5)
    for sender: UInt8 in 2...40 { _ = ask(&again, 1, claims: true, sender: sender) }
    #expect(again.session.memory.terms.count == ReceiverMemory.termLimit)
  }

  @Test func `who is not paired learns no term`() {
    var receiver = TestReceiver(access: .paired)
    #expect(ask(&receiver, 5, claims: true) == nil)
  }
}
