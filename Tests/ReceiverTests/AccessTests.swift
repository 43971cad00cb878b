import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Tests of who may play in a room, by keys.
@Suite struct AccessTests {
  private static func trust(_ senders: UInt8...) -> TrustMemory {
    TrustMemory(pairings: Pairings(senders.map { .init(id: .counting(from: $0), name: "s") }))
  }

  private func refusal(_ receiver: TestReceiver, _ id: ConnectionID) -> Refusal.Reason? {
    if case .refuse(let refusal)? = receiver.farewell(id) { refusal.reason } else { nil }
  }

  @Test func `a sender that is not paired is refused as such, and one that is may play`() {
    var receiver = TestReceiver(access: .paired, trust: Self.trust(2))
    let stranger = receiver.hello(sender: 1)
    #expect(refusal(receiver, stranger) == .notPaired)
    #expect(receiver.closed == [stranger])
    #expect(
      receiver.events.contains(
        .senderRefused(peer: "study", reason: "it is not paired with this receiver")))
    let friend = receiver.hello(sender: 2)
    #expect(receiver.welcome(friend) != nil)
  }

  @Test func `an open receiver lets everybody play`() {
    var receiver = TestReceiver(access: .open)
    let id = receiver.hello(sender: 1)
    #expect(receiver.welcome(id) != nil)
  }

  @Test func `a sender id that is not that of the key breaks the protocol`() {
    var receiver = TestReceiver(access: .paired, trust: Self.trust(2))
    let id = receiver.accept(sender: 1)
    receiver.say(
      .hello(
        Hello(
          version: 2, senderID: .counting(from: 2), senderName: "s", session: 5, clockID: 7,
          clockPort: 9)), on: id)
    #expect(refusal(receiver, id) == .protocolViolation)
  }

  @Test func `nothing is heard of a connection whose handshake is not complete`() {
    var receiver = TestReceiver()
    receiver.handle(.accepted(ConnectionID(9), peer: "study"))
    receiver.say(.keepAlive, on: ConnectionID(9))
    #expect(receiver.outputs.isEmpty)
    receiver.advance(by: .seconds(11))
    #expect(receiver.closed == [ConnectionID(9)])
  }

  @Test func `media is attached only by the key of the session`() {
    var receiver = TestReceiver()
    _ = receiver.hello(sender: 1, session: 5)
    let thief = receiver.attach(session: 5, sender: 2)
    #expect(receiver.closed == [thief])
    #expect(receiver.told(thief).isEmpty)
    let media = receiver.attach(session: 5, sender: 1)
    #expect(!receiver.closed.contains(media))
  }

  // MARK: - One machine, one user

  private static let token = Array(repeating: UInt8(5), count: 32)

  private static func proof(of sender: UInt8, token: [UInt8] = token) -> [UInt8] {
    FakeArithmetic().hmac(
      key: token, message: Transcript.local(binding: SecuredPeer.test(sender).binding))
  }

  @Test func `a sender that can read the token plays without pairing, and only on this connection`()
  {
    var receiver = TestReceiver(access: .paired, token: Self.token)
    let own = receiver.hello(sender: 1, before: Self.proof(of: 1))
    #expect(receiver.welcome(own) != nil)
    let media = receiver.attach(sender: 1)
    #expect(!receiver.closed.contains(media))
    receiver.handle(.trustChanged(TrustMemory()))
    #expect(receiver.farewell(own) == nil)
    let later = receiver.hello(sender: 1, session: 6)
    #expect(refusal(receiver, later) == .notPaired)
  }

  @Test func `a wrong proof, one of another connection, and a second one are worth nothing`() {
    let wrong = Self.proof(of: 1, token: Array(repeating: 6, count: 32))
    for proof in [wrong, Self.proof(of: 2), Array(repeating: 0, count: 32)] {
      var receiver = TestReceiver(access: .paired, token: Self.token)
      let id = receiver.hello(sender: 1, before: proof)
      #expect(refusal(receiver, id) == .notPaired)
    }
    var receiver = TestReceiver(access: .paired, token: Self.token)
    let id = receiver.accept(sender: 1)
    receiver.say(.prove(wrong), .prove(Self.proof(of: 1)), on: id)
    #expect(refusal(receiver, id) == .protocolViolation)
    var without = TestReceiver(access: .paired)
    let nobody = without.hello(sender: 1, before: Self.proof(of: 1))
    #expect(refusal(without, nobody) == .notPaired)
  }

  // MARK: - Changes

  @Test func `a sender that is unpaired while it plays is told so, and nothing of it is heard`() {
    var receiver = TestReceiver(access: .paired, trust: Self.trust(1, 2))
    let control = receiver.hello(sender: 1)
    let media = receiver.attach(sender: 1)
    receiver.send(100, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.advance(by: .milliseconds(500))
    receiver.take()
    receiver.handle(.trustChanged(Self.trust(2)))
    #expect(receiver.events.contains(.finished))
    #expect(
      receiver.farewell(control) == .goodbye(Goodbye(reason: .notPaired, detail: "")))
    #expect(receiver.closed == [control])
    #expect(receiver.advertised == [false])
    #expect(receiver.cuts.last?.from == .zero)
    let other = receiver.hello(sender: 2, session: 6)
    #expect(receiver.welcome(other) != nil)
  }

  @Test func `a sender that stays paired notices nothing of a change`() {
    var receiver = TestReceiver(access: .paired, trust: Self.trust(1, 2))
    let control = receiver.hello(sender: 1)
    receiver.handle(.trustChanged(Self.trust(1)))
    #expect(receiver.farewell(control) == nil)
  }

  @Test func `answers about the time count only with the key of the session`() {
    var receiver = TestReceiver()
    receiver.answersTime = false
    _ = receiver.hello(sender: 1)
    let forged = TimeAnswer(
      clockID: 77, sequence: 1, requestSentAt: receiver.now, receivedAt: receiver.groupTime(),
      sentAt: receiver.groupTime(), previous: nil)
    for key: UInt8 in [2, 3] {
      let bytes = TimePacket.answer(forged).encoded(key: ClockKey(SecuredPeer.test(key).clockKey))
      receiver.handle(.datagram(bytes, receivedAt: receiver.now))
    }
    #expect(receiver.session.diary.ignored.forged == 2)
    let bytes = TimePacket.answer(forged).encoded(key: ClockKey(SecuredPeer.test(1).clockKey))
    receiver.handle(.datagram(bytes, receivedAt: receiver.now))
    #expect(receiver.session.diary.ignored.forged == 2)
  }
}
