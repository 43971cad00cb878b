import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Tests of a receiver that says its PIN aloud.
@Suite struct SayPINTests {
  private static func trust() throws -> TrustMemory {
    TrustMemory(
      verifier: try FakeArithmetic().verifierRecord(
        pin: PIN(random: 1).digits, salt: Array(repeating: 7, count: 16)))
  }

  /// Asks to hear the PIN, by a new sender, and returns the answer.
  private static func ask(_ receiver: inout TestReceiver, sender: UInt8 = 7) -> PairingMessage? {
    let id = receiver.accept(sender: sender)
    receiver.handle(.received(id, PairingMessage.sayPIN.encoded()))
    let answer = receiver.takePairing(id).last
    #expect(receiver.closed.contains(id))
    return answer
  }

  private static func refusal(_ answer: PairingMessage?) -> PairingRefusal? {
    if case .refused(let refusal)? = answer { refusal } else { nil }
  }

  @Test func `a receiver that nobody is paired with says its PIN to whoever asks`() throws {
    var memory = ReceiverMemory()
    memory.settings.volume = 500
    var receiver = TestReceiver(memory: memory, access: .paired, trust: try Self.trust())
    #expect(Self.ask(&receiver) == .sayingPIN)
    #expect(receiver.speeches == [0.171875])
    #expect(receiver.events == [.saysPIN(peer: "study")])
    // Nothing else is granted by that.
    let control = receiver.hello(sender: 7)
    #expect(receiver.welcome(control) == nil)
  }

  @Test func `in a muted room too, and never inaudibly`() throws {
    var memory = ReceiverMemory()
    (memory.settings.volume, memory.settings.isMuted) = (0, true)
    var receiver = TestReceiver(memory: memory, access: .paired, trust: try Self.trust())
    #expect(Self.ask(&receiver) == .sayingPIN)
    #expect(receiver.speeches.count == 1)
    #expect(receiver.speeches.allSatisfy { $0 > 0.02 })
  }

  @Test func `three times in an hour, over all who ask`() throws {
    var receiver = TestReceiver(access: .paired, trust: try Self.trust())
    for sender: UInt8 in 1...3 {
      #expect(Self.ask(&receiver, sender: sender) == .sayingPIN)
      let early = Self.refusal(Self.ask(&receiver, sender: sender + 10))
      #expect(early?.reason == .wait)
      receiver.advance(by: .seconds(30))
    }
    let refusal = Self.refusal(Self.ask(&receiver, sender: 4))
    #expect(refusal?.reason == .wait)
    #expect((3_500_000...3_520_000).contains(refusal?.wait ?? 0))
    #expect(receiver.speeches.count == 3)
    receiver.advance(by: .seconds(3510))
    #expect(Self.ask(&receiver, sender: 4) == .sayingPIN)
  }

  @Test func `not once somebody is paired, nor without a PIN, nor without a voice`() throws {
    var trust = try Self.trust()
    trust.pairings.add(.init(id: .counting(from: 1), name: "study"))
    var paired = TestReceiver(access: .paired, trust: trust)
    var mute = TestReceiver(access: .paired, trust: try Self.trust(), canSpeak: false)
    var fresh = TestReceiver(access: .paired)
    #expect(Self.refusal(Self.ask(&paired))?.reason == .notPossible)
    #expect(Self.refusal(Self.ask(&mute))?.reason == .notPossible)
    #expect(Self.refusal(Self.ask(&fresh))?.reason == .notPossible)
    #expect((paired.speeches + mute.speeches + fresh.speeches).isEmpty)
  }

  @Test func `nothing that plays is disturbed`() throws {
    var receiver = TestReceiver(access: .open, trust: try Self.trust())
    let control = receiver.hello(sender: 1)
    #expect(Self.refusal(Self.ask(&receiver))?.reason == .notPossible)
    #expect(receiver.speeches.isEmpty)
    receiver.handle(.closed(control))
    receiver.advance(by: .seconds(60))
    #expect(Self.ask(&receiver) == .sayingPIN)
  }
}
