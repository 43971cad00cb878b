package import WireProtocol

/// The receiver's side of one exchange. Send `salt`, then give it each message that arrives.
///
/// A prover learns from the answer whether its PIN is right. So each share counts as a guess, and the guess is on disk
/// before the answer leaves: neither hanging up nor a power cut gives one back.
package struct PairingVerifier: Sendable {
  package enum Step: Hashable, Sendable {
    /// Count a guess, keep it for good, and then call `guessKept`.
    case keepGuess
    /// The prover knows the PIN.
    case proved
    case wrongPIN
    /// The sender said what does not belong here.
    case outOfTurn
  }

  private enum State {
    case awaitsShare
    case awaitsDisk(shareP: [UInt8])
    case awaitsConfirm(expected: [UInt8])
    case ended
  }

  private let record: PairingVerifierRecord
  private let context: [UInt8]
  private let arithmetic: any PairingArithmetic
  private var state = State.awaitsShare

  /// `context` is `Transcript.pairing` of both ends and their connection.
  package init(
    _ record: PairingVerifierRecord, context: [UInt8], arithmetic: any PairingArithmetic
  ) {
    self.record = record
    self.context = context
    self.arithmetic = arithmetic
  }

  package var salt: PairingMessage { .salt(record.salt) }

  package mutating func received(_ message: PairingMessage) -> Step {
    switch (state, message) {
    case (.awaitsShare, .share(let share)):
      state = .awaitsDisk(shareP: share)
      return .keepGuess
    case (.awaitsConfirm(let expected), .confirm(let confirm)):
      state = .ended
      return expected.isEqualInConstantTime(to: confirm) ? .proved : .wrongPIN
    default:
      state = .ended
      return .outOfTurn
    }
  }

  /// What to say now that the guess cannot be lost any more; nil where no guess awaits that.
  ///
  /// - Throws: where the prover's share cannot be used. Then the exchange is over.
  package mutating func guessKept() throws(PairingError) -> PairingMessage? {
    guard case .awaitsDisk(let shareP) = state else { return nil }
    state = .ended
    let answer = try arithmetic.verifierAnswer(record, shareP: shareP, context: context)
    state = .awaitsConfirm(expected: answer.expectedConfirmP)
    return .answer(share: answer.shareV, confirm: answer.confirmV)
  }
}
