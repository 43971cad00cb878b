import OpenSSLSecurity
import Pairing
import Testing
import WireProtocol

/// Tests of the pairing machines with the arithmetic of the programs.
struct PairingExchangeTests {
  private static let pin = PIN(random: 1)
  private static let context = Array("this connection".utf8)

  /// Returns the conclusions of both ends, if the prover uses this PIN and this connection.
  private func exchange(
    _ pin: PIN, _ context: [UInt8] = context
  ) throws -> (prover: PairingProver.Step, verifier: PairingVerifier.Step?) {
    let arithmetic = SPAKE2()
    let record = try arithmetic.verifierRecord(
      pin: Self.pin.digits, salt: Array(repeating: 0x5a, count: 16))
    var verifier = PairingVerifier(record, context: Self.context, arithmetic: arithmetic)
    var prover = PairingProver(pin: pin, context: context, arithmetic: arithmetic)
    guard case .send(let share) = prover.received(verifier.salt) else { throw Failed() }
    #expect(verifier.received(share) == .keepGuess)
    let last = prover.received(try #require(try verifier.guessKept()))
    guard case .send(let confirm) = last else { return (last, nil) }
    return (last, verifier.received(confirm))
  }

  private struct Failed: Error {}

  @Test func `two ends that know one PIN prove it to each other`() throws {
    #expect(try exchange(Self.pin).verifier == .proved)
  }

  @Test func `another PIN, or another connection, proves nothing`() throws {
    #expect(try exchange(PIN(random: 2)).prover == .ended(.wrongPIN))
    #expect(try exchange(Self.pin, Array("another".utf8)).prover == .ended(.wrongPIN))
  }

  @Test func `shares that are no points end the exchange`() throws {
    let arithmetic = SPAKE2()
    let record = try arithmetic.verifierRecord(pin: Self.pin.digits, salt: Array(0..<16))
    let state = try arithmetic.proverShare(pin: Self.pin.digits, salt: Array(0..<16))
    for share in [[], [4] + [UInt8](repeating: 9, count: 64)] {
      #expect(throws: PairingError.badShare) {
        try arithmetic.verifierAnswer(record, shareP: share, context: [])
      }
      #expect(throws: PairingError.badShare) {
        try arithmetic.proverConfirm(state, shareV: share, context: [])
      }
    }
  }
}
