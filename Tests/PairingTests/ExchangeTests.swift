import Pairing
import TestSupport
import Testing
import WireProtocol

/// Tests of the two machines against each other, with arithmetic that only has the shape of the
/// real one.
@Suite struct ExchangeTests {
  private static let arithmetic = FakeArithmetic()
  private static let salt = Array(repeating: UInt8(7), count: PairingMessage.saltByteCount)
  private static let context = Array("this connection".utf8)
  private let pin = PIN(random: 1)

  private func prover(_ pin: PIN, context: [UInt8] = context) -> PairingProver {
    PairingProver(pin: pin, context: context, arithmetic: Self.arithmetic)
  }

  private func verifier(context: [UInt8] = context) throws -> PairingVerifier {
    let record = try Self.arithmetic.verifierRecord(pin: pin.digits, salt: Self.salt)
    return PairingVerifier(record, context: context, arithmetic: Self.arithmetic)
  }

  private func message(_ step: PairingProver.Step) throws -> PairingMessage {
    guard case .send(let message) = step else { throw Missing(what: "\(step)") }
    return message
  }

  private struct Missing: Error { let what: String }

  @Test func `who knows the PIN is proved, and learns that the receiver knows it too`() throws {
    var prover = prover(pin)
    var verifier = try verifier()
    let share = try message(prover.received(verifier.salt))
    #expect(verifier.received(share) == .keepGuess)
    let answer = try #require(try verifier.guessKept())
    let confirm = try message(prover.received(answer))
    #expect(verifier.received(confirm) == .proved)
    #expect(prover.received(.paired(name: "Kitchen")) == .ended(.paired(name: "Kitchen")))
  }

  @Test func `the answer waits until the guess is kept, and is given once`() throws {
    var prover = prover(pin)
    var verifier = try verifier()
    let share = try message(prover.received(verifier.salt))
    #expect(try verifier.guessKept() == nil)
    #expect(verifier.received(share) == .keepGuess)
    #expect(try verifier.guessKept() != nil)
    #expect(try verifier.guessKept() == nil)
  }

  @Test func `who has another PIN sees it in the answer and says nothing more`() throws {
    var prover = prover(PIN(random: 2))
    var verifier = try verifier()
    _ = verifier.received(try message(prover.received(verifier.salt)))
    let answer = try #require(try verifier.guessKept())
    #expect(prover.received(answer) == .ended(.wrongPIN))
    #expect(verifier.received(.confirm(Array(repeating: 0, count: 32))) == .wrongPIN)
  }

  @Test func `a proof of another connection fits nothing`() throws {
    var prover = prover(pin, context: Array("another connection".utf8))
    var verifier = try verifier()
    _ = verifier.received(try message(prover.received(verifier.salt)))
    let answer = try #require(try verifier.guessKept())
    #expect(prover.received(answer) == .ended(.wrongPIN))
  }

  @Test func `a share that is no point is refused after the guess was counted`() throws {
    var verifier = try verifier()
    #expect(verifier.received(.share(Array(repeating: 0, count: 65))) == .keepGuess)
    #expect(throws: PairingError.badShare) { try verifier.guessKept() }
    #expect(verifier.received(.share(Array(repeating: 4, count: 65))) == .outOfTurn)
  }

  @Test func `what does not belong here ends the exchange on both sides`() throws {
    for message: PairingMessage in [
      .confirm(Array(repeating: 0, count: 32)), .request(name: "again"), .unpair, .unpaired,
      .paired(name: "x"),
    ] {
      var verifier = try verifier()
      #expect(verifier.received(message) == .outOfTurn)
      #expect(verifier.received(.share(Array(repeating: 4, count: 65))) == .outOfTurn)
    }
    for message: PairingMessage in [
      .paired(name: "too early"), .household(name: "too early", key: [1]), .unpaired,
      .request(name: "x"),
    ] {
      var prover = prover(pin)
      #expect(prover.received(message) == .ended(.outOfTurn))
      #expect(prover.received(.salt(Self.salt)) == .ended(.outOfTurn))
    }
  }

  @Test func `a refusal ends the exchange at any time`() throws {
    let wait = PairingRefusal(reason: .wait, wait: 30_000)
    var prover = prover(pin)
    #expect(prover.received(.refused(wait)) == .ended(.refused(wait)))
    prover = self.prover(pin)
    _ = prover.received(.salt(Self.salt))
    #expect(prover.received(.refused(PairingRefusal(reason: .wrongPIN))) == .ended(.wrongPIN))
  }

  @Test func `proofs are about both ends and their connection`() throws {
    let one = try #require(Identifier(Array(repeating: 1, count: 16)))
    let two = try #require(Identifier(Array(repeating: 2, count: 16)))
    let binding = Array(repeating: UInt8(3), count: 32)
    #expect(
      Transcript.pairing(prover: one, verifier: two, binding: binding)
        == Array("tutti pairing 1".utf8) + one.bytes + two.bytes + binding)
    #expect(Transcript.local(binding: binding) == Array("tutti local 1".utf8) + binding)
  }

  @Test func `bytes are compared as a whole`() {
    let bytes: [UInt8] = [1, 2, 3]
    #expect(bytes.isEqualInConstantTime(to: [1, 2, 3]))
    for other: [UInt8] in [[], [1, 2], [1, 2, 4], [0, 2, 3], [1, 2, 3, 0]] {
      #expect(!bytes.isEqualInConstantTime(to: other))
    }
  }
}
